// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of mxe-caps with fakes of libibverbs, libmxe, libibverbs_exp, libmlx5
 * and the self-test, and with a directory in place of /sys.
 */
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/mxedv.h>
#include <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>

#include "caps.h"
#include "case.h"
#include "main.h"
#include "report.h"
#include "selftest.h"
#include "tap.h"

#define MASKED IBV_EXP_DEVICE_EXT_MASKED_ATOMICS

/* ---- the libraries ----------------------------------------------------- */

struct fake {
	struct verbs_context vctx;
	struct ibv_device device;
	bool is_mxe, is_mlx5;
	int open_errno, query_errno, exp_errno;
	enum ibv_atomic_cap atomic_cap;
	struct ibv_pci_atomic_caps pci;
	uint64_t exp_flags;
};

static struct fake fakes[4];
static int num_fakes, open_contexts;
static bool has_libmlx5;

static struct fake *of_device(struct ibv_device *device)
{
	return (struct fake *)((char *)device - offsetof(struct fake, device));
}

static struct fake *of_context(struct ibv_context *context)
{
	return of_device(context->device);
}

struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(num_fakes + 1, sizeof(*list));

	for (int i = 0; i < num_fakes; i++)
		list[i] = &fakes[i].device;
	if (num)
		*num = num_fakes;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	struct fake *f = of_context(context);

	(void)input;
	if (f->query_errno)
		return f->query_errno;
	memset(attr, 0, size);
	attr->orig_attr.atomic_cap = f->atomic_cap;
	attr->pci_atomic_caps = f->pci;
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake *f = of_device(device);

	if (f->open_errno) {
		errno = f->open_errno;
		return NULL;
	}
	open_contexts++;
	f->vctx.context.device = device;
	f->vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	f->vctx.sz = sizeof(f->vctx);
	f->vctx.query_device_ex = query_device_ex;
	return &f->vctx.context;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	open_contexts--;
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	(void)attr;
	bail_out("ibv_query_device() is called");
}

bool mxedv_is_supported(struct ibv_device *device)
{
	return of_device(device)->is_mxe;
}

int mxedv_query_device(struct ibv_context *context,
		       struct mxedv_device_attr *attr, uint32_t inlen)
{
	(void)context;
	memset(attr, 0, inlen);
	attr->atomic_cap = IBV_ATOMIC_GLOB;
	attr->masked_ops = MXEDV_MASKED_ATOMIC_CMP_SWP |
			   MXEDV_MASKED_ATOMIC_FETCH_ADD;
	attr->log_arg_sizes = 1 << 2 | 1 << 3;
	attr->max_fa_bit_boundary = 64;
	attr->reply_modes = MXEDV_ATOMIC_REPLY_HOST | MXEDV_ATOMIC_REPLY_BE;
	return 0;
}

int ibv_exp_query_device(struct ibv_context *context,
			 struct ibv_exp_device_attr *attr)
{
	struct fake *f = of_context(context);

	if (f->exp_errno)
		return f->exp_errno;
	attr->exp_atomic_cap = (enum ibv_exp_atomic_cap)f->atomic_cap;
	attr->exp_device_cap_flags = f->exp_flags;
	if (!(f->exp_flags & MASKED)) {
		attr->comp_mask &= ~IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS;
		return 0;
	}
	attr->masked_atomic.masked_log_atomic_arg_sizes = 1 << 3;
	attr->masked_atomic.masked_log_atomic_arg_sizes_network_endianness = 0;
	attr->masked_atomic.max_fa_bit_boundary = 64;
	return 0;
}

static bool fake_mlx5dv_is_supported(struct ibv_device *device)
{
	return of_device(device)->is_mlx5;
}

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
	if (strcmp(name, "libmlx5.so.1"))
		return __real_dlopen(name, flags);
	return has_libmlx5 ? &has_libmlx5 : NULL;
}

void *__real_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name)
{
	if (lib != &has_libmlx5)
		return __real_dlsym(lib, name);
	return strcmp(name, "mlx5dv_is_supported") ? NULL :
	       (void *)fake_mlx5dv_is_supported;
}

int __real_dlclose(void *lib);
int __wrap_dlclose(void *lib);
int __wrap_dlclose(void *lib)
{
	return lib == &has_libmlx5 ? 0 : __real_dlclose(lib);
}

