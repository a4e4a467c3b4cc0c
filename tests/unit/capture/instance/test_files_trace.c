/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file `trace` for rings that the test fills slot by slot. */
#include "files_instance.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unit_test.h"

/* Times are multiples of 1000 ns, the precision of the lines, and shortly before now. */
struct event {
	u32 cpu;
	u32 time;
	u32 kernel_state, kernel;
	u32 user_state, user;
	u32 commit; /* marks of the event's slot */
};

static u64 base_time;

static void put_event(const struct event *event)
{
	struct ring_view ring = loaded_ring(&capture->loaded, event->cpu);
	struct event_slot *slot = (void *)ring_slot(&ring, ring.header->head);

	slot->tid = getpid();
	slot->stamp = STAMP_OF(base_time + 1000 * event->time, 0,
			       EVENT_FLAGS(event->kernel_state, event->user_state));
	slot->kernel = event->kernel;
	slot->user = event->user;
	slot->commit = COMMIT_OF(ring.header->head) | event->commit;
	ring.header->head++;
}

static void set_base_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	base_time = (now.tv_sec - 1) * 1000000000ULL;
}

static void assert_line(FILE *file, const struct event *event, const char *sides)
{
	u64 time = base_time + 1000 * event->time;
	char wanted[256], line[256];

	snprintf(wanted, sizeof(wanted), "%.15s-%d [%03u] %llu.%06llu: sys_enter_getppid:%s\n",
		 program_invocation_short_name, getpid(), event->cpu,
		 (unsigned long long)(time / 1000000000),
		 (unsigned long long)(time / 1000 % 1000000), sides);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, wanted);
}

TEST(the_trace_is_in_the_order_of_time, begin, end)
{
	/* The second event has interrupted the first, after the first had its slot and before it
	 * had its time. */
	static const struct event events[] = {
		{0, 2, STATE_ID, 20},
		{0, 1, STATE_ID, 10},
		{0, 5, STATE_ID, 50},
		{1, 4, STATE_ID, 40, STATE_ID, 41},
		{1, 3, STATE_NONE, REASON_NOT_ASKED, STATE_COOKIE, 31},
		{1, 6, STATE_NONE, REASON_UNREADABLE, STATE_NONE, REASON_CHANGED},
		{1, 7, STATE_INLINE, 0, STATE_INLINE, 0},
	};
	FILE *file;

	if (capture->loaded.plan.config.cpus < 2) {
		printf("skip: this takes two CPUs\n");
		skip();
	}
	set_base_time();
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		put_event(&events[i]);
	file = open_file("trace");
	assert_line(file, &events[1], " <stack_id 10>");
	assert_line(file, &events[0], " <stack_id 20>");
	assert_line(file, &events[4], " <cookie 31>");
	assert_line(file, &events[3], " <stack_id 40> <user_stack_id 41>");
	assert_line(file, &events[2], " <stack_id 50>");
	assert_line(file, &events[5], " <no stack_id: unreadable> <no user_stack_id: changed>");
	assert_line(file, &events[6], " <stack in the ring> <user stack in the ring>");
	assert_end(file);
}

TEST(the_trace_has_events_only, begin, end)
{
	static const struct event events[] = {
		{.time = 1, .kernel_state = STATE_ID, .kernel = 1},
		{.time = 2, .commit = COMMIT_BUSY},
		{.time = 3, .commit = COMMIT_CONTINUED},
		{.time = 4, .kernel_state = STATE_ID, .kernel = 4},
	};
	FILE *file;

	set_base_time();
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		put_event(&events[i]);
	file = open_file("trace");
	assert_line(file, &events[0], " <stack_id 1>");
	assert_line(file, &events[3], " <stack_id 4>");
	assert_end(file);
}

/* A reader starts at the tail and needs several buffers of the kernel; the ring wraps between them.
 */
TEST(a_full_ring_is_shown_to_its_end, begin, end)
{
	struct ring_view ring = loaded_ring(&capture->loaded, 0);
	u32 count = ring.count, i;
	FILE *file;

	set_base_time();
	ring.header->head = ring.header->tail = 3ULL * count / 2;
	for (i = 0; i < count; i++)
		put_event(&(struct event){.time = i, .kernel_state = STATE_ID, .kernel = i});
	file = open_file("trace");
	for (i = 0; i < count; i++) {
		char sides[64];

		snprintf(sides, sizeof(sides), " <stack_id %u>", i);
		assert_line(file, &(struct event){.time = i}, sides);
	}
	assert_end(file);
}

int main(void)
{
	return unit_tests_run();
}
