/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The class infiniband_exp in sysfs. */
#ifndef CLASS_H
#define CLASS_H

#include <stdbool.h>

struct caps_source;

const char *caps_sysfs(void);
bool caps_class_exists(void);
void caps_ask_class(const char *name, bool has_class,
		    struct caps_source *kernel);

#endif /* CLASS_H */
