/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A workload whose events are known in advance: each argument is WHAT=N, done N times in turn, and
 * `faults` prints the page faults that the kernel counted meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define noinline __attribute__((noinline))

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

static const struct {
	const char *name;
	void (*run)(long n);
} works[] = {
	{"calls", call},	{"allocations", allocate}, {"getppid", ask_parent},
	{"getpgid", ask_group}, {"faults", fault},
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
