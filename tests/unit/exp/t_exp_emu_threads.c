// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the thread that continues emulated masked atomics: with other
 * threads, in forked children, and while QPs are destroyed. The sanitizers of
 * the build find the races (exp_emu_tsan).
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu_cq.h"
#include "emu_req.h"

#define CHAIN 6
#define WAIT_MS 20000
#define CHURN_ROUNDS 150
#define FORKS 12

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER true
#else
#define HAS_SANITIZER false
#endif

/* The sanitizer does not support threads in a forked child by default. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

/* Waits until a word has a value. */
static bool wait_word(int word, uint64_t value)
{
	for (int ms = 0; ms < WAIT_MS; ms++) {
		if (mem_at(word) == value)
			return true;
		usleep(1000);
	}
	return false;
}

/* Posts CHAIN unsignaled requests. Each adds 1 to the word. */
static int post_chain(struct fake_qp *qp, int word)
{
	struct req r[CHAIN];

	for (int i = 0; i < CHAIN; i++) {
		add(&r[i], i, 0, word, 1, 1ull << 31);
		r[i].wr.next = i + 1 < CHAIN ? &r[i + 1].wr : NULL;
	}
	return post(qp, &r[0].wr);
}

/* Destroys a QP by the call that is interposed, or by that of libibverbs. */
static void destroy(struct fake_qp *qp, bool interposed)
{
	if (interposed)
		drop_qp(qp);
	else if (ibv_destroy_qp(&qp->qp))
		bail_out("ibv_destroy_qp");
}

static pthread_t spawn(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg))
		bail_out("pthread_create");
	return thread;
}

static void start(void)
{
	fake_reset();
	fake.active = true;
}

/* ---- signals ------------------------------------------------------------ */

#define MAX_TASKS 64

static int list_tasks(pid_t *tasks)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	if (!dir)
		bail_out("/proc/self/task: %s", strerror(errno));
	while ((entry = readdir(dir)) && n < MAX_TASKS)
		if (atoi(entry->d_name))
			tasks[n++] = atoi(entry->d_name);
	closedir(dir);
	return n;
}

static uint64_t blocked_signals(pid_t task)
{
	unsigned long long blocked = 0;
	char path[64], line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", task);
	status = fopen(path, "r");
	if (!status)
		bail_out("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
			break;
	fclose(status);
	return blocked;
}

static void *nothing(void *arg)
{
	return arg;
}

static void test_signals(void)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	static const int others[] = { SIGINT, SIGTERM, SIGALRM, SIGCHLD };
	pid_t before[MAX_TASKS], after[MAX_TASKS], thread = 0;
	int num_before, num_after, i, j, ms;
	uint64_t wrong = 0, blocked;
	struct fake_cq *cq;
	struct fake_qp *qp;

	start();
	/* The sanitizer starts a thread of its own with the first one. */
	pthread_join(spawn(nothing, NULL), NULL);
	num_before = list_tasks(before);
	cq = new_cq();
	qp = new_qp(cq, 0);
	num_after = list_tasks(after);
	for (i = 0; i < num_after; i++) {
		for (j = 0; j < num_before && before[j] != after[i]; j++)
			;
		if (j == num_before)
			thread = after[i];
	}
	is_int(num_after, num_before + 1, "the first emulated QP starts a thread");
	/* A new thread blocks all signals until it gets its mask. */
	for (ms = 0; ms < WAIT_MS && (!ms || wrong); ms++) {
		usleep(1000);
		wrong = 0;
		blocked = blocked_signals(thread);
		for (i = 0; i < (int)ARRAY_SIZE(own); i++)
			wrong |= blocked & (1ull << (own[i] - 1));
		for (i = 0; i < (int)ARRAY_SIZE(others); i++)
			wrong |= ~blocked & (1ull << (others[i] - 1));
	}
	is_u64(wrong, 0, "... which blocks all signals except its own faults");
	drop_qp(qp);
	drop_cq(cq);
}

/* ---- progress ----------------------------------------------------------- */

static void test_progress(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[2];

	start();
	cq = new_cq();
	qp = new_qp(cq, 0);
	is_int(post_chain(qp, 0), 0, "a chain");
	ok(wait_word(0, CHAIN), "... is executed though the program does not poll");
	usleep(100000);
	is_int(post_chain(qp, 0), 0, "another one, when the thread sleeps");
	ok(wait_word(0, 2 * CHAIN), "... is executed, too");
	is_int(ibv_poll_cq(&cq->cq, 2, wc), 0, "... without completions");
	drop_qp(qp);
	drop_cq(cq);
}

/* ---- destruction -------------------------------------------------------- */

static bool stop;	/* atomic */

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_ACQUIRE);
}

