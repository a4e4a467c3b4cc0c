/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counts of a thread after a switch that no program has seen: those of the page faults that it
 * makes. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "stack_table.h"
#include "test_thread_count.skel.h"
#include "unit_test.h"

#define TRIES_MAX 1000U

static struct test_thread_count_bpf *programs;
static long cpus, page;

static void run_bpf_program_once(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(program), &options), 0);
}

/* The event's value: the page faults since the thread's last event, where they are known. */
static u64 record_event_and_read_value(void)
{
	run_bpf_program_once(programs->progs.event);
	return programs->bss->value;
}

static long read_switches_of_thread(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void sleep_so_that_thread_leaves_cpu(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The thread leaves its CPU. Each CPU has another task's address, the first word of struct
 * cpu_count, as that of its task. */
static void fake_unseen_task_switch(void)
{
	size_t bytes = (bpf_map__value_size(programs->maps.cpu_counts) + 7) & ~7UL;
	char *counts = calloc(cpus, bytes);
	u32 zero = 0;

	assert_non_null(counts);
	sleep_so_that_thread_leaves_cpu();
	for (long cpu = 0; cpu < cpus; cpu++)
		*(u64 *)(counts + cpu * bytes) = 1;
	assert_int_equal(
		bpf_map_update_elem(bpf_map__fd(programs->maps.cpu_counts), &zero, counts, BPF_ANY),
		0);
	free(counts);
}

static void cause_page_faults(long pages)
{
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	assert_true(memory != MAP_FAILED);
	madvise(memory, pages * page, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		memory[i * page] = 1;
	munmap(memory, pages * page);
}

/*
 * True until the thread has stayed on its CPU since `before`. Where each call of bpf() waits for
 * another process, it never stays.
 */
static bool has_switched(long before, u32 *tries)
{
	if (read_switches_of_thread() == before)
		return false;
	if (++*tries < TRIES_MAX)
		return true;
	printf("skip: the thread lost its CPU in each of %u tries\n", TRIES_MAX);
	skip();
	return false;
}

TEST(a_thread_is_counted_from_the_event_after_an_unseen_switch)
{
	u64 values[3], unread;
	u32 tries = 0;
	long before;

	do {
		fake_unseen_task_switch();
		before = read_switches_of_thread();
		unread = programs->bss->counts_unread;
		values[0] = record_event_and_read_value();
		cause_page_faults(7);
		values[1] = record_event_and_read_value();
		cause_page_faults(5);
		values[2] = record_event_and_read_value();
	} while (has_switched(before, &tries));
	assert_int_equal(values[0], 0);
	assert_int_equal(values[1], 7);
	assert_int_equal(values[2], 5);
	assert_int_equal(programs->bss->counts_unread, unread + 1);
}

TEST(a_further_unseen_switch_makes_the_count_unknown_again)
{
	u64 unread = programs->bss->counts_unread;

	fake_unseen_task_switch();
	record_event_and_read_value();
	cause_page_faults(3);
	sleep_so_that_thread_leaves_cpu();
	assert_int_equal(record_event_and_read_value(), 0);
	assert_int_equal(programs->bss->counts_unread, unread + 2);
}

/* An NMI may come when the kernel has counted a switch and the program at the switch has not run.
 */
TEST(an_event_in_a_switch_does_not_count_earlier_faults_again)
{
	u64 values[4];
	u32 tries = 0;
	long before;

	do {
		before = read_switches_of_thread();
		run_bpf_program_once(programs->progs.change);
		record_event_and_read_value();
		cause_page_faults(7);
		values[0] = record_event_and_read_value();
		run_bpf_program_once(programs->progs.count_only);
		values[1] = record_event_and_read_value();
		run_bpf_program_once(programs->progs.change);
		cause_page_faults(5);
		values[2] = record_event_and_read_value();
		cause_page_faults(3);
		values[3] = record_event_and_read_value();
	} while (has_switched(before, &tries));
	assert_int_equal(values[0], 7);
	assert_int_equal(values[1], 0);
	assert_int_equal(values[2], 5);
	assert_int_equal(values[3], 3);
}

static int open_counters(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.pinned = 1,
	};

	for (u32 cpu = 0; cpu < cpus; cpu++) {
		int counter =
			syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (counter < 0 && errno != ENODEV) /* an offline CPU */
			return -1;
		if (counter >= 0 && bpf_map_update_elem(bpf_map__fd(programs->maps.counters), &cpu,
							&counter, BPF_ANY))
			return -1;
		close(counter);
	}
	return 0;
}

int main(void)
{
	cpus = libbpf_num_possible_cpus();
	page = sysconf(_SC_PAGESIZE);
	programs = test_thread_count_bpf__open();
	if (!programs)
		return 1;
	programs->rodata->config.counters = 1;
	programs->rodata->config.cpus = cpus;
	programs->bss->counts_open = 1;
	bpf_map__set_max_entries(programs->maps.counters, cpus);
	bpf_map__set_max_entries(programs->maps.thread_counts, 1);
	if (test_thread_count_bpf__load(programs) || open_counters()) {
		if (errno != EPERM && errno != EACCES)
			return 1;
		puts("skipped: no permission to load BPF programs, or to count page faults");
		return 77;
	}
	return unit_tests_run();
}
