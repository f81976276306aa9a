// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Makes the module run its longest sections with BHs disabled, for
 * tools/lib/vm/bh-off, which measures them. By itself this program proves only
 * that each attack takes effect.
 *
 *	t_worst [NAME...]	all attacks, or only these
 *	t_worst --list		prints a line for each: name, tab, description
 */
#include <stdio.h>
#include <string.h>
#include "tap.h"
#include "worst.h"

static const struct worst *const lists[] = {
	worst_rings, worst_packets, worst_tags, worst_dc,
};

static const struct worst *next_attack(size_t *list, size_t *i)
{
	while (*list < ARRAY_SIZE(lists)) {
		const struct worst *w = &lists[*list][(*i)++];

		if (w->name)
			return w;
		(*list)++;
		*i = 0;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	bool show = argc == 2 && !strcmp(argv[1], "--list");
	const struct worst *w;
	size_t list = 0, i = 0;

	if (!show) {
		plan(0);
		worst_a = vt_open(vt_name_a());
		worst_b = vt_open(vt_name_b());
	}
	while ((w = next_attack(&list, &i))) {
		if (show)
			printf("%s\t%s\n", w->name, w->what);
		else if (vt_wanted(w->name, argv + 1))
			ok(w->run ? w->run() : w->run_with(w), "%s: %s", w->name,
			   w->what);
	}
	if (show)
		return 0;
	vt_close(worst_a);
	vt_close(worst_b);
	return done_testing();
}
