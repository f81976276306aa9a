// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How the provider executes FI_DIFF. Runs with libfabric 1, too. */
#include "atomic_plan.h"
#include "tap.h"

/* One fetch-and-add: each element of the word is a field of its own. */
static void test_diff_plan(void)
{
	uint16_t src[4] = { 1, 0x8000, 0, 0xffff }, add[4], boundary[4];
	uint64_t one = 1, sum;
	float one_f = 1;
	struct mxefi_unit unit;

	is_u64(mxefi_unit_plan(&unit, 0x3f, FI_DIFF, FI_UINT16, 0x1000, 4, src,
			       NULL), 4, "FI_DIFF of four uint16_t is one unit");
	is_int(unit.kind, MXEFI_UNIT_FETCH_ADD, "... a fetch-and-add");
	memcpy(add, unit.swap, sizeof(add));
	memcpy(boundary, unit.swap_mask, sizeof(boundary));
	ok(add[0] == 0xffff && add[1] == 0x8000 && add[2] == 0 && add[3] == 1,
	   "... of the opposites");
	ok(boundary[0] == 0x8000 && boundary[1] == 0x8000 &&
	   boundary[2] == 0x8000 && boundary[3] == 0x8000, "... in four fields");
	mxefi_unit_plan(&unit, 0x3f, FI_DIFF, FI_INT64, 0x1000, 1, &one, NULL);
	memcpy(&sum, unit.swap, sizeof(sum));
	ok(unit.kind == MXEFI_UNIT_FETCH_ADD && sum == UINT64_MAX,
	   "FI_DIFF of int64_t is a fetch-and-add, too");
	mxefi_unit_plan(&unit, 0x3f, FI_DIFF, FI_FLOAT, 0x1000, 1, &one_f, NULL);
	is_int(unit.kind, MXEFI_UNIT_LOOP, "FI_DIFF of float is a loop");
}

int main(void)
{
	plan(0);
	test_diff_plan();
	return done_testing();
}
