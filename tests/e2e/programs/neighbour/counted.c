/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of a function that make a known number of page faults, or take a known CPU time, beside a
 * process that does the same on the same CPU all the time.
 *
 * usage: counted fill|move|spin|nap ROUNDS AMOUNT [THREADS]
 *
 * Each thread calls work() WARM times with nothing to do, then ROUNDS times: `fill` touches AMOUNT
 * fresh pages, `move` the same while it goes from one CPU to another, `spin` runs for AMOUNT us of
 * CPU time, `nap` sleeps and leaves its CPU AMOUNT times. The second thread has twice the amount,
 * and so on.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WARM 4
#define THREADS_MAX 16
#define NOISE_PAGES 64
#define YIELD_EVERY 16

static char mode;
static long rounds, amount, page;
static int cpus[2]; /* the second one is the first if the machine has one CPU only */

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void find_cpus(void)
{
	cpu_set_t set;
	int found = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[found++] = cpu;
	if (found == 1)
		cpus[1] = cpus[0];
}

static char *fresh_pages(long count)
{
	char *memory = mmap(NULL, (count + 1) * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, (count + 1) * page, MADV_NOHUGEPAGE);
	return memory;
}

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void fill(char *memory, long count)
{
	for (long i = 0; i < count; i++) {
		memory[i * page] = 1;
		if (mode == 'm' && i % YIELD_EVERY == 0)
			run_on(cpus[i / YIELD_EVERY % 2]);
		else if (i % YIELD_EVERY == 0)
			sched_yield();
	}
}

static void spin(long us)
{
	long long end = cpu_ns() + us * 1000LL;

	while (cpu_ns() < end)
		;
}

static long voluntary_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* The timer of a sleep may end before the thread has left its CPU. */
static void nap(long count)
{
	struct timespec short_time = {.tv_nsec = 1000};

	while (count--)
		for (long before = voluntary_switches(); voluntary_switches() == before;)
			nanosleep(&short_time, NULL);
}

static __attribute__((noinline)) long work(char *memory, long count)
{
	if (mode == 's')
		spin(count);
	else if (mode == 'n')
		nap(count);
	else
		fill(memory, count);
	return count;
}

static void *work_all(void *arg)
{
	long count = amount * (long)arg;
	bool fills = mode == 'f' || mode == 'm';
	char *memory = fresh_pages(fills ? rounds * count : 0);

	for (int i = 0; i < WARM; i++)
		work(memory, 0);
	for (long i = 0; i < rounds; i++)
		work(fills ? memory + i * count * page : memory, count);
	return NULL;
}

/* Touches pages, and gives them back, until the parent ends. */
static void make_noise(int cpu)
{
	char *memory = fresh_pages(NOISE_PAGES);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(cpu);
	for (;;) {
		for (int i = 0; i < NOISE_PAGES; i++)
			memory[i * page] = 1;
		madvise(memory, NOISE_PAGES * page, MADV_DONTNEED);
	}
}

int main(int argc, char **argv)
{
	long threads = argc > 4 ? atol(argv[4]) : 1;
	pthread_t handles[THREADS_MAX];
	pid_t noise[2];

	if (argc < 4 || threads < 1 || threads > THREADS_MAX)
		return 2;
	mode = argv[1][0];
	rounds = atol(argv[2]);
	amount = atol(argv[3]);
	page = sysconf(_SC_PAGESIZE);
	find_cpus();
	for (int i = 0; i < 2; i++) {
		noise[i] = fork();
		if (!noise[i])
			make_noise(cpus[i]);
	}
	run_on(cpus[0]);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&handles[i], NULL, work_all, (void *)(i + 1)))
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(handles[i], NULL);
	for (int i = 0; i < 2; i++)
		kill(noise[i], SIGKILL);
	return 0;
}
