/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generated code is in anonymous memory. The mapping tells the process, and the name of the process
 * tells the runtime. An interpreter is recognised by the function of its loop or by its library:
 * these have names, so a stack without a single function of the script looks complete. An event
 * counts as unnamed if its stack has a frame of an interpreter and no frame of the script, neither
 * named by the interpreter nor read by the unwinder (abi/script.h).
 *
 * tests/e2e/symbol/test_runtimes.py runs each remedy.
 */
#include "runtime_hint.h"

#include <stdlib.h>
#include <string.h>

#include "script.h"

#define ANONYMOUS "[anon]"
#define UNREADABLE "this version of stackmap reads no functions of scripts from its interpreter"

enum runtime_id { JAVA, NODE, PYTHON, RUBY, PHP, PERL, DOTNET, ERLANG, OTHER, RUNTIMES };

/* `process` is a prefix of the process name; the last entry matches all names. */
static const struct runtime {
	const char *process, *name, *remedy;
} runtimes[RUNTIMES] = {
	[JAVA] = {"java", "Java code",
		  "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (from JDK 17 on, in "
		  "this order) names it if it ends during the recording, jcmd PID Compiler.perfmap "
		  "while it runs; -XX:+PreserveFramePointer makes its stacks whole"},
	[NODE] = {"node", "Node code", "node --perf-basic-prof names it"},
	[PYTHON] = {"python", "Python code", "python3 -X perf (from 3.12 on) names its functions"},
	[RUBY] = {"ruby", "Ruby code", UNREADABLE},
	[PHP] = {"php", "PHP code",
		 "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d "
		 "opcache.jit=function -d opcache.jit_debug=16 (from 8.0 on, with opcache) names "
		 "the functions that its JIT compiles"},
	[PERL] = {"perl", "Perl code", UNREADABLE},
	[DOTNET] = {"dotnet", ".NET code",
		    "DOTNET_PerfMapEnabled=1 in its environment (from .NET 6 on) names it"},
	[ERLANG] = {"beam", "Erlang code", "erl +JPperf true names it"},
	[OTHER] = {"", "generated code",
		   "a perf map (/tmp/perf-PID.map) or a jitdump that is written before the "
		   "recording ends names it"},
};

_Static_assert(RUNTIMES <= RUNTIME_HINTS_MAX, "there is room for all hints");

/* A frame belongs to the interpreter if its function begins with `loop`, or its file with
 * `file`, which a stripped library needs. Generated code whose name begins with one of `names`
 * belongs to the script. */
static const struct interpreter {
	enum runtime_id runtime;
	enum script_runtime script; /* runtime of the functions that the unwinder reads; their
				       labels are LABEL_NAMED(), too */
	const char *loop, *file;
	const char *names[2];
} interpreters[] = {
	{PYTHON, SCRIPT_CPYTHON, "_PyEval_EvalFrameDefault", NULL, {"py::"}},
	{RUBY, SCRIPT_RUBY, "rb_vm_exec", "libruby", {}},
	{PHP, SCRIPT_PHP, "execute_ex", NULL, {"JIT$", "TRACE-"}},
	{PERL, SCRIPT_PERL, "Perl_runops_", NULL, {}},
};

#define INTERPRETERS (sizeof(interpreters) / sizeof(*interpreters))

/* The number of events in code of one kind, and how many of them have a frame without a name. */
struct share {
	u64 events, unnamed;
};

/* Classes of a label, one bit each. */
#define LABEL_GENERATED 1U
#define LABEL_ADDRESS 2U /* the label is of generated code without a name */
#define LABEL_LOOP(i) (4U << 2 * (i))
#define LABEL_NAMED(i) (8U << 2 * (i))
#define LABEL_SCRIPT (1U << 31) /* the label is a function that the unwinder has named */

static bool begins_with(const char *text, const char *start)
{
	return start && !strncmp(text, start, strlen(start));
}

static u32 classify_label(const char *name, const char *object)
{
	const char *file = object ? frame_names_base_name(object) : "";
	bool is_generated = object && !strcmp(object, ANONYMOUS);
	u32 classes = is_generated ? LABEL_GENERATED : 0;

	if (is_generated && begins_with(name, "0x"))
		classes |= LABEL_ADDRESS;
	if (object && (script_runtime_by_name(object) == SCRIPT_JAVA ||
		       script_runtime_by_name(object) == SCRIPT_JAVA_COMPILED ||
		       script_runtime_by_name(object) == SCRIPT_JAVA_INLINED ||
		       script_runtime_by_name(object) == SCRIPT_V8 ||
		       script_runtime_by_name(object) == SCRIPT_V8_COMPILED ||
		       script_runtime_by_name(object) == SCRIPT_V8_INLINED))
		classes |= LABEL_SCRIPT;
	for (u32 i = 0; i < INTERPRETERS; i++) {
		const struct interpreter *interpreter = &interpreters[i];

		if (is_generated && (begins_with(name, interpreter->names[0]) ||
				     begins_with(name, interpreter->names[1])))
			classes |= LABEL_NAMED(i);
		if (interpreter->script && object &&
		    script_runtime_by_name(object) == interpreter->script)
			classes |= LABEL_NAMED(i);
		if (!is_generated &&
		    (begins_with(name, interpreter->loop) || begins_with(file, interpreter->file)))
			classes |= LABEL_LOOP(i);
	}
	return classes;
}

