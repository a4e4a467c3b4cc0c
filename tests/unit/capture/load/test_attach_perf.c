/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts of a perf event of page faults that the program sometimes skips: the program's count
 * equals the event's own count. */
#include "capture/load/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/capture_parts.h"
#include "capture/load/skeleton.h"
#include "clock.h"
#include "unit_test.h"

#define PAGES 1000

static struct source_list sources;
static struct capture *capture;

static void attach_event(const char *event, u64 frequency)
{
	struct capture_options options = {.sources = &sources, .bits = 10, .no_user_stacks = true};
	struct stackmap_error error;
	int result = source_list_add(&sources, event, frequency, &error);

	result = result ?: capture_create(&options, &capture, &error);
	result = result ?: capture_attach(capture, &error);
	if (!result)
		return;
	printf("%s\n", error.message);
	assert_true(result == -EPERM || result == -ENOSYS || result == -EOPNOTSUPP ||
		    result == -ENOENT);
	capture_free(&capture);
	source_list_clear(&sources);
	skip();
}

static void attach(void)
{
	attach_event("page-faults", 0);
}

static void touch_pages_on(u32 cpu)
{
	u64 bytes = PAGES * sysconf(_SC_PAGESIZE);
	cpu_set_t only;
	char *pages;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	if (sched_setaffinity(0, sizeof(only), &only))
		return;
	pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(madvise(pages, bytes, MADV_NOHUGEPAGE), 0);
	for (u64 at = 0; at < bytes; at += sysconf(_SC_PAGESIZE))
		pages[at] = 1;
	munmap(pages, bytes);
}

static u64 events_counted(void)
{
	u64 count = 0;

	for (u32 i = 0; i < capture->loaded.attachment.event_count; i++)
		count += capture->loaded.attachment.events[i].count;
	return count;
}

static struct perf_runs read_noted_perf_runs(void)
{
	struct perf_runs *runs = calloc(libbpf_num_possible_cpus(), sizeof(*runs)), sum = {};
	u32 kind = 0;

	assert_non_null(runs);
	assert_int_equal(
		bpf_map_lookup_elem(bpf_map__fd(loaded_programs(&capture->loaded)->maps.perf_runs),
				    &kind, runs),
		0);
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		sum.runs += runs[cpu].runs;
		sum.count += runs[cpu].count;
	}
	free(runs);
	return sum;
}

TEST(skips_are_known_without_reading_the_event)
{
	struct perf_runs runs;
	u64 skipped;

	attach();
	for (u32 cpu = 0; cpu < capture->loaded.plan.config.cpus; cpu++)
		touch_pages_on(cpu);
	capture_detach(capture);
	runs = read_noted_perf_runs();
	assert_true(runs.count >= PAGES);
	assert_in_range(runs.count, runs.runs, events_counted());
	skipped = attach_count_skipped_perf_events(&capture->loaded.attachment, 0);
	assert_int_equal(skipped, events_counted() - runs.runs);

	capture->loaded.attachment.event_count = 0;
	assert_int_equal(attach_count_skipped_perf_events(&capture->loaded.attachment, 0),
			 runs.count - runs.runs);
	capture_free(&capture);
	source_list_clear(&sources);
}

static void poll_cpu_hotplug(void)
{
	capture->loaded.attachment.hotplug.next_poll = 0;
	loaded_follow_cpus(capture_loaded(capture));
}

/* A CPU counts as new if it was not in the last list of CPUs: its event is opened again, and its
 * count continues that of the first event. */
TEST(a_cpu_that_comes_online_is_sampled)
{
	const struct cpu_hotplug *hotplug;
	u32 events;

	attach();
	hotplug = &capture->loaded.attachment.hotplug;
	events = capture->loaded.attachment.event_count;
	touch_pages_on(0);
	poll_cpu_hotplug();
	assert_int_equal(hotplug->came, 0);

	capture->loaded.attachment.hotplug.online[0] &= ~1ULL;
	poll_cpu_hotplug();
	assert_int_equal(hotplug->came, 1);
	poll_cpu_hotplug();
	assert_int_equal(hotplug->came, 1);
	assert_int_equal(hotplug->unsampled, 0);
	assert_int_equal(capture->loaded.attachment.event_count, events);
	touch_pages_on(0);
	capture_detach(capture);
	assert_true(events_counted() >= 2 * PAGES);
	assert_true(read_noted_perf_runs().runs >= 2 * PAGES);
	capture_free(&capture);
	source_list_clear(&sources);
}

static void write_list(const char *text)
{
	int list = capture->loaded.attachment.hotplug.list;

	assert_int_equal(pwrite(list, text, strlen(text), 0), strlen(text));
}

/* The list's file is opened once and read again from its beginning each time. */
TEST(one_descriptor_shows_all_changes)
{
	struct cpu_hotplug *hotplug;
	int list = memfd_create("online", MFD_CLOEXEC);

	assert_true(list >= 0);
	attach();
	hotplug = &capture->loaded.attachment.hotplug;
	assert_int_equal(dup3(list, hotplug->list, O_CLOEXEC), hotplug->list);
	write_list("1\n");
	poll_cpu_hotplug();
	assert_int_equal(hotplug->online[0], 2);
	assert_int_equal(hotplug->came, 0);
	write_list("0-1\n");
	poll_cpu_hotplug();
	assert_int_equal(hotplug->online[0] & 1, 1);
	assert_int_equal(hotplug->came, 1);
	list = hotplug->list;
	capture_detach(capture);
	capture_free(&capture);
	assert_int_equal(fcntl(list, F_GETFD), -1);
	source_list_clear(&sources);
}

/* The CPU was offline at the start and had no event. */
TEST(a_cpu_that_was_offline_at_the_start_is_sampled)
{
	struct perf_event *event;
	u32 events;

	attach();
	events = capture->loaded.attachment.event_count;
	event = &capture->loaded.attachment.events[0];
	assert_int_equal(event->cpu, 0);
	event->cpu = CONFIG_CPUS_MAX;
	capture->loaded.attachment.hotplug.online[0] &= ~1ULL;
	poll_cpu_hotplug();
	assert_int_equal(capture->loaded.attachment.event_count, events + 1);
	assert_int_equal(capture->loaded.attachment.events[events].cpu, 0);
	touch_pages_on(0);
	capture_detach(capture);
	assert_true(capture->loaded.attachment.events[events].count >= PAGES);
	capture_free(&capture);
	source_list_clear(&sources);
}

static void spin_for_cpu_time(u64 ns)
{
	u64 until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		continue;
}

/* The rate changes from a sample each second to a sample each millisecond of CPU time. */
TEST(the_rate_can_be_changed)
{
	u64 before;

	attach_event("cpu-clock", 1);
	before = read_noted_perf_runs().runs;
	assert_int_equal(loaded_set_frequency(capture_loaded(capture), 1000), 0);
	spin_for_cpu_time(300 * NS_PER_MS);
	capture_detach(capture);
	/* A clock's event counts nanoseconds. */
	assert_in_range(read_noted_perf_runs().runs - before, 100,
			events_counted() / NS_PER_MS * 11 / 10 + 10);
	capture_free(&capture);
	source_list_clear(&sources);
}
