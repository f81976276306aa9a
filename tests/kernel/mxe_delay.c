// SPDX-License-Identifier: GPL-2.0
/*
 * Widens the window of a race for a test: whenever the function func returns
 * into one of the functions from, the CPU waits there for us microseconds.
 *
 *	insmod mxe_delay.ko func=xa_load from=mxe_xrc_find,mxe_xrc_select
 *	us=300000
 *
 * from lists several functions because the compiler may inline one of them into
 * the next. func must not be inlined. begun and ended, in
 * /sys/module/mxe_delay/parameters, count the delays. us may be changed there.
 * If it is 0, the default, nothing is delayed or counted.
 */
#include <linux/atomic.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/processor.h>

#define MXE_DELAY_MAX_FROM	4

static char *func;
module_param(func, charp, 0444);
MODULE_PARM_DESC(func, "the function whose return is delayed");

static char *from[MXE_DELAY_MAX_FROM];
static int num_from;
module_param_array(from, charp, &num_from, 0444);
MODULE_PARM_DESC(from, "the functions into which it returns");

static unsigned int us;
module_param(us, uint, 0644);
MODULE_PARM_DESC(us, "the delay in microseconds (default 0: none)");

static atomic_t begun, ended;

static int mxe_delay_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops mxe_delay_count_ops = {
	.get = mxe_delay_get,
};

module_param_cb(begun, &mxe_delay_count_ops, &begun, 0444);
MODULE_PARM_DESC(begun, "delays that have begun");
module_param_cb(ended, &mxe_delay_count_ops, &ended, 0444);
MODULE_PARM_DESC(ended, "delays that have ended");

/* Address ranges of the functions in from. */
static struct mxe_delay_range {
	unsigned long start, size;
} ranges[MXE_DELAY_MAX_FROM];

static bool mxe_delay_is_from(unsigned long addr)
{
	int i;

	for (i = 0; i < num_from; i++)
		if (addr - ranges[i].start < ranges[i].size)
			return true;
	return false;
}

/*
 * Runs in the context of func, with preemption disabled. The check is short,
 * because func may have many other callers.
 */
static int mxe_delay_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	u64 delay = READ_ONCE(us) * (u64)NSEC_PER_USEC;
	u64 start;

	if (!delay || !mxe_delay_is_from(get_kretprobe_retaddr(ri)))
		return 0;
	atomic_inc(&begun);
	start = ktime_get_mono_fast_ns();
	while (ktime_get_mono_fast_ns() - start < delay)
		cpu_relax();
	atomic_inc(&ended);
	return 0;
}

static struct kretprobe mxe_delay_probe = {
	.handler = mxe_delay_return,
	.maxactive = 64,
};

/* Kprobes know the address of a symbol, sprint_symbol() knows its size. */
static int mxe_delay_find(const char *name, struct mxe_delay_range *range)
{
	struct kprobe probe = { .symbol_name = name };
	char text[KSYM_SYMBOL_LEN];
	unsigned long offset;
	char *plus;
	int err;

	err = register_kprobe(&probe);
	if (err)
		return err;
	sprint_symbol(text, (unsigned long)probe.addr);
	unregister_kprobe(&probe);

	plus = strrchr(text, '+');
	if (!plus || sscanf(plus, "+%lx/%lx", &offset, &range->size) != 2)
		return -ENOENT;
	/* The probe may be after the function's first instruction. */
	range->start = (unsigned long)probe.addr - offset;
	return 0;
}

static int __init mxe_delay_init(void)
{
	int i, err;

	if (!func || !num_from) {
		pr_err("mxe_delay: func and from must be given\n");
		return -EINVAL;
	}
	for (i = 0; i < num_from; i++) {
		err = mxe_delay_find(from[i], &ranges[i]);
		if (err) {
			pr_err("mxe_delay: no function %s to probe: error %d\n",
			       from[i], err);
			return err;
		}
	}
	mxe_delay_probe.kp.symbol_name = func;
	err = register_kretprobe(&mxe_delay_probe);
	if (err)
		pr_err("mxe_delay: no function %s to probe: error %d\n", func,
		       err);
	return err;
}

static void __exit mxe_delay_exit(void)
{
	unregister_kretprobe(&mxe_delay_probe);
}

module_init(mxe_delay_init);
module_exit(mxe_delay_exit);

MODULE_AUTHOR("The mxe developers");
MODULE_DESCRIPTION("Delays the return of a function into another");
MODULE_LICENSE("GPL");
