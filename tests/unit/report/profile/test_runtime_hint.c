/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hint says how to get names, for the right runtime, if enough events lack names. */
#include "report/profile/runtime_hint.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "script.h"
#include "trace/write/memory_recording.h"
#include "unit_test.h"

#define TGID 10
#define CODE 0x100
#define INTERPRETER 0x1000

enum { PROGRAM = 1, GENERATED };

/* `unnamed` events in generated code at CODE, which a symbol names if there is one, and `others` in
 * the program. */
struct content {
	const char *process;
	u32 unnamed, others;
	const char *generated, *program; /* names of functions, or NULL */
	bool calls;			 /* code of the program calls the generated code */
	const char *file;		 /* file of the program, or NULL */
	const char *object;		 /* of the generated code; NULL: "[anon]" */
	const char *thread;		 /* name of the second thread, or NULL */
};

static int write_names(struct trace_writer *writer, const struct content *content)
{
	const struct trace_source source = {
		.name = "cpu-clock", .extras = TRACE_EXTRA_LEAF, .value_unit = ""};
	const struct trace_mapping program = {.number = PROGRAM,
					      .kind = MAPPING_FILE,
					      .tgid = TGID,
					      .path = content->file ?: "/bin/x"};
	const struct trace_mapping generated = {.number = GENERATED,
						.kind = MAPPING_ANON,
						.tgid = TGID,
						.base = 0x7f0000000000,
						.path = content->object ?: "[anon]"};
	const struct trace_symbol own = {
		.mapping = PROGRAM, .start = INTERPRETER, .size = 64, .name = content->program};
	const struct trace_symbol made = {
		.mapping = GENERATED, .start = CODE, .size = 64, .name = content->generated};
	struct trace_task leader = {.tid = TGID, .tgid = TGID},
			  thread = {.tid = TGID + 1, .tgid = TGID, .comm = "Thread-0"};
	int err = trace_writer_source(writer, &source) ?: trace_writer_mapping(writer, &program);

	snprintf(leader.comm, sizeof(leader.comm), "%s", content->process);
	if (content->thread)
		snprintf(thread.comm, sizeof(thread.comm), "%s", content->thread);
	err = err ?: trace_writer_mapping(writer, &generated) ?: trace_writer_task(writer, &leader) ?: trace_writer_task(writer, &thread);
	if (!err && content->program)
		err = trace_writer_symbol(writer, &own);
	if (!err && content->generated)
		err = trace_writer_symbol(writer, &made);
	return err;
}

static int write_event(struct trace_writer *writer, u64 leaf, u64 time, u32 stack)
{
	const struct trace_event event = {.time = time,
					  .tid = TGID + 1,
					  .leaf = leaf,
					  .kernel = TRACE_NO_STACK,
					  .kernel_reason = REASON_NOT_ASKED,
					  .user = stack,
					  .user_reason = REASON_NO_FRAMES};

	return trace_writer_event(writer, &event);
}

static int write_content(struct trace_writer *writer, const struct content *content)
{
	const u64 caller = FRAME_USER(PROGRAM, INTERPRETER + 8);
	const struct trace_stack stack = {.flags = STACK_USER, .depth = 1, .frames = &caller};
	u32 callers = TRACE_NO_STACK;
	int err = write_names(writer, content);

	if (!err && content->calls)
		err = trace_writer_stack(writer, &stack, &callers);
	for (u32 i = 0; i < content->unnamed && !err; i++)
		err = write_event(writer, FRAME_USER(GENERATED, CODE), 1 + i, callers);
	for (u32 i = 0; i < content->others && !err; i++)
		err = write_event(writer, FRAME_USER(PROGRAM, INTERPRETER), 1000 + i,
				  TRACE_NO_STACK);
	return err;
}

static u32 hints_of(const struct content *content, struct runtime_hint *hints)
{
	static const struct trace_info info = {
		.hostname = "", .command = "", .kernel = "", .machine = "", .version = ""};
	const struct event_filter all = {};
	const struct frame_naming naming = {};
	struct memory_recording recording;
	struct trace_reader *reader;
	struct profile *profile;
	u32 count;

	assert_int_equal(memory_recording_begin(&recording, "hints", &info, NULL), 0);
	assert_int_equal(write_content(recording.writer, content), 0);
	assert_int_equal(memory_recording_end(&recording, &reader, NULL), 0);
	assert_int_equal(profile_create(reader, &all, &naming, &profile, NULL), 0);
	count = runtime_hints(reader, profile, hints);
	profile_free(&profile);
	trace_reader_close(&reader);
	return count;
}

