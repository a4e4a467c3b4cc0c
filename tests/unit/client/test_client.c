/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A tool that runs its BPF program in its own task, so the stack that the engine delivers is the
 * tool's own. The test compares this stack with stackmap_here() at the same place; the two use the
 * same unwinder with different embedders.
 */
#include "stackmap/client.h"

#include <stdint.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stack.h"
#include "stackmap/here.h"
#include "test_client.h"
#include "test_client.skel.h"
#include "unit_test.h"

#define DEPTH STACKMAP_HERE_DEPTH_MAX

static struct test_client_bpf *programs;
static struct stackmap_client *client;
static bool has_task_work;

/* A request, and the expected stack. */
struct asked {
	struct client_question question;
	uint64_t here[DEPTH];
	int depth;
};

/* Requests a stack and calls stackmap_here(): both have the same callers, and the innermost frames
 * are in this function. */
__attribute__((noinline)) static void ask(struct asked *asked, u32 operation)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &asked->question,
		    .ctx_size_in = sizeof(asked->question));

	asked->question = (struct client_question){.operation = operation};
	asked->depth = stackmap_here(asked->here, DEPTH);
	assert_in_range(asked->depth, 3, DEPTH);
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(programs->progs.ask), &options), 0);
}

struct place {
	uint64_t address;
	uint64_t offset;
	char path[PATH_MAX];
};

static int find_place(struct dl_phdr_info *object, size_t bytes, void *out)
{
	struct place *place = out;

	(void)bytes;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uint64_t at = place->address - object->dlpi_addr - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || at >= segment->p_memsz)
			continue;
		place->offset = at + segment->p_offset;
		assert_non_null(realpath(*object->dlpi_name ? object->dlpi_name : "/proc/self/exe",
					 place->path));
		return 1;
	}
	return 0;
}

static void assert_frame(uint64_t frame, uint64_t address)
{
	struct place place = {.address = address};
	char path[PATH_MAX];
	uint64_t offset;

	assert_int_equal(dl_iterate_phdr(find_place, &place), 1);
	assert_int_equal(stackmap_client_place(client, frame, path, sizeof(path), &offset), 0);
	assert_string_equal(path, place.path);
	assert_int_equal(offset, place.offset);
}

/* Compares all frames but the innermost ones, which lead to the kernel and to stackmap_here(). */
static void assert_stack(s64 id, const struct asked *asked)
{
	struct stackmap_stack stack;
	uint64_t frames[STACKMAP_DEPTH_MAX];

	assert_in_range(id, 1, UINT32_MAX);
	assert_int_equal(stackmap_client_find(client, id, &stack, frames, STACKMAP_DEPTH_MAX), 0);
	assert_in_range(stack.depth, asked->depth, STACKMAP_DEPTH_MAX);
	for (int i = 1; i < asked->depth; i++)
		assert_frame(frames[stack.depth - i], asked->here[asked->depth - i]);
}

static void need_task_work(void)
{
	if (!has_task_work) {
		print_message("this kernel has no task work for BPF programs\n");
		skip();
	}
}

TEST(a_deferred_stack_comes_on_the_way_to_user_mode)
{
	const struct client_answer *answer = &programs->bss->answer;
	u32 before = answer->count;
	struct asked asked;

	need_task_work();
	ask(&asked, CLIENT_ASK);
	assert_in_range(asked.question.result[0], 1, UINT32_MAX);
	assert_int_equal(answer->count, before + 1);
	assert_int_equal(answer->tid, gettid());
	assert_int_equal(answer->cookie, asked.question.result[0]);
	assert_stack(answer->id, &asked);
}

TEST(requests_of_one_entry_get_one_stack)
{
	const struct client_answer *answer = &programs->bss->answer;
	u32 before = answer->count;
	struct asked asked;

	need_task_work();
	ask(&asked, CLIENT_ASK_TWICE);
	assert_int_equal(asked.question.result[0], asked.question.result[1]);
	assert_int_equal(answer->count, before + 1);
}