static void add_events_to_runtime_share(struct share *share, u64 events, bool is_met,
					bool is_unnamed)
{
	share->events += is_met ? events : 0;
	share->unnamed += is_unnamed ? events : 0;
}

/* Each label is classified once, since there are many more frames than labels. Without memory all
 * shares stay 0. */
static void sum_runtime_shares_of_profile(const struct profile *profile, struct share *generated,
					  struct share *interpreted)
{
	u32 count = frame_names_label_count(profile->names);
	u32 *classes = calloc(count + 1UL, sizeof(*classes));

	for (u32 i = 0; classes && i < count; i++)
		classes[i] = classify_label(frame_names_label(profile->names, i),
					    frame_names_label_object(profile->names, i));
	for (u32 i = 0; classes && i < profile->row_count; i++) {
		const struct profile_row *row = profile->rows[i];
		u32 met = 0;

		for (u32 j = 0; j < row->user->depth; j++)
			met |= classes[row->user->labels[j]];
		/* Stubs of Java and V8 never have names, so they do not cause the hint. */
		add_events_to_runtime_share(generated, row->count, met & LABEL_GENERATED,
					    (met & LABEL_ADDRESS) && !(met & LABEL_SCRIPT));
		for (u32 j = 0; j < INTERPRETERS; j++)
			add_events_to_runtime_share(
				&interpreted[j], row->count, met & (LABEL_LOOP(j) | LABEL_NAMED(j)),
				(met & LABEL_LOOP(j)) && !(met & LABEL_NAMED(j)));
	}
	free(classes);
}

/* True if at least half of the events in code of this kind are unnamed, and these are at least a
 * tenth of all events: enough for a hint. */
static bool is_unnamed_share_worth_hint(const struct share *share, const struct profile *profile)
{
	return share->unnamed && 2 * share->unnamed >= share->events &&
	       10 * share->unnamed >= profile->count;
}

/* Programs of .NET may have any name. The runtime names its own threads ".NET TP Worker", ".NET
 * Tiered Compilation Worker" and so on. */
static bool has_dotnet_thread(const struct trace_reader *reader, u32 tgid)
{
	const struct trace_task *tasks;
	u32 count = trace_reader_tasks(reader, &tasks);

	for (u32 i = 0; i < count; i++)
		if (tasks[i].tgid == tgid && begins_with(tasks[i].comm, ".NET "))
			return true;
	return false;
}

static void find_generating_runtimes(const struct trace_reader *reader, bool found[RUNTIMES])
{
	const struct trace_mapping *mappings;
	u32 count = trace_reader_mappings(reader, &mappings);

	for (u32 i = 0; i < count; i++) {
		const struct trace_task *task;
		u32 runtime = 0;

		if (mappings[i].kind != MAPPING_ANON || strcmp(mappings[i].path, ANONYMOUS) != 0)
			continue;
		task = trace_reader_task(reader, mappings[i].tgid, UINT64_MAX);
		while (task && !begins_with(task->comm, runtimes[runtime].process))
			runtime++;
		if (runtime == OTHER && has_dotnet_thread(reader, mappings[i].tgid))
			runtime = DOTNET;
		found[task ? runtime : OTHER] = true;
	}
}

u32 runtime_hints(const struct trace_reader *reader, const struct profile *profile,
		  struct runtime_hint hints[RUNTIME_HINTS_MAX])
{
	struct share generated = {}, interpreted[INTERPRETERS] = {};
	bool found[RUNTIMES] = {};
	u32 count = 0;

	sum_runtime_shares_of_profile(profile, &generated, interpreted);
	if (is_unnamed_share_worth_hint(&generated, profile))
		find_generating_runtimes(reader, found);
	for (u32 i = 0; i < INTERPRETERS; i++)
		found[interpreters[i].runtime] |=
			is_unnamed_share_worth_hint(&interpreted[i], profile);
	for (u32 i = 0; i < RUNTIMES; i++)
		if (found[i])
			hints[count++] =
				(struct runtime_hint){runtimes[i].name, runtimes[i].remedy};
	return count;
}