static struct fake *add_fake(const char *name, enum ibv_atomic_cap atomic_cap)
{
	struct fake *f = &fakes[num_fakes++];

	strcpy(f->device.name, name);
	f->atomic_cap = atomic_cap;
	return f;
}

static void add_mxe(const char *name)
{
	struct fake *f = add_fake(name, IBV_ATOMIC_GLOB);

	f->is_mxe = true;
	f->exp_flags = MASKED;
}

/* ---- the self-test ------------------------------------------------------ */

static struct st_options st_options;	/* of the last st_run() */
static size_t st_passed, st_failed;
static bool st_runs;

bool st_run(const struct caps_device *dev, const struct st_options *options,
	    struct st_report *report, char *error)
{
	st_options = *options;
	*report = (struct st_report){
		.num_of = {
			[ST_PASS] = st_passed,
			[ST_FAIL] = st_failed,
		},
	};
	if (!st_runs)
		snprintf(error, ST_TEXT, "%s is out of order", dev->name);
	return st_runs;
}

void st_free(struct st_report *report)
{
	memset(report, 0, sizeof(*report));
}

void st_print(const struct caps *caps, const struct st_report *report, FILE *out)
{
	fprintf(out, "%s: %zu passed\n", caps->devices[0].name,
		report->num_of[ST_PASS]);
}

void st_print_json(const struct st_report *report, FILE *out)
{
	fprintf(out, "\"selftest\": %zu", report->num_of[ST_PASS]);
}

/* ---- sysfs ------------------------------------------------------------- */

static char sysfs[32];

static void put_value(const char *dev, const char *file, const char *value)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/class/infiniband_exp/%s/%s", sysfs,
		 dev, file);
	f = fopen(path, "w");
	if (!f)
		bail_out("%s: %s", path, strerror(errno));
	fprintf(f, "%s\n", value);
	fclose(f);
}

static void make_dir(const char *class, const char *dev)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/class", sysfs);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/class/%s", sysfs, class);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/class/%s/%s", sysfs, class, dev);
	mkdir(path, 0755);
}

static void add_kernel(const char *dev, const char *mode, const char *reason)
{
	make_dir("infiniband_exp", dev);
	put_value(dev, "masked_cmp_swap", mode);
	put_value(dev, "masked_fetch_add", mode);
	put_value(dev, "atomic_cap", "hca");
	put_value(dev, "masked_atomic_cap_reported", "none");
	put_value(dev, "log_arg_sizes", "0x8");
	put_value(dev, "reply_endianness", "host");
	put_value(dev, "max_retries", "64");
	put_value(dev, "reason", reason);
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	(void)st;
	(void)flag;
	return ftw->level ? remove(path) : 0;
}

