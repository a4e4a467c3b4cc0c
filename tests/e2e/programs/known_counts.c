/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A workload whose events are known in advance: each argument is WHAT=N, done N times in turn, and
 * `faults` prints the page faults that the kernel counted meanwhile.
 *
 * `nested=N` calls a function that calls itself N - 1 times and sleeps 2 ms before and after each
 * call. `handed=N` puts the keys 1 to N, and a thread takes 1 to N - 1, each 2 ms after the last.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define noinline __attribute__((noinline))

#ifdef __aarch64__
#define RESULT_REGISTER "x0"
#else
#define RESULT_REGISTER "rax"
#endif

static noinline void counted(void)
{
	__asm__ volatile("" ::: "memory");
}

static noinline void call(long n)
{
	while (n--)
		counted();
}

static noinline void allocate(long n)
{
	while (n--) {
		void *volatile memory = malloc(100);

		free(memory);
	}
}

static noinline void ask_parent(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static noinline void ask_group(long n)
{
	while (n--)
		syscall(SYS_getpgid, 0);
}

static noinline void touch_pages(char *memory, long n)
{
	long page = sysconf(_SC_PAGESIZE);

	while (n--)
		((volatile char *)memory)[n * page] = 1;
}

static long faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static noinline void fault(long n)
{
	size_t bytes = (size_t)n * (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	before = faults_so_far();
	touch_pages(memory, n);
	printf("%ld\n", faults_so_far() - before);
}

/* Returns one - 500. */
static noinline long take(long one, int two, long three, long four, long five, long six)
{
	__asm__ volatile("" ::"r"(two), "r"(three), "r"(four), "r"(five), "r"(six));
	return one - 500;
}

static noinline void call_low(long i)
{
	take(i, (int)-i, 3 * i, 4 * i, 5 * i, 6 * i);
}

static noinline void call_high(long i)
{
	take(i, (int)-i, 3 * i, 4 * i, 5 * i, 6 * i);
}

/* Returns the negated digit as an int: the upper half of the register is not sign-extended. */
static noinline int ten(long digit)
{
	register long result __asm__(RESULT_REGISTER) = 0x7700000000000000 | (unsigned int)-digit;

	__asm__ volatile("" : "+r"(result));
	return (int)result;
}

/* Calls of take() with i, -i, 3i, 4i, 5i and 6i for each i below n, of ten() with i modulo 10. */
static noinline void pass_arguments(long n)
{
	for (long i = 0; i < n; i++) {
		if (i < 250)
			call_low(i);
		else
			call_high(i);
		ten(i % 10);
	}
}

static void sleep_2_ms(void)
{
	nanosleep(&(const struct timespec){.tv_nsec = 2000000}, NULL);
}

static noinline void nest(long n)
{
	sleep_2_ms();
	if (n > 1)
		nest(n - 1);
	sleep_2_ms();
}

static noinline void put_key(long key)
{
	__asm__ volatile("" ::"r"(key) : "memory");
}

static noinline void take_key(long key)
{
	__asm__ volatile("" ::"r"(key) : "memory");
}

static void *take_keys(void *arg)
{
	for (long key = 1; key < (long)arg; key++) {
		sleep_2_ms();
		take_key(key);
	}
	return NULL;
}

/* The last key that is taken was never put. */
static noinline void hand_over(long n)
{
	pthread_t thread;

	for (long key = 1; key <= n; key++)
		put_key(key);
	if (pthread_create(&thread, NULL, take_keys, (void *)n))
		exit(1);
	pthread_join(thread, NULL);
	take_key(n + 1);
}

static const struct {
	const char *name;
	void (*run)(long n);
} works[] = {
	{"nested", nest},	   {"handed", hand_over},	  {"calls", call},
	{"allocations", allocate}, {"getppid", ask_parent},	  {"getpgid", ask_group},
	{"faults", fault},	   {"arguments", pass_arguments},
};

static int work(const char *word)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (strlen(works[i].name) == length && !strncmp(works[i].name, word, length) &&
		    word[length]) {
			works[i].run(atol(word + length + 1));
			return 0;
		}
	fprintf(stderr, "known_counts: %s: nothing that it can do\n", word);
	return 2;
}

int main(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc && !status; i++)
		status = work(argv[i]);
	return status;
}
