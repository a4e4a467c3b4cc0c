/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of running code. No event is recorded, but each execve on the machine numbers the new
 * program's code. The other process of this test therefore never calls execve.
 */
#include "files_instance.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/instance/running_code.h"
#include "capture/load/skeleton.h"
#include "deferral.h"
#include "symbol/symbolizer/symbolizers.h"
#include "unit_test.h"

#define PATIENCE_MS 60000 /* a limit for busy machines */

static pid_t other;

static void request_tables_of_running_code(u64 pid, u32 ms)
{
	struct number_range range = {.first = pid, .last = pid};
	const struct number_list pids = {.ranges = &range, .count = pid ? 1 : 0};

	running_code_await_tables(&capture->loaded, capture_symbolizers(capture), &pids, ms);
}

static bool has_other_program_mapping_number(void)
{
	return number_of("/sleep");
}

static int begin_with_other(void **state)
{
	other = fork();
	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "sleep", "1000", NULL);
		_exit(127);
	}
	return other < 0 ? -1 : begin_unwinding(state);
}

static int end_with_other(void **state)
{
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return end(state);
}

TEST(own_code_has_tables, begin_with_other, end_with_other)
{
	request_tables_of_running_code(getpid(), PATIENCE_MS);
	assert_true(has_table("/test_running_code"));
	assert_true(has_table("/libc.so.6"));
	assert_int_equal(
		loaded_mapping_record(&capture->loaded, number_of("/test_running_code"))->tgid,
		getpid());
}

/* Only the code of the requested process has numbers. */
TEST(code_of_others_has_no_numbers, begin_with_other, end_with_other)
{
	request_tables_of_running_code(getpid(), PATIENCE_MS);
	assert_false(has_other_program_mapping_number());
	request_tables_of_running_code(0, 0);
	assert_true(has_other_program_mapping_number());
}

TEST(an_ended_process_has_no_code, begin_with_other, end_with_other)
{
	request_tables_of_running_code(INT_MAX, PATIENCE_MS);
	assert_false(has_other_program_mapping_number());
}

/* The kernel maps the program at low addresses and the linker at high ones; the linker maps the
 * libraries at high addresses, too. */
TEST(the_highest_mappings_have_tables_first, begin_with_other, end_with_other)
{
	struct number_range range = {.first = other, .last = other};
	const struct number_list pids = {.ranges = &range, .count = 1};
	struct symbolizers *symbolizers = capture_symbolizers(capture);

	for (u32 most = 1; !has_table("/libc.so.6") && most < 10; most++) {
		assert_false(has_table("/sleep"));
		running_code_request_tables(&capture->loaded, symbolizers, &pids, most);
		while (symbolizers_have_pending_tables(symbolizers)) {
			symbolizers_wait(symbolizers, 10);
			assert_int_equal(running_code_take_answers(symbolizers), 0);
		}
	}
	assert_true(has_table("/ld-linux"));
	assert_true(has_table("/libc.so.6"));
	assert_false(has_table("/sleep"));
}

/* Half of the numbers are left to events. */
TEST(some_numbers_are_left_to_events, begin_with_other, end_with_other)
{
	int map = bpf_map__fd(loaded_programs(&capture->loaded)->maps.engine_state);
	struct engine_state engine;
	u32 zero = 0;

	assert_int_equal(bpf_map_lookup_elem(map, &zero, &engine), 0);
	engine.mapping_last = MAPPINGS_MAX / 2;
	assert_int_equal(bpf_map_update_elem(map, &zero, &engine, BPF_ANY), 0);
	request_tables_of_running_code(other, PATIENCE_MS);
	assert_false(has_other_program_mapping_number());
}
