/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A hash table of objects of libibverbs, by their addresses.
 *
 * Objects may be created and destroyed without this library being called.
 * Therefore entries are never removed, and the entry of a destroyed object is
 * reused for the next object at its address. The number of entries is limited
 * by the number of addresses that the process has used for objects.
 *
 * Locking: exp_table_add() needs the lock of the table. exp_table_find() needs
 * no lock and never waits. The user synchronises access to the contents of
 * entries.
 */
#ifndef EXP_TABLE_H
#define EXP_TABLE_H

#include <pthread.h>
#include <stdint.h>

#define EXP_TABLE_BITS 10
#define EXP_TABLE_SIZE (1 << EXP_TABLE_BITS)

/*
 * The first member of the structure of the user. Does not change once it is in
 * a table.
 */
struct exp_entry {
	struct exp_entry *next;
	const void *object;
};

struct exp_table {
	pthread_mutex_t lock;
	struct exp_entry *heads[EXP_TABLE_SIZE];
};

#define EXP_TABLE_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

/**
 * exp_table_hash() - Hash an address.
 * @object: the address
 *
 * Return: index in exp_table.heads.
 */
static inline unsigned int exp_table_hash(const void *object)
{
	/* The low 4 bits are equal, because malloc() aligns to 16 bytes. */
	uint64_t hash = ((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15ull;

	return (unsigned int)(hash >> (64 - EXP_TABLE_BITS));
}

/**
 * exp_table_find() - Find the entry of an object.
 * @table: the table
 * @object: address of the object
 *
 * Return: the structure of the user, or NULL.
 */
static inline void *exp_table_find(struct exp_table *table, const void *object)
{
	struct exp_entry *entry;

	entry = __atomic_load_n(&table->heads[exp_table_hash(object)],
				__ATOMIC_ACQUIRE);
	while (entry && entry->object != object)
		entry = entry->next;
	return entry;
}

/**
 * exp_table_add() - Add an entry.
 * @table: the table, whose lock is held
 * @entry: first member of the structure of the user
 * @object: address of the object, which has no entry yet
 */
static inline void exp_table_add(struct exp_table *table,
				 struct exp_entry *entry, const void *object)
{
	struct exp_entry **head = &table->heads[exp_table_hash(object)];

	entry->object = object;
	entry->next = *head;
	__atomic_store_n(head, entry, __ATOMIC_RELEASE);
}

#endif /* EXP_TABLE_H */
