/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds the stack snapshots that BPF programs save: of a process that has ended since, and of a
 * stopped process that is unwound from outside. Argument: a build of chain.c.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/feature/task_work.h"
#include "config.h"
#include "deferral.h"
#include "raw_stack.h"
#include "stack_table.h"
#include "stopped.h"
#include "user_unwind/user_unwinder.h"

#include "test_raw_stack.skel.h"
#include "unit_test.h"

#define SKIP 77
#define COOKIE 77
#define ROOM (1 << 16)

static const char *program;
static struct stopped stopped;
static struct test_raw_stack_bpf *kernel;
static struct user_unwinder *unwinder;
static struct unwound_stack stack;
static struct raw_stack saved;
static struct mapping_record record;

static const struct mapping_record *kernel_record(void *argument, u32 number)
{
	int fd = bpf_map__fd(kernel->maps.mappings);

	(void)argument;
	assert_int_equal(bpf_map_lookup_elem(fd, &number, &record), 0);
	return &record;
}

static int take_stack(void *count, void *data, size_t bytes)
{
	const struct raw_stack *raw = data;

	assert_true(bytes >= RAW_STACK_SIZE(0));
	assert_true(bytes >= RAW_STACK_SIZE((u64)raw->stack_bytes));
	memset(&saved, 0xa5, sizeof(saved));
	memcpy(&saved, data, RAW_STACK_SIZE(raw->stack_bytes));
	++*(u32 *)count;
	return 0;
}

static void assert_own(const struct raw_stack *raw)
{
	assert_int_equal(raw->cookie, COOKIE);
	assert_int_equal(raw->tid, stopped.raw.tid);
	assert_int_equal(raw->tgid, stopped.raw.tgid);
}

/* Takes the one snapshot that was saved. */
static void take_saved(void)
{
	u32 count = 0;
	struct ring_buffer *ring =
		ring_buffer__new(bpf_map__fd(kernel->maps.raw_stacks), take_stack, &count, NULL);

	assert_non_null(ring);
	ring_buffer__consume(ring);
	ring_buffer__free(ring);
	assert_int_equal(count, 1);
	assert_own(&saved);
}

static void load(bool saves, bool unwinds)
{
	int table = bpf_map_create(BPF_MAP_TYPE_ARRAY, "table", 4, ROOM, 1, NULL);
	int cpus = libbpf_num_possible_cpus();
	struct bpf_program *each;

	kernel = test_raw_stack_bpf__open();
	assert_non_null(kernel);
	assert_int_equal(bpf_map__set_inner_map_fd(kernel->maps.tables, table), 0);
	assert_int_equal(bpf_map__set_max_entries(kernel->maps.scratch_slots, cpus), 0);
	assert_int_equal(bpf_map__set_max_entries(kernel->maps.raw_buffers, 2 * cpus), 0);
	bpf_object__for_each_program(each, kernel->obj) bpf_program__set_autoload(each, false);
	bpf_program__set_autoload(kernel->progs.save_stack, saves);
	bpf_program__set_autoload(kernel->progs.unwind_blocked, unwinds);
	/* The recorder loads this program itself, as libbpf does not know its section. */
	bpf_program__set_type(kernel->progs.unwind_blocked, BPF_PROG_TYPE_SYSCALL);
	bpf_program__set_flags(kernel->progs.unwind_blocked, BPF_F_SLEEPABLE);
	task_work_remove_unusable_functions(kernel->obj);
	assert_int_equal(test_raw_stack_bpf__load(kernel), 0);
}

static int set_up(void **state)
{
	const struct user_unwinder_options options = {
		.mapping = kernel_record,
		.max_depth = STACK_USER_DEPTH_MAX,
	};

	(void)state;
	assert_int_equal(user_unwinder_create(&options, &unwinder), 0);
	stopped_start(&stopped, program);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	stopped_end(&stopped);
	user_unwinder_free(&unwinder);
	test_raw_stack_bpf__destroy(kernel);
	kernel = NULL;
	return 0;
}

/* The number of mappings in /proc/PID/maps without vsyscall, which belongs to the kernel. */
static u32 expected_mappings(void)
{
	u32 count = stopped.raw.mapping_count;

	while (count && FRAME_IS_KERNEL(stopped.raw.mapping[count - 1].start))
		count--;
	return count;
}

static void assert_mappings(void)
{
	assert_int_equal(saved.mapping_count, expected_mappings());
	for (u32 i = 0; i < saved.mapping_count; i++) {
		const struct raw_mapping *mapping = &saved.mapping[i];

		assert_int_equal(mapping->start, stopped.raw.mapping[i].start);
		assert_int_equal(mapping->end, stopped.raw.mapping[i].end);
		assert_int_equal(mapping->offset, stopped.raw.mapping[i].offset);
		assert_int_equal(kernel_record(NULL, mapping->number)->key.kind,
				 stopped.record[i + 1].key.kind);
	}
}

/* An address of the chain as a frame, with the mapping numbers of the BPF programs. */
static u64 expected_frame(u64 address)
{
	u64 frame = stopped_frame(&stopped, address);

	return FRAME_USER(saved.mapping[FRAME_MAPPING(frame) - 1].number, FRAME_OFFSET(frame));
}

