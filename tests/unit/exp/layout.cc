// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The checks of t_exp_layout.c in C++. Each enumerator must have the type of
 * its enumeration and be usable as a template argument, as a case label and as
 * the value of a variable. exp_header only compiles this file.
 */
#include <infiniband/verbs_exp.h>
#include <type_traits>

template<typename expression> struct plain {
	typedef typename std::remove_reference<expression>::type type;
};

#define SIZE(t, size) static_assert(sizeof(t) == (size), "size of " #t)
#define AT(t, member, offset) \
	static_assert(offsetof(t, member) == (offset), \
		      "offset of " #member " in " #t)
#define FIELD(t, member, offset, ...) \
	AT(t, member, offset); \
	static_assert(std::is_same< \
		plain<decltype((((t *)0)->member))>::type, \
		plain<decltype(*(kind<__VA_ARGS__>()))>::type>::value, \
		"type of " #member " in " #t)
template<typename t> t *kind();
#include "exp_offsets.h"

template<typename t, t value> struct argument {
	static const t is = value;
};

static int wrong;

#define PLAIN(name, want)						\
	static_assert((uint64_t)(name) == (want), #name);		\
	static void try_##name()					\
	{								\
		switch (wrong) {					\
		case name:						\
			break;						\
		}							\
	}
#define VALUE(tag, name, want)						\
	static_assert((uint64_t)(name) == (want), #name);		\
	static_assert(std::is_same<decltype(name), enum tag>::value, #name);	\
	static void try_##name()					\
	{								\
		enum tag variable = argument<enum tag, name>::is;		\
									\
		switch ((uint64_t)variable) {				\
		case name:						\
			break;						\
		default:						\
			wrong++;					\
		}							\
	}
#include "exp_values.h"
#undef VALUE
#undef PLAIN

static void (*const tries[])() = {
#define PLAIN(name, value) try_##name,
#define VALUE(tag, name, value) try_##name,
#include "exp_values.h"
};

/* -Wswitch would warn of enumerators that the enumeration lacks. */
static bool is_dc(const struct ibv_qp_init_attr *attr)
{
	switch (attr->qp_type) {
	case IBV_EXP_QPT_DC_INI:
		return true;
	default:
		return false;
	}
}

static bool is_dct(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EXP_EVENT_DCT_KEY_VIOLATION:
	case IBV_EXP_EVENT_DCT_ACCESS_ERR:
	case IBV_EXP_EVENT_DCT_REQ_ERR:
		return true;
	default:
		return false;
	}
}

int main()
{
	struct ibv_async_event event = { };
	struct ibv_qp_init_attr attr = { };

	attr.qp_type = IBV_EXP_QPT_DC_INI;
	for (auto attempt : tries)
		attempt();
	return wrong || !is_dc(&attr) || is_dct(&event);
}
