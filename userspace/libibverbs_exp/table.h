/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table holds what this library knows of objects of libibverbs, by their addresses.
 *
 * Objects may come and go without this library seeing it.  So entries are only
 * added, and one whose object is gone is used again for the next at that address:
 * there are never more than the process had addresses of such objects.
 *
 * Locking: exp_table_add() with the table's lock held, and after a look that the
 * address has no entry; exp_table_find() anywhere, it never waits.  What is in the
 * entries is up to the user.
 */
#ifndef EXP_TABLE_H
#define EXP_TABLE_H

#include <pthread.h>
#include <stdint.h>

#define EXP_TABLE_BITS 10
#define EXP_TABLE_SIZE (1 << EXP_TABLE_BITS)

/* The first member of the user's structure.  Does not change once it is added. */
struct exp_entry {
	struct exp_entry *next;
	const void *object;
};

struct exp_table {
	pthread_mutex_t lock;
	struct exp_entry *heads[EXP_TABLE_SIZE];
};

#define EXP_TABLE_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

static inline unsigned int exp_table_hash(const void *object)
{
	/* Allocations are 16 bytes apart at least; spread the rest. */
	uint64_t hash = ((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15ull;

	return (unsigned int)(hash >> (64 - EXP_TABLE_BITS));
}

/* The user's structure, or NULL. */
static inline void *exp_table_find(struct exp_table *table, const void *object)
{
	struct exp_entry *entry;

	entry = __atomic_load_n(&table->heads[exp_table_hash(object)],
				__ATOMIC_ACQUIRE);
	while (entry && entry->object != object)
		entry = entry->next;
	return entry;
}

static inline void exp_table_add(struct exp_table *table,
				 struct exp_entry *entry, const void *object)
{
	struct exp_entry **head = &table->heads[exp_table_hash(object)];

	entry->object = object;
	entry->next = *head;
	__atomic_store_n(head, entry, __ATOMIC_RELEASE);
}

#endif /* EXP_TABLE_H */
