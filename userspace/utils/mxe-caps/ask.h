/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds the devices and their abilities. */
#ifndef ASK_H
#define ASK_H

#include "caps.h"

/**
 * caps_ask() - Find the devices and query all sources of each.
 * @caps: result; to be freed with caps_free() after success
 * @only: name of the only device to find; NULL finds all of them
 *
 * A source that fails is not an error of this function.
 *
 * Return: 0, or ENOMEM.
 */
int caps_ask(struct caps *caps, const char *only);

/**
 * caps_free() - Free the devices and the list of libibverbs.
 * @caps: of caps_ask()
 */
void caps_free(struct caps *caps);

/**
 * caps_user_cmp_swap() - Get how processes can compare and swap.
 * @dev: device of caps_ask()
 *
 * Return: the best mode that the libraries report.
 */
enum caps_mode caps_user_cmp_swap(const struct caps_device *dev);

/**
 * caps_user_fetch_add() - Get how processes can fetch and add.
 * @dev: device of caps_ask()
 *
 * Return: the best mode that the libraries report.
 */
enum caps_mode caps_user_fetch_add(const struct caps_device *dev);

#endif /* ASK_H */
