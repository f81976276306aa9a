/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds the devices and their abilities. */
#ifndef ASK_H
#define ASK_H

#include "caps.h"

int caps_ask(struct caps *caps, const char *only);
void caps_free(struct caps *caps);
enum caps_mode caps_user_cmp_swap(const struct caps_device *dev);
enum caps_mode caps_user_fetch_add(const struct caps_device *dev);

#endif /* ASK_H */
