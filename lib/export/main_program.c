/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stack is from the program in which its outermost frames lie. Libraries are passed over, since
 * threads begin in the C library. Events of offcpu-waker do not count: their tasks are whoever
 * ended a wait of the tasks that are recorded.
 */
#include "main_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAKER "offcpu-waker"
#define UNKNOWN 0 /* a stack that was not looked at yet */
#define NO_PROGRAM 1
#define FIRST_PROGRAM 2 /* and on: the index of its mapping */

struct main_program {
	struct trace_reader *reader;
	const struct trace_source *sources;
	const struct trace_stack *stacks;
	const struct trace_mapping *mappings;
	u32 mapping_count;
	u32 *program_of; /* by stack */
	u64 *events;	 /* by mapping */
};

static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *end = strstr(slash ? slash : path, ".so");

	return end && (!end[3] || end[3] == '.');
}

static u32 find_program(const struct main_program *program, const struct trace_stack *stack)
{
	for (u32 i = stack->depth; i-- > 0;) {
		const struct trace_mapping *mapping =
			trace_reader_mapping(program->reader, FRAME_MAPPING(stack->frames[i]));

		if (mapping && mapping->kind == MAPPING_FILE && !is_library(mapping->path))
			return (u32)(mapping - program->mappings) + FIRST_PROGRAM;
	}
	return NO_PROGRAM;
}

void main_program_count(struct main_program *program, const struct trace_event *event)
{
	u32 *found;

	if (event->user == TRACE_NO_STACK || !strcmp(program->sources[event->kind].name, WAKER))
		return;
	found = &program->program_of[event->user];
	if (*found == UNKNOWN)
		*found = find_program(program, &program->stacks[event->user]);
	if (*found >= FIRST_PROGRAM)
		program->events[*found - FIRST_PROGRAM] += event_stands_for(event);
}

const struct trace_mapping *main_program_find(const struct main_program *program)
{
	u32 most = 0;

	for (u32 i = 0; i < program->mapping_count; i++)
		if (program->events[i] > program->events[most])
			most = i;
	return program->mapping_count && program->events[most] ? &program->mappings[most] : NULL;
}

int main_program_create(struct trace_reader *reader, struct main_program **out)
{
	struct main_program *program = calloc(1, sizeof(*program));
	u32 stack_count;

	if (!program)
		return -ENOMEM;
	program->reader = reader;
	trace_reader_sources(reader, &program->sources);
	stack_count = trace_reader_stacks(reader, &program->stacks);
	program->mapping_count = trace_reader_mappings(reader, &program->mappings);
	program->program_of = calloc(stack_count + 1UL, sizeof(*program->program_of));
	program->events = calloc(program->mapping_count + 1UL, sizeof(*program->events));
	if (!program->program_of || !program->events) {
		main_program_free(&program);
		return -ENOMEM;
	}
	*out = program;
	return 0;
}

void main_program_free(struct main_program **program)
{
	if (!*program)
		return;
	free((*program)->program_of);
	free((*program)->events);
	free(*program);
	*program = NULL;
}
