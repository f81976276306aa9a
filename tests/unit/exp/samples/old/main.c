// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <infiniband/verbs.h>
#include "old.h"

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return event(0) + !make(0, 0, 0) + (int)send_to(0, 0);
	return messages;
}