static void assert_chain(u32 first)
{
	assert_int_equal(user_unwinder_unwind(unwinder, &saved, &stack), 0);
	assert_int_equal(stack.flags, STACK_USER);
	assert_true(stack.depth > first + CHAIN_LENGTH);
	for (u32 i = 0; i < CHAIN_LENGTH; i++)
		assert_int_equal(stack.frame[first + i], expected_frame(stopped.chain.address[i]));
}

TEST(process_that_has_ended_has_its_stack, set_up, tear_down)
{
	struct bpf_link *link;

	load(true, false);
	kernel->bss->wanted_tgid = stopped.pid;
	link = bpf_program__attach_raw_tracepoint(kernel->progs.save_stack, "sys_enter");
	assert_non_null(link);
	stopped_go_on(&stopped);
	bpf_link__destroy(link);
	take_saved();
	assert_int_equal(saved.flags, 0);
	assert_true(saved.stack_bytes > 0);
	assert_mappings();
	assert_chain(2); /* without getppid() and its caller */
}

static s32 ask(u32 operation)
{
	struct unwind_blocked_request request = {
		.tid = stopped.raw.tid,
		.cookie = COOKIE,
		.operation = operation,
	};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));
	int answers = bpf_map__fd(kernel->maps.blocked_answer);
	struct unwind_blocked_answer answer;
	u32 key = 0;

	assert_int_equal(
		bpf_prog_test_run_opts(bpf_program__fd(kernel->progs.unwind_blocked), &options), 0);
	assert_int_equal(bpf_map_lookup_elem(answers, &key, &answer), 0);
	if (operation == UNWIND_BLOCKED_PEEK && !request.result)
		assert_int_equal(answer.sequence, request.answer);
	memset(&saved, 0xa5, sizeof(saved));
	memcpy(&saved, answer.raw, sizeof(answer.raw));
	return request.result;
}

static void wait_for_answer(u64 ip, u32 state)
{
	const struct deferral deferral = {
		.word = DEFERRAL_WORD(COOKIE, state),
		.entry = {.ip = ip,
			  .sp = stopped.raw.value[REGISTER_RSP],
			  .syscall = stopped.orig_ax},
		.kernel_tid = stopped.raw.tid,
	};
	int fd = bpf_map__fd(kernel->maps.deferrals);

	assert_int_equal(bpf_map_update_elem(fd, &stopped.raw.tid, &deferral, BPF_ANY), 0);
}

/* True if programs can find a task by its id. Kernels before 6.2 lack this, and stacks are not
 * deferred there. */
static bool can_programs_find_task_by_id(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool found = btf && btf__find_by_name_kind(btf, "bpf_task_from_pid", BTF_KIND_FUNC) > 0;

	btf__free(btf);
	return found;
}

TEST(sleeping_task_is_unwound, set_up, tear_down)
{
	u64 ip = stopped.raw.value[REGISTER_RIP];

	if (!can_programs_find_task_by_id()) {
		printf("skip: before Linux 6.2 no program finds a task that sleeps\n");
		skip();
	}
	load(false, true);
	assert_int_equal(ask(UNWIND_BLOCKED_PEEK), -ENOENT);
	wait_for_answer(ip, DEFERRAL_RUNNING);
	assert_int_equal(ask(UNWIND_BLOCKED_PEEK), -ENOENT);
	assert_int_equal(ask(UNWIND_BLOCKED_TAKE), -ENOENT);
	wait_for_answer(ip + 1, DEFERRAL_PENDING);
	assert_int_equal(ask(UNWIND_BLOCKED_PEEK), -EAGAIN);
	wait_for_answer(ip, DEFERRAL_PENDING);
	assert_int_equal(ask(UNWIND_BLOCKED_PEEK), 0);
	assert_own(&saved);
	assert_int_equal(saved.flags, RAW_ALIVE);
	assert_int_equal(saved.stack_bytes, 0);
	assert_memory_equal(saved.value, stopped.raw.value, sizeof(saved.value));
	assert_mappings();
	assert_chain(1);
	assert_int_equal(ask(UNWIND_BLOCKED_CHECK), 0);
	assert_int_equal(ask(UNWIND_BLOCKED_CHECK), 0);
	wait_for_answer(ip + 1, DEFERRAL_PENDING);
	assert_int_equal(ask(UNWIND_BLOCKED_CHECK), -EAGAIN);
	assert_int_equal(ask(UNWIND_BLOCKED_TAKE), -EAGAIN);
	wait_for_answer(ip, DEFERRAL_PENDING);
	assert_int_equal(ask(UNWIND_BLOCKED_TAKE), 0);
	assert_int_equal(ask(UNWIND_BLOCKED_CHECK), -ENOENT);
	assert_int_equal(ask(UNWIND_BLOCKED_TAKE), -ENOENT);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (geteuid() != 0) {
		puts("skipped: only root may load programs");
		return SKIP;
	}
	program = argv[1];
	return unit_tests_run();
}