static void check(const struct content *content, const char *name, const char *remedy)
{
	struct runtime_hint hints[RUNTIME_HINTS_MAX];
	u32 count = hints_of(content, hints);

	assert_int_equal(count, name ? 1 : 0);
	if (!name)
		return;
	assert_string_equal(hints[0].name, name);
	assert_non_null(strstr(hints[0].remedy, remedy));
}

/* The runtime is found by the name of the first thread, not of the running one. */
TEST(each_runtime_has_its_remedy)
{
	check(&(struct content){"java", 5, 5}, "Java code",
	      "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit");
	check(&(struct content){"node", 5, 5}, "Node code", "--perf-basic-prof");
	check(&(struct content){"ruby3.1", 5, 5}, "Ruby code", "reads no functions of scripts");
	check(&(struct content){"php-fpm8.2", 5, 5}, "PHP code", "opcache.jit_debug");
	check(&(struct content){"dotnet", 5, 5}, ".NET code", "DOTNET_PerfMapEnabled=1");
	check(&(struct content){"azmcp", 5, 5, .thread = ".NET TP Worker"}, ".NET code",
	      "DOTNET_PerfMapEnabled=1");
	check(&(struct content){"beam.smp", 5, 5}, "Erlang code", "erl +JPperf true");
	check(&(struct content){"luajit", 5, 5}, "generated code", "/tmp/perf-PID.map");
}

TEST(code_with_names_gets_no_hint)
{
	check(&(struct content){"java", 5, 5, "Main.run"}, NULL, NULL);
	check(&(struct content){"java", 0, 5}, NULL, NULL);
}

/* Code of the machine's own between functions that a walk has named. */
TEST(stubs_among_named_functions_get_no_hint)
{
	check(&(struct content){"java", 5, 0, NULL, "Main.run", true, SCRIPT_NAME_JAVA}, NULL,
	      NULL);
	check(&(struct content){"java", 5, 0, NULL, "Main.run", true, SCRIPT_NAME_JAVA_COMPILED},
	      NULL, NULL);
	check(&(struct content){"java", 5, 0, NULL, "main", true}, "Java code", "-XX:");
	check(&(struct content){"node", 5, 0, NULL, "main (t.js)", true, SCRIPT_NAME_V8}, NULL,
	      NULL);
	check(&(struct content){"node", 5, 0, NULL, "f (t.js)", true, SCRIPT_NAME_V8_COMPILED},
	      NULL, NULL);
}

TEST(rare_code_gets_no_hint)
{
	check(&(struct content){"java", 1, 10}, NULL, NULL);
	check(&(struct content){"java", 1, 9}, "Java code", "-XX:");
}

TEST(interpreters_are_recognized_by_their_loop)
{
	static const char loop[] = "_PyEval_EvalFrameDefault";
	static const char php_loop[] = "execute_ex";

	check(&(struct content){"app.py", 0, 5, NULL, loop}, "Python code", "-X perf");
	check(&(struct content){"app.py", 5, 0, "py::main:/app.py", loop, true}, NULL, NULL);
	check(&(struct content){"app.py", 0, 5, NULL, "main"}, NULL, NULL);
	check(&(struct content){"app.py", 5, 0, "main (app.py:1)", loop, true, NULL,
				SCRIPT_NAME_CPYTHON},
	      NULL, NULL);
	check(&(struct content){"app.py", 1, 5, "main (app.py:1)", loop, false, NULL,
				SCRIPT_NAME_CPYTHON},
	      "Python code", "-X perf");
	check(&(struct content){"worker", 0, 5, NULL, "rb_vm_exec"}, "Ruby code", "reads no");
	check(&(struct content){"worker", 0, 5, NULL, "Perl_runops_standard"}, "Perl code",
	      "reads no");
	check(&(struct content){"worker", 5, 0, "main::f (f.pl:1)", "Perl_runops_standard", true,
				NULL, SCRIPT_NAME_PERL},
	      NULL, NULL);
	check(&(struct content){"worker", 0, 5, NULL, php_loop}, "PHP code", "opcache.jit_debug");
	check(&(struct content){"worker", 5, 0, "JIT$main", php_loop, true}, NULL, NULL);
	check(&(struct content){"worker", 5, 0, "TRACE-1$main$2", php_loop, true}, NULL, NULL);
}

/* The library of Debian 13 has no symbol for its loop. */
TEST(ruby_is_recognized_by_its_library)
{
	const struct content content = {
		"worker", 0, 5, NULL, NULL, false, "/usr/lib/libruby-3.3.so.3.3.8"};

	check(&content, "Ruby code", "reads no");
}
