/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls, as syscalls:sys_enter_NAME and syscalls:sys_exit_NAME. The kernel has one
 * tracepoint for all entries and one for all exits, so a source needs the number of the call and no
 * tracefs.
 *
 * The names of calls come from the compiler's headers at build time (syscall_names.sh). The kernel
 * names an event after the function that implements the call, which has another name for a few old
 * calls.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch/host.h"
#include "capture/feature/tracefs.h"
#include "source_ops.h"
#include "syscall_numbers.h"
#include "tracepoint.h"

#define NAME_BYTES 96

/* Offset of the arguments, a word each, in the record that tracefs describes; the number of the
 * call precedes them. */
#define ARGUMENTS_OFFSET 16

struct syscall_entry {
	const char *name;  /* name in the kernel's event, for example newstat */
	const char *alias; /* name in the manual page, if it differs, for example stat; or NULL */
	u32 number;
};

#define SYSCALL(call) {.name = #call, .number = __NR_##call},

static struct syscall_entry table[] = {
#include "syscall_names.h"
};

#define TABLE_COUNT (sizeof(table) / sizeof(table[0]))

static const struct {
	const char *call;
	const char *event;
} renamed[] = {{"stat", "newstat"},   {"fstat", "newfstat"},	  {"lstat", "newlstat"},
	       {"uname", "newuname"}, {"sendfile", "sendfile64"}, {"umount2", "umount"},
	       SYSCALL_EVENTS};

struct search {
	struct source_query *query;
	source_visit visit;
	void *arg;
	int events; /* descriptor of the directory `events` of tracefs, which has the fields of
		       records; or -errno */
	struct stackmap_error *error;
};

static void format_event_name(char *name, bool on_return, const char *call)
{
	snprintf(name, NAME_BYTES, "syscalls:sys_%s_%s", on_return ? "exit" : "enter", call);
}

struct call {
	const struct search *search;
	const struct source *source;
};

static int find_field_number(void *arg, const char *name, struct source_number *out,
			     struct stackmap_error *error)
{
	static const u32 arguments[QUESTION_ARGUMENTS] = SYSCALL_ARGUMENTS;
	const struct call *call = arg;
	struct tracepoint_field found;
	u32 argument;
	int err;

	/* Each system call has a result `ret`, also if tracefs does not know the call. */
	if (call->source->on_return && !strcmp(name, "ret"))
		return question_find_register(name, true, &out->number);
	err = tracepoint_field_find(call->search->events, call->source->name, name,
				    call->search->query->subject, &found, error);
	if (err)
		return err;
	*out = tracepoint_field_number(&found);
	argument = (found.offset - ARGUMENTS_OFFSET) / sizeof(u64);
	out->number.offset = call->source->on_return || argument >= QUESTION_ARGUMENTS
				     ? question_result_offset()
				     : arguments[argument];
	return 0;
}

static int visit_matching_system_call(const struct search *search,
				      const struct syscall_entry *entry, bool on_return)
{
	struct name_match *match = &search->query->match;
	char name[NAME_BYTES], alias[NAME_BYTES] = "";
	struct source source = {
		.type = SOURCE_SYSCALL,
		.name = name,
		.on_return = on_return,
		.syscall = entry->number,
	};
	struct call call = {search, &source};
	int err;

	format_event_name(name, on_return, entry->name);
	if (entry->alias)
		format_event_name(alias, on_return, entry->alias);
	if (!name_match_compare_name(match, name) &&
	    !(alias[0] && name_match_compare_name(match, alias)))
		return 0;
	err = question_resolve(&search->query->asks, search->query->subject, find_field_number,
			       &call, &source, search->error);
	return err ?: search->visit(search->arg, &source);
}

static int find_system_calls(struct source_query *query, source_visit visit, void *arg,
			     struct stackmap_error *error)
{
	struct search search = {query, visit, arg, -ENOENT, error};
	int err = 0;

	for (size_t i = 0; i < TABLE_COUNT; i++)
		for (size_t j = 0; j < sizeof(renamed) / sizeof(renamed[0]); j++) {
			if (strcmp(table[i].name, renamed[j].call))
				continue;
			table[i].alias = renamed[j].call;
			table[i].name = renamed[j].event;
		}
	if (query->asks.name || query->asks.count)
		search.events = tracefs_open_events();
	for (size_t i = 0; i < 2 * TABLE_COUNT && !err; i++)
		err = visit_matching_system_call(&search, &table[i % TABLE_COUNT],
						 i >= TABLE_COUNT);
	if (search.events >= 0)
		close(search.events);
	return err;
}

const struct source_ops source_syscall_ops = {
	.group = "system call",
	.find = find_system_calls,
};
