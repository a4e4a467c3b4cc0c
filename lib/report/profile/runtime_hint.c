/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generated code lies in anonymous memory, whose mapping knows its process; the name of that tells
 * the runtime. An interpreter's own functions have names, and so it looks as if all was well:
 * Python that was asked for names has frames of its functions between those of its loop.
 */
#include "runtime_hint.h"

#include <stdlib.h>
#include <string.h>

#define ANONYMOUS "[anon]"
#define PYTHON_LOOP "_PyEval_EvalFrameDefault"
#define PYTHON_PREFIX "py::" /* of the names that it gives */

/* By what the name of the process begins with; the last is for all others. */
static const struct runtime {
	const char *process, *name, *remedy;
} runtimes[] = {
	{"java", "Java code",
	 "java -XX:+DumpPerfMapAtExit (from JDK 17 on) or an agent that writes a perf map names "
	 "it; -XX:+PreserveFramePointer makes its stacks whole"},
	{"node", "Node code", "node --perf-basic-prof names it"},
	{"python", "Python code", "python3 -X perf (from 3.12 on) names its functions"},
	{"ruby", "Ruby code", "ruby --yjit --yjit-perf (from 3.3 on) names it"},
	{"php", "PHP code", "opcache.jit_debug=16 in php.ini names it"},
	{"dotnet", ".NET code", "DOTNET_PerfMapEnabled=1 in its environment names it"},
	{"beam", "Erlang code", "erl +JPperf true names it"},
	{"", "generated code",
	 "a perf map (/tmp/perf-PID.map) or a jitdump that is written before the recording ends "
	 "names it"},
};

#define RUNTIMES (sizeof(runtimes) / sizeof(*runtimes))
#define PYTHON 2

_Static_assert(RUNTIMES <= RUNTIME_HINTS_MAX, "there is room for all hints");

/* Of the events in code of a kind those in which some of it has no name. */
struct share {
	u64 events, unnamed;
};

enum label_class {
	LABEL_GENERATED = 1 << 0,
	LABEL_ADDRESS = 1 << 1, /* generated, and without a name */
	LABEL_PYTHON_LOOP = 1 << 2,
	LABEL_PYTHON_NAME = 1 << 3,
};

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static u8 classify(const char *name, const char *object)
{
	if (object && !strcmp(object, ANONYMOUS))
		return LABEL_GENERATED | (begins(name, "0x") ? LABEL_ADDRESS : 0) |
		       (begins(name, PYTHON_PREFIX) ? LABEL_PYTHON_NAME : 0);
	return begins(name, PYTHON_LOOP) ? LABEL_PYTHON_LOOP : 0;
}

/* By label, as there are many more frames; NULL without memory. */
static u8 *classify_all(const struct frame_names *names)
{
	u32 count = frame_names_label_count(names);
	u8 *classes = calloc(count + 1UL, 1);

	for (u32 i = 0; classes && i < count; i++)
		classes[i] =
			classify(frame_names_label(names, i), frame_names_label_object(names, i));
	return classes;
}

static void add(struct share *share, u64 events, bool is_met, bool is_unnamed)
{
	share->events += is_met ? events : 0;
	share->unnamed += is_unnamed ? events : 0;
}

static void count_row(const struct profile_row *row, const u8 *classes, struct share *generated,
		      struct share *python)
{
	u8 met = 0;

	for (u32 i = 0; i < row->user->depth; i++)
		met |= classes[row->user->labels[i]];
	add(generated, row->count, met & LABEL_GENERATED, met & LABEL_ADDRESS);
	add(python, row->count, met & LABEL_PYTHON_LOOP,
	    met & LABEL_PYTHON_LOOP && !(met & LABEL_PYTHON_NAME));
}

static void count_rows(const struct profile *profile, struct share *generated, struct share *python)
{
	u8 *classes = classify_all(profile->names);

	for (u32 i = 0; classes && i < profile->row_count; i++)
		count_row(profile->rows[i], classes, generated, python);
	free(classes);
}

/* Half of them, and a tenth of all: worth a word. */
static bool is_large(const struct share *share, const struct profile *profile)
{
	return share->unnamed && 2 * share->unnamed >= share->events &&
	       10 * share->unnamed >= profile->count;
}

static u32 runtime_of(const struct trace_reader *reader, u32 tgid)
{
	const struct trace_task *task = trace_reader_task(reader, tgid, UINT64_MAX);
	u32 i = 0;

	while (task && strncmp(task->comm, runtimes[i].process, strlen(runtimes[i].process)))
		i++;
	return task ? i : RUNTIMES - 1;
}

static void find_generators(const struct trace_reader *reader, bool found[RUNTIMES])
{
	const struct trace_mapping *mappings;
	u32 count = trace_reader_mappings(reader, &mappings);

	for (u32 i = 0; i < count; i++)
		if (mappings[i].kind == MAPPING_ANON)
			found[runtime_of(reader, mappings[i].tgid)] = true;
}

u32 runtime_hints(const struct trace_reader *reader, const struct profile *profile,
		  struct runtime_hint hints[RUNTIME_HINTS_MAX])
{
	struct share generated = {}, python = {};
	bool found[RUNTIMES] = {};
	u32 count = 0;

	count_rows(profile, &generated, &python);
	if (is_large(&generated, profile))
		find_generators(reader, found);
	found[PYTHON] |= is_large(&python, profile);
	for (u32 i = 0; i < RUNTIMES; i++)
		if (found[i])
			hints[count++] =
				(struct runtime_hint){runtimes[i].name, runtimes[i].remedy};
	return count;
}
