// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Matches messages to tags in this program, as message-passing libraries do on
 * devices without tag matching.
 */
#include <stddef.h>

#include "match.h"

static uint32_t bucket(const struct perf_match *m, uint64_t value)
{
	return (uint32_t)(value * 0x9e3779b97f4a7c15ull >> 32) &
	       (m->num_buckets - 1);
}

/**
 * perf_match_init() - Make an empty table of tags.
 * @m: result; must not be moved afterwards
 * @hash: use a hash table, for tags whose masks have all bits set
 */
void perf_match_init(struct perf_match *m, bool hash)
{
	m->num_buckets = hash ? PERF_MATCH_BUCKETS : 1;
	for (uint32_t i = 0; i < PERF_MATCH_BUCKETS; i++) {
		m->buckets[i].first = NULL;
		m->buckets[i].end = &m->buckets[i].first;
	}
}

/**
 * perf_match_add() - Add a tag behind all others.
 * @m: table
 * @tag: with tag and mask; in the table until perf_match_take() returns it
 */
void perf_match_add(struct perf_match *m, struct perf_tag *tag)
{
	uint32_t i = bucket(m, tag->tag);

	tag->next = NULL;
	*m->buckets[i].end = tag;
	m->buckets[i].end = &tag->next;
}

/**
 * perf_match_take() - Remove the tag that matches a message.
 * @m: table
 * @value: tag of the message
 *
 * Return: the first tag with @value & mask == tag, or NULL.
 */
struct perf_tag *perf_match_take(struct perf_match *m, uint64_t value)
{
	uint32_t i = bucket(m, value);
	struct perf_tag **link = &m->buckets[i].first, *tag;

	for (; (tag = *link); link = &tag->next) {
		if ((value & tag->mask) != tag->tag)
			continue;
		*link = tag->next;
		if (!tag->next)
			m->buckets[i].end = link;
		return tag;
	}
	return NULL;
}
