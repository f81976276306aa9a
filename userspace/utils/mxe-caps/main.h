/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The program, without main(). */
#ifndef MAIN_H
#define MAIN_H

#include <stdio.h>

int caps_main(int argc, char **argv, FILE *out, FILE *err);

#endif /* MAIN_H */