TEST(each_entry_has_its_own_cookie_and_equal_stacks_one_id)
{
	const struct client_answer *answer = &programs->bss->answer;
	struct stackmap_stack stack;
	struct asked asked;
	s64 id[2];
	u32 cookie[2];

	need_task_work();
	for (volatile int i = 0; i < 2; i++) { /* one call instruction for both */
		ask(&asked, CLIENT_ASK);
		id[i] = answer->id;
		cookie[i] = answer->cookie;
	}
	assert_int_equal(id[0], id[1]);
	assert_int_not_equal(cookie[0], cookie[1]);
	assert_int_equal(stackmap_client_find(client, id[0], &stack, NULL, 0), 0);
	assert_int_equal(stack.ref_count, 2);
}

TEST(a_cancelled_request_gets_no_stack)
{
	const struct client_answer *answer = &programs->bss->answer;
	u32 before = answer->count;
	struct asked asked;

	need_task_work();
	ask(&asked, CLIENT_ASK_CANCEL);
	assert_in_range(asked.question.result[0], 1, UINT32_MAX);
	assert_int_equal(asked.question.result[1], 0);
	assert_int_equal(asked.question.result[2], -ENOENT);
	assert_int_equal(answer->count, before);
	ask(&asked, CLIENT_ASK);
	assert_int_equal(answer->count, before + 1);
	assert_stack(answer->id, &asked);
}

TEST(programs_that_may_sleep_unwind_at_once)
{
	u32 before = programs->bss->answer.count;
	struct asked asked;

	ask(&asked, CLIENT_UNWIND);
	if (asked.question.result[0] < asked.depth)
		print_error("%d frames, then stop %u\n", (int)asked.question.result[0],
			    STACK_STOP(asked.question.result[2]));
	assert_in_range(asked.question.result[0], asked.depth, STACKMAP_DEPTH_MAX);
	assert_stack(asked.question.result[1], &asked);
	assert_int_equal(programs->bss->answer.count, before);
}

TEST(invalid_ids_and_frames_are_not_found)
{
	struct stackmap_stack stack;
	char path[PATH_MAX];
	uint64_t offset;

	assert_int_equal(stackmap_client_find(client, 0, &stack, NULL, 0), -ENOENT);
	assert_int_equal(stackmap_client_place(client, ~0ULL, path, sizeof(path), &offset),
			 -ENOENT);
	assert_int_equal(stackmap_client_place(client, 0x1234, path, sizeof(path), &offset),
			 -ENOENT);
}

TEST(bits_out_of_range_are_an_error)
{
	struct stackmap_client *none = NULL;
	struct stackmap_error error;

	assert_int_equal(stackmap_client_open(programs->obj, 9, &none, &error), -ERANGE);
	assert_null(none);
}

/* Exit status of a test that cannot run here, or 0. */
static int start(void)
{
	struct stackmap_error error = {.message = "the programs cannot be loaded"};
	int result;

	programs = test_client_bpf__open();
	if (!programs)
		return 1;
	result = stackmap_client_open(programs->obj, STACKMAP_BITS_MIN, &client, &error);
	result = result ? result : test_client_bpf__load(programs);
	result = result ? result : stackmap_client_start(client, &error);
	if (result)
		puts(result == -EPERM ? "no permission to load BPF programs" : error.message);
	return result == -EPERM ? 77 : result != 0;
}

static void find_task_work(void)
{
	struct asked asked;

	ask(&asked, CLIENT_ASK);
	has_task_work = asked.question.result[0] != -EOPNOTSUPP;
}

int main(void)
{
	int failed = start();

	if (failed)
		return failed;
	find_task_work();
	failed = unit_tests_run();
	stackmap_client_close(&client);
	test_client_bpf__destroy(programs);
	return failed != 0;
}
