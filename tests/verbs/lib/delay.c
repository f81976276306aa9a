// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Makes mxe_delay.ko hold look-ups, and reads whether one is held. See delay.h.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#include "tap.h"
#include "delay.h"
#include "vt.h"

#define PARAMETERS "/sys/module/mxe_delay/parameters/"

static unsigned long get(const char *parameter)
{
	FILE *f = fopen(parameter, "r");
	unsigned long value;

	if (!f || fscanf(f, "%lu", &value) != 1)
		vt_bail("cannot read %s", parameter);
	fclose(f);
	return value;
}

static void set_us(unsigned long us)
{
	FILE *f = fopen(PARAMETERS "us", "w");

	if (!f || fprintf(f, "%lu", us) < 0 || fclose(f))
		vt_bail("cannot set the delay");
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		vt_bail("sched_setaffinity");
}

void delay_begin(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip_all("the look-up and the destroy need a CPU each");
	pin(1);
}

static void *send_packet(void *arg)
{
	const struct delay *d = arg;

	pin(0);
	d->send(d->arg);
	return NULL;
}

void delay_request(struct delay *d, unsigned long us)
{
	unsigned long begun = get(PARAMETERS "begun");
	uint64_t limit = vt_now_ms() + VT_MS;

	d->ended = get(PARAMETERS "ended");
	set_us(us);
	if (pthread_create(&d->thread, NULL, send_packet, d))
		vt_bail("pthread_create");
	while (get(PARAMETERS "begun") == begun && vt_now_ms() < limit)
		usleep(1000);
	if (get(PARAMETERS "begun") == begun)
		vt_bail("no look-up was held: is the name of a function wrong?");
}

bool delay_is_held(const struct delay *d)
{
	return get(PARAMETERS "ended") == d->ended;
}

void delay_end(struct delay *d)
{
	set_us(0);
	pthread_join(d->thread, NULL);
}
