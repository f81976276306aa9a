/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The program, without main(). */
#ifndef MAIN_H
#define MAIN_H

#include <stdio.h>

/**
 * caps_main() - Run the program.
 * @argc: number of arguments
 * @argv: arguments
 * @out: for results
 * @err: for messages
 *
 * Return: the exit status.
 */
int caps_main(int argc, char **argv, FILE *out, FILE *err);

#endif /* MAIN_H */
