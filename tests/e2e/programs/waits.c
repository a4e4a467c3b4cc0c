/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits with known wakers. Threads have names; each waits in a function of its own.
 *
 * usage: waits lock MS     `waiter` wants a mutex that `owner` holds for so long
 *    or: waits chain MS    `first` waits for `second`, that for `third`, that for `fourth`, which
 *                          sleeps
 *    or: waits timer MS    the main thread sleeps
 *    or: waits deadlock    `one` and `two` have what the other one wants; the process goes on for
 *                          good
 *
 * Work that the kernel does later, N times, each time before the next:
 *    or: waits work N      a work item of the kernel brings bytes from one end of a terminal to the
 *                          other
 *    or: waits alarm N     a timer of high resolution expires
 *    or: waits timeout N   a timer ends the wait for a message that does not come
 *    or: waits request N   a worker of io_uring reads this program's file; 77: io_uring is refused
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static sem_t locked, done[4];
static _Atomic pid_t tids[4]; /* of the threads that wait */
static long ms;		      /* or times */

static APART void sleep_ms(void)
{
	const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

static APART void hold_lock(void)
{
	sleep_ms();
	pthread_mutex_unlock(&mutex);
}

/* Until a thread sleeps, without a wait of its own: a loaded machine may start threads late. */
static void await_sleep(const _Atomic pid_t *tid)
{
	char path[64], text[256], *state;
	ssize_t bytes;
	int file;

	for (;; sched_yield()) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", *tid);
		file = open(path, O_RDONLY);
		bytes = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
		if (file >= 0)
			close(file);
		text[bytes > 0 ? bytes : 0] = '\0';
		state = strrchr(text, ')');
		if (state && state[1] && state[2] == 'S')
			return;
	}
}

static void *own(void *arg)
{
	pthread_mutex_lock(&mutex);
	sem_post(&locked);
	await_sleep(&tids[0]);
	hold_lock();
	return arg;
}

static APART void want_lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *wait_for_lock(void *arg)
{
	tids[0] = gettid();
	want_lock();
	return arg;
}

static APART void first_waits(void)
{
	sem_wait(&done[1]);
}

static APART void second_waits(void)
{
	sem_wait(&done[2]);
	sem_post(&done[1]);
}

static APART void third_waits(void)
{
	sem_wait(&done[3]);
	sem_post(&done[2]);
}

static APART void fourth_sleeps(void)
{
	for (int i = 0; i < 3; i++)
		await_sleep(&tids[i]);
	sleep_ms();
	sem_post(&done[3]);
}

static void *link_of_chain(void *arg)
{
	static void (*const links[])(void) = {first_waits, second_waits, third_waits,
					      fourth_sleeps};

	tids[(long)arg] = gettid();
	links[(long)arg]();
	return NULL;
}

static APART void one_then_two(void)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&other_mutex);
}

static APART void two_then_one(void)
{
	pthread_mutex_lock(&other_mutex);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&mutex);
}

static void *lock_both(void *arg)
{
	if (arg)
		two_then_one();
	else
		one_then_two();
	return NULL;
}

static pthread_t start(const char *name, void *(*run)(void *arg), long arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, (void *)arg);
	pthread_setname_np(thread, name);
	return thread;
}

static void run_lock(void)
{
	pthread_t owner = start("owner", own, 0), waiter;

	sem_wait(&locked);
	waiter = start("waiter", wait_for_lock, 0);
	pthread_join(owner, NULL);
	pthread_join(waiter, NULL);
}

static void run_chain(void)
{
	static const char *const names[] = {"first", "second", "third", "fourth"};
	pthread_t threads[4];

	for (long i = 0; i < 4; i++)
		threads[i] = start(names[i], link_of_chain, i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* --- work that was queued --- */

static APART void queue_work(int terminal)
{
	if (write(terminal, "w", 1) != 1)
		exit(1);
}

static void run_work(long times)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), other;
	struct termios raw;
	char byte;

	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
		exit(1);
	other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	if (other < 0 || tcgetattr(other, &raw))
		exit(1);
	cfmakeraw(&raw);
	tcsetattr(other, TCSANOW, &raw);
	for (long i = 0; i < times; i++) {
		queue_work(terminal);
		if (read(other, &byte, 1) != 1)
			exit(1);
	}
}

static APART void start_alarm(int timer)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 20000000};

	timerfd_settime(timer, 0, &soon, NULL);
}

static void run_alarm(long times)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	unsigned long long expired;

	for (long i = 0; i < times; i++) {
		start_alarm(timer);
		if (read(timer, &expired, sizeof(expired)) != sizeof(expired))
			exit(1);
	}
}

static APART void wait_in_vain(int end)
{
	char byte;

	recv(end, &byte, 1, 0);
}

static void run_timeout(long times)
{
	const struct timeval soon = {.tv_usec = 20000};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon)))
		exit(1);
	for (long i = 0; i < times; i++)
		wait_in_vain(ends[0]);
}

static APART long submit_request(int ring)
{
	return syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static void *map_ring(int ring, size_t bytes, off_t what)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, what);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

/* The rings of io_uring(7), with one entry each, and requests that no one may serve at once. */
static void run_request(long times)
{
	static char bytes[4096];
	struct io_uring_params ring = {};
	int fd = syscall(SYS_io_uring_setup, 1, &ring), file = open("/proc/self/exe", O_RDONLY);
	struct io_uring_sqe *request;
	unsigned *tail, *head;
	char *queue, *done;

	if (fd < 0)
		exit(77);
	queue = map_ring(fd, ring.sq_off.array + 64, IORING_OFF_SQ_RING);
	done = map_ring(fd, ring.cq_off.cqes + 64, IORING_OFF_CQ_RING);
	request = map_ring(fd, sizeof(*request), IORING_OFF_SQES);
	tail = (unsigned *)(queue + ring.sq_off.tail);
	head = (unsigned *)(done + ring.cq_off.head);
	for (long i = 0; i < times; i++) {
		*request = (struct io_uring_sqe){.opcode = IORING_OP_READ,
						 .flags = IOSQE_ASYNC,
						 .fd = file,
						 .addr = (unsigned long)bytes,
						 .len = sizeof(bytes)};
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		if (submit_request(fd) != 1)
			exit(1);
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	}
}

int main(int count, char **arguments)
{
	ms = count == 3 ? atol(arguments[2]) : 0;
	sem_init(&locked, 0, 0);
	for (int i = 0; i < 4; i++)
		sem_init(&done[i], 0, 0);
	if (count == 3 && !strcmp(arguments[1], "lock"))
		run_lock();
	else if (count == 3 && !strcmp(arguments[1], "chain"))
		run_chain();
	else if (count == 3 && !strcmp(arguments[1], "timer"))
		sleep_ms();
	else if (count == 3 && !strcmp(arguments[1], "work"))
		run_work(ms);
	else if (count == 3 && !strcmp(arguments[1], "alarm"))
		run_alarm(ms);
	else if (count == 3 && !strcmp(arguments[1], "timeout"))
		run_timeout(ms);
	else if (count == 3 && !strcmp(arguments[1], "request"))
		run_request(ms);
	else if (count == 2 && !strcmp(arguments[1], "deadlock")) {
		pthread_barrier_init(&both, NULL, 2);
		start("one", lock_both, 0);
		pthread_join(start("two", lock_both, 1), NULL);
	} else
		return 2;
	return 0;
}