/* Creates QPs and CQs, and destroys them with requests in flight. */
static void *churn(void *arg)
{
	int word = *(int *)arg;
	uint64_t seed = word + 1;
	int i;

	for (i = 0; i < CHURN_ROUNDS && !stopped(); i++) {
		struct fake_cq *cq = new_cq();
		struct fake_qp *qp = new_qp(cq, 0);

		if (post_chain(qp, word))
			bail_out("ibv_exp_post_send");
		usleep(random_next(&seed) % 3000);
		destroy(qp, i % 2);
		if (i % 4 < 2)
			drop_cq(cq);
		else if (ibv_destroy_cq(&cq->cq))
			bail_out("ibv_destroy_cq");
	}
	return NULL;
}

static void *poll_until_stopped(void *arg)
{
	struct fake_cq *cq = arg;
	struct ibv_wc wc[4];
	uintptr_t n = 0;
	int got;

	while (!stopped()) {
		got = ibv_poll_cq(&cq->cq, 4, wc);
		if (got < 0)
			bail_out("ibv_poll_cq: %d", got);
		n += got;
	}
	return (void *)n;
}

static void test_churn(void)
{
	int words[] = { 0, 1 };
	pthread_t threads[2];

	start();
	stop = false;
	for (int i = 0; i < 2; i++)
		threads[i] = spawn(churn, &words[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	is_int(fake.mrs, 0, "QPs are destroyed in flight, beside the thread");
	ok(!emu_cq_any_busy(), "... and nothing is left to do");
}

/* Another thread polls the CQ of the QPs that are destroyed. */
static void test_poller(void)
{
	struct fake_cq *cq;
	pthread_t poller;
	uint64_t seed = 3;
	void *got;

	start();
	stop = false;
	cq = new_cq();
	/* The first emulated QP of a context replaces its operations. */
	drop_qp(new_qp(cq, 0));
	poller = spawn(poll_until_stopped, cq);
	for (int i = 0; i < CHURN_ROUNDS; i++) {
		struct fake_qp *qp = new_qp(cq, 0);

		if (post_chain(qp, 0))
			bail_out("ibv_exp_post_send");
		usleep(random_next(&seed) % 100);
		destroy(qp, i % 2);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(poller, &got);
	ok(!got, "QPs are destroyed in flight, beside a poller");
	is_int(fake.mrs, 0, "... nothing stays registered");
	drop_cq(cq);
}

/* ---- fork() ------------------------------------------------------------- */

/*
 * A child that has objects of its own, and does not poll. It must not poll the
 * CQ of a QP of its parent either.
 */
static int child(const struct fake_cq *busy)
{
	int left = busy->num - busy->taken;
	struct fake_cq *cq;
	struct fake_qp *qp;

	/* The end if a mutex is locked forever. */
	alarm(WAIT_MS / 1000);
	fake.active = true;
	cq = new_cq();
	qp = new_qp(cq, 0);
	fake.mem[2] = 0;
	if (post_chain(qp, 2) || !wait_word(2, CHAIN))
		return 1;
	if (busy->num - busy->taken != left)
		return 2;
	drop_qp(qp);
	drop_cq(cq);
	return 0;
}

static bool child_works(struct fake_cq *busy_cq, struct fake_qp *busy)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		/* Its completion is for the parent. */
		run(busy);
		_exit(child(busy_cq));
	}
	if (waitpid(pid, &status, 0) != pid)
		bail_out("waitpid: %s", strerror(errno));
	if (status)
		diag("status 0x%x", status);
	return !status;
}

static void test_fork(void)
{
	struct fake_cq *cq, *busy_cq;
	struct fake_qp *qp, *busy;
	int words[] = { 0, 1 };
	pthread_t threads[2];
	int wrong = 0, i;

	start();
	stop = false;
	cq = new_cq();
	qp = new_qp(cq, 0);
	fake.active = false;
	busy_cq = new_cq();
	busy = new_qp(busy_cq, 0);
	post_chain(busy, 3);
	fake.active = true;
	ok(child_works(busy_cq, busy), "requests proceed in a forked child");

	/* exp_emu_fork runs this without a sanitizer. */
	if (HAS_SANITIZER) {
		skip(1, "other threads: may hold a lock of the sanitizer at fork()");
	} else {
		for (i = 0; i < 2; i++)
			threads[i] = spawn(churn, &words[i]);
		for (i = 0; i < FORKS; i++)
			wrong += !child_works(busy_cq, busy);
		__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
		for (i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		is_int(wrong, 0, "... also in %d children beside other threads",
		       FORKS);
	}
	is_int(post_chain(qp, 4), 0, "the parent posts");
	ok(wait_word(4, CHAIN), "... and its requests proceed");
	drop_qp(busy);
	drop_qp(qp);
	drop_cq(busy_cq);
	drop_cq(cq);
}

int main(void)
{
	plan(0);
	test_signals();
	test_progress();
	test_churn();
	test_poller();
	test_fork();
	return done_testing();
}
