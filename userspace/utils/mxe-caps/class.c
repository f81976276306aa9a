// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads the files that the class infiniband_exp has in sysfs for a device, one
 * value in each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caps.h"
#include "class.h"
#include "print.h"

/**
 * caps_sysfs() - Get the path where sysfs is mounted.
 *
 * Return: as in libibverbs, $SYSFS_PATH, or "/sys" if that is not set or the
 * program is set-user-ID.
 */
const char *caps_sysfs(void)
{
	const char *path = getenv("SYSFS_PATH");

	return path && *path && geteuid() == getuid() ? path : "/sys";
}

/**
 * caps_class_exists() - Check if sysfs has the class infiniband_exp.
 *
 * Return: false while the module ib_exp is not loaded.
 */
bool caps_class_exists(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/class/infiniband_exp", caps_sysfs());
	return access(path, F_OK) == 0;
}

/*
 * Reads the first line of the file without the newline, truncated to `size`.
 * Returns 0, or a positive errno and an empty text.
 */
static int read_value(const char *dev, const char *file, char *text,
		      size_t size)
{
	char path[4096];
	int err = 0;
	FILE *f;

	*text = '\0';
	snprintf(path, sizeof(path), "%s/class/infiniband_exp/%s/%s",
		 caps_sysfs(), dev, file);
	f = fopen(path, "re");
	if (!f)
		return errno;
	if (!fgets(text, size, f)) {
		err = ferror(f) ? EIO : 0;
		*text = '\0';
	}
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return err;
}

/* Returns CAPS_UNKNOWN for a word of a later version. */
static enum caps_mode mode_of(const char *word)
{
	static const enum caps_mode modes[] = {
		CAPS_NONE, CAPS_EMULATED, CAPS_NATIVE,
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(word, caps_mode_name(modes[i])))
			return modes[i];
	return CAPS_UNKNOWN;
}

/**
 * caps_ask_class() - Read the files that the class has for a device.
 * @name: device
 * @has_class: result of caps_class_exists()
 * @kernel: result; `error` is set if the class does not have the device
 */
void caps_ask_class(const char *name, bool has_class,
		    struct caps_source *kernel)
{
	char word[64], *end;
	int err;

	if (!has_class) {
		snprintf(kernel->error, sizeof(kernel->error),
			 "the module ib_exp is not loaded");
		return;
	}
	err = read_value(name, "masked_cmp_swap", word, sizeof(word));
	if (err) {
		snprintf(kernel->error, sizeof(kernel->error),
			 err == ENOENT ? "not a device of ib_exp" : "%s",
			 strerror(err));
		return;
	}
	kernel->asked = true;
	kernel->cmp_swap = mode_of(word);
	read_value(name, "masked_fetch_add", word, sizeof(word));
	kernel->fetch_add = mode_of(word);

	read_value(name, "atomic_cap", kernel->atomic_cap,
		   sizeof(kernel->atomic_cap));
	read_value(name, "masked_atomic_cap_reported", kernel->reported,
		   sizeof(kernel->reported));
	read_value(name, "reply_endianness", kernel->reply,
		   sizeof(kernel->reply));
	read_value(name, "max_retries", kernel->max_retries,
		   sizeof(kernel->max_retries));
	read_value(name, "reason", kernel->reason, sizeof(kernel->reason));

	if (read_value(name, "log_arg_sizes", word, sizeof(word)) || !*word)
		return;
	kernel->sizes = strtoull(word, &end, 0);
	kernel->has_sizes = !*end;
}