static void reset(void)
{
	memset(fakes, 0, sizeof(fakes));
	num_fakes = 0;
	has_libmlx5 = false;
	nftw(sysfs, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- running it -------------------------------------------------------- */

static char *out_text, *err_text;

static int run(const char *args)
{
	char words[256], *argv[16], *save = NULL;
	size_t out_len, err_len;
	FILE *out, *err;
	int argc = 0, status;

	free(out_text);
	free(err_text);
	out = open_memstream(&out_text, &out_len);
	err = open_memstream(&err_text, &err_len);
	snprintf(words, sizeof(words), "mxe-caps %s", args);
	for (char *w = strtok_r(words, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	status = caps_main(argc, argv, out, err);
	fclose(out);
	fclose(err);
	return status;
}

/* Returns true if a line of the output begins with `start`. */
static bool has_line(const char *start)
{
	const char *at = strstr(out_text, start);

	if (at && (at == out_text || at[-1] == '\n'))
		return true;
	diag("no line \"%s\" in\n%s", start, out_text);
	return false;
}

/* ---- tests ------------------------------------------------------------- */

static void test_usage(void)
{
	reset();
	is_int(run("--help"), 0, "--help");
	ok(strstr(out_text, "Usage: mxe-caps"), "... prints to standard output");
	is_int(run("--version"), 0, "--version");
	is_str(out_text, "mxe-caps 9.9\n", "... prints it");
	is_int(run("--require lots"), 2, "--require with an unknown word");
	is_str(err_text, "mxe-caps: invalid argument of -r: 'lots'. See 'mxe-caps --help'.\n",
	       "... is the message");
	is_int(run("--for me"), 2, "--for with an unknown word");
	is_int(run("mxe0"), 2, "an argument without an option");
	is_str(err_text, "mxe-caps: unexpected argument 'mxe0'. See 'mxe-caps --help'.\n",
	       "... is the message");
}

static void test_no_device(void)
{
	reset();
	is_int(run(""), 3, "a host without devices");
	is_str(err_text, "mxe-caps: there is no RDMA device\n",
	       "... is the message");
	is_int(run("--require emulated"), 3, "... also with --require");
	is_int(run("-j"), 3, "... and with --json");
	is_str(out_text, "{\n  \"schema\": 1,\n  \"kernel_class\": false,\n"
	       "  \"devices\": []\n}\n", "... the output is valid JSON");
	add_mxe("mxe0");
	is_int(run("-d mxe1"), 3, "--device with an unknown name");
	is_str(err_text, "mxe-caps: there is no RDMA device mxe1\n",
	       "... is the message");
}

static void test_table(void)
{
	reset();
	add_fake("rxe0", IBV_ATOMIC_HCA)->pci.fetch_add =
		IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP;
	add_mxe("mxe0");
	add_kernel("mxe0", "native", "");
	add_kernel("rxe0", "emulated", "for a reason");
	make_dir("infiniband", "bare0");
	is_int(run(""), 0, "the table");
	ok(has_line("DEVICE     SOURCE    ATOMICS  MASKED CMP-SWAP"), "the header");
	ok(has_line("mxe0       verbs     glob     -                -                 8        -\n"
		    "           mxedv     glob     native           native            4,8      host be\n"
		    "           ibv_exp   glob     native           native            8        host\n"
		    "           kernel    hca      native           native            8        host\n"
		    "rxe0       verbs     hca      -                -                 8        -\n"
		    "                     PCI atomics, bytes: fetch-add 8, swap -, cmp-swap -\n"
		    "           provider  (no direct verbs for masked atomics)\n"
		    "           ibv_exp   hca      none             none              -        -\n"
		    "           kernel    hca      emulated         emulated          8        host\n"
		    "                     for a reason\n"),
	   "mxe0 and rxe0, sorted");
	ok(has_line("bare0      verbs     (not shown by libibverbs)\n"),
	   "a device that libibverbs does not show");
	is_int(run("-d rxe0"), 0, "--device");
	ok(!strstr(out_text, "mxe0") && !strstr(out_text, "bare0"),
	   "... lists no other device");
	is_int(open_contexts, 0, "every context is closed");
}

static void test_errors(void)
{
	struct fake *f;

	reset();
	add_fake("a", IBV_ATOMIC_HCA)->open_errno = EACCES;
	f = add_fake("b", IBV_ATOMIC_HCA);
	f->query_errno = EIO;
	f->exp_errno = ENOMEM;
	is_int(run(""), 0, "devices that cannot be opened or queried");
	ok(has_line("a          verbs     (cannot be opened: Permission denied)"),
	   "the open fails");
	ok(has_line("b          verbs     (ibv_query_device_ex: Input/output error)"),
	   "the standard query fails");
	ok(has_line("           ibv_exp   (ibv_exp_query_device: Cannot allocate memory)"),
	   "the experimental query fails");
	ok(has_line("           kernel    (the module ib_exp is not loaded)"),
	   "the class does not exist");
	add_kernel("c", "later", "");
	is_int(run("-d c -f kernel -r emulated"), 4,
	       "an unknown mode in the class");
	is_int(run("-d a"), 0, "a device that the class does not have");
	ok(has_line("           kernel    (not a device of ib_exp)"),
	   "... is the reason");
}

static void test_mlx5(void)
{
	reset();
	add_fake("mlx5_0", IBV_ATOMIC_HCA)->is_mlx5 = true;
	run("");
	ok(has_line("           provider  (no direct"), "without libmlx5");
	has_libmlx5 = true;
	run("");
	ok(has_line("           mlx5dv    (mlx5dv does not report"), "with libmlx5");
}

struct requirement {
	const char *user;		/* NULL: cannot be queried */
	const char *kernel;
	const char *args;
	int status;
};

static const struct requirement requirements[] = {
	{ "native", "native", "-r native", 0 },
	{ "native", "native", "-r emulated", 0 },
	{ "native", "emulated", "-r native", 1 },
	{ "native", "emulated", "-r native -f user", 0 },
	{ "native", "emulated", "-r native -f kernel", 1 },
	{ "native", "emulated", "-r emulated -f both", 0 },
	{ "emulated", "native", "-r native", 1 },
	{ "emulated", "emulated", "-r emulated", 0 },
	{ "none", "native", "-r emulated", 1 },
	{ "none", "native", "-r native -f kernel", 0 },
	{ "native", "none", "-r emulated -f kernel", 1 },
	{ "native", NULL, "-r native", 4 },
	{ "native", NULL, "-r native -f user", 0 },
	{ "none", NULL, "-r native", 1 },
	{ NULL, "native", "-r native", 4 },
	{ NULL, "native", "-r native -f kernel", 0 },
	{ NULL, "none", "-r native", 1 },
	{ NULL, NULL, "", 0 },
};

static void test_require(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(requirements); i++) {
		const struct requirement *r = &requirements[i];

		reset();
		if (r->user && !strcmp(r->user, "native"))
			add_mxe("x0");
		else if (r->user && !strcmp(r->user, "emulated"))
			add_fake("x0", IBV_ATOMIC_HCA)->exp_flags =
				MASKED | IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED;
		else if (r->user)
			add_fake("x0", IBV_ATOMIC_NONE);
		else
			add_fake("x0", IBV_ATOMIC_HCA)->open_errno = EACCES;
		if (r->kernel)
			add_kernel("x0", r->kernel, "");
		is_int(run(r->args), r->status, "user %s, kernel %s: %s",
		       r->user ?: "unknown", r->kernel ?: "unknown", r->args);
		is_int(*err_text != '\0', r->status != 0,
		       "... prints a message if it is not met");
	}

	reset();
	add_fake("a", IBV_ATOMIC_NONE);
	add_kernel("a", "none", "");
	add_mxe("b");
	add_kernel("b", "native", "");
	is_int(run("-r native"), 0, "one of two devices meets the requirement");
	is_int(run("-r native -d a"), 1, "... the other one does not");
	is_str(err_text,
	       "mxe-caps: no device offers native masked atomics to user space and the kernel\n",
	       "... is the message");
	put_value("b", "masked_fetch_add", "none");
	is_int(run("-r native"), 1, "both operations are required");
}

static void test_json(void)
{
	reset();
	make_dir("infiniband", "we\"ird\\\x01\xe9");
	is_int(run("--json"), 0, "JSON with special characters");
	ok(strstr(out_text, "\"name\": \"we\\\"ird\\\\\\u0001\\u00e9\",\n"),
	   "... escapes them");

	reset();
	add_mxe("mxe0");
	add_kernel("mxe0", "native", "as \"announced\"");
	is_int(run("--json"), 0, "JSON");
	is_str(out_text,
"{\n"
"  \"schema\": 1,\n"
"  \"kernel_class\": true,\n"
"  \"devices\": [\n"
"    {\n"
"      \"name\": \"mxe0\",\n"
"      \"provider_name\": \"mxe\",\n"
"      \"user\": { \"masked_cmp_swap\": \"native\", \"masked_fetch_add\": \"native\" },\n"
"      \"verbs\": {\n"
"        \"error\": null,\n"
"        \"atomic_cap\": \"glob\",\n"
"        \"masked_cmp_swap\": null,\n"
"        \"masked_fetch_add\": null,\n"
"        \"arg_bytes\": [8],\n"
"        \"arg_bytes_be\": [],\n"
"        \"reply\": null,\n"
"        \"max_fa_bit_boundary\": null,\n"
"        \"pci_fetch_add_bytes\": [],\n"
"        \"pci_swap_bytes\": [],\n"
"        \"pci_compare_swap_bytes\": []\n"
"      },\n"
"      \"provider\": {\n"
"        \"error\": null,\n"
"        \"atomic_cap\": \"glob\",\n"
"        \"masked_cmp_swap\": \"native\",\n"
"        \"masked_fetch_add\": \"native\",\n"
"        \"arg_bytes\": [4, 8],\n"
"        \"arg_bytes_be\": [],\n"
"        \"reply\": \"host be\",\n"
"        \"max_fa_bit_boundary\": 64\n"
"      },\n"
"      \"ibv_exp\": {\n"
"        \"error\": null,\n"
"        \"atomic_cap\": \"glob\",\n"
"        \"masked_cmp_swap\": \"native\",\n"
"        \"masked_fetch_add\": \"native\",\n"
"        \"arg_bytes\": [8],\n"
"        \"arg_bytes_be\": [],\n"
"        \"reply\": \"host\",\n"
"        \"max_fa_bit_boundary\": 64\n"
"      },\n"
"      \"kernel\": {\n"
"        \"error\": null,\n"
"        \"atomic_cap\": \"hca\",\n"
"        \"masked_cmp_swap\": \"native\",\n"
"        \"masked_fetch_add\": \"native\",\n"
"        \"arg_bytes\": [8],\n"
"        \"arg_bytes_be\": [],\n"
"        \"reply\": \"host\",\n"
"        \"max_fa_bit_boundary\": null,\n"
"        \"masked_atomic_cap_reported\": \"none\",\n"
"        \"max_retries\": \"64\",\n"
"        \"reason\": \"as \\\"announced\\\"\"\n"
"      }\n"
"    }\n"
"  ]\n"
"}\n", "... with every key");
}

static void test_selftest(void)
{
	static const char *const wrong[] = {
		"--selftest", "-s mxe0 -d mxe0", "-s mxe0 -r native",
		"--port 1", "--gid-index 0", "--seed 1", "--count 1",
		"-s mxe0 --port 0", "-s mxe0 --port 256", "-s mxe0 --port 1x",
		"-s mxe0 --gid-index -1", "-s mxe0 --gid-index 256",
		"-s mxe0 --seed 4294967296", "-s mxe0 --count 1000001",
		"-s mxe0 --count many",
	};
	uint32_t seed;

	reset();
	add_mxe("mxe0");
	st_runs = true;
	st_passed = 5;
	st_failed = 0;
	is_int(run("--selftest mxe0"), 0, "a self-test that passes");
	is_str(out_text, "mxe0: 5 passed\n", "... is reported");
	is_int(st_options.port, 0, "... on any port");
	is_int(st_options.gid_index, -1, "... with any GID");
	is_int(st_options.count, 300, "... with 300 operand sets");
	ok(st_options.completion_ms && st_options.case_ms,
	   "... with time limits");
	seed = st_options.seed;
	run("--selftest mxe0");
	ok(st_options.seed != seed, "... and a new seed each time");
	is_int(run("-s mxe0 --port 2 --gid-index 3 --seed 0xffffffff --count 0"),
	       0, "all of its options");
	ok(st_options.port == 2 && st_options.gid_index == 3 &&
	   st_options.seed == 0xffffffff && st_options.count == 0,
	   "... are passed on");
	is_int(run("-s mxe0 --json"), 0, "the self-test in JSON");
	ok(strstr(out_text, "\n    }\n  ],\n  \"selftest\": 5\n}\n"),
	   "... after the devices");

	st_failed = 1;
	is_int(run("-s mxe0"), 1, "a self-test that fails");
	is_str(out_text, "mxe0: 5 passed\n", "... prints the report too");
	is_str(err_text, "", "... and no message");
	st_passed = 0;
	is_int(run("-s mxe0"), 1, "a self-test in which nothing passes");
	st_failed = 0;
	is_int(run("-s mxe0"), 4, "a self-test that has nothing to test");
	is_str(err_text, "mxe-caps: nothing was tested: mxe0 offers no atomics\n",
	       "... is the message");
	st_runs = false;
	is_int(run("-s mxe0"), 4, "a self-test that cannot run");
	is_str(err_text, "mxe-caps: mxe0 is out of order\n",
	       "... is the message");
	is_int(run("-s mxe1"), 3, "a device that does not exist");
	is_str(err_text, "mxe-caps: there is no RDMA device mxe1\n",
	       "... is the message");

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		is_int(run(wrong[i]), 2, "wrong usage: %s", wrong[i]);
		ok(*err_text || !strcmp(wrong[i], "--selftest"),
		   "... with a message");
	}
}

int main(void)
{
	plan(0);
	strcpy(sysfs, "/tmp/t_caps.XXXXXX");
	if (!mkdtemp(sysfs))
		bail_out("mkdtemp: %s", strerror(errno));
	setenv("SYSFS_PATH", sysfs, 1);
	test_usage();
	test_no_device();
	test_table();
	test_errors();
	test_mlx5();
	test_require();
	test_json();
	test_selftest();
	reset();
	rmdir(sysfs);
	free(out_text);
	free(err_text);
	return done_testing();
}
