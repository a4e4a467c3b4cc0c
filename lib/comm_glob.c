/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fnmatch(3) decides which bytes match an element of a glob (a character, `?` or a set). */
#include "comm_glob.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

#define COMM_LENGTH_MAX (COMM_BYTES - 1)
#define STATES_MAX 64

static bool is_glob(const char *text)
{
	return strpbrk(text, "*?[\\");
}

bool comm_glob_matches(const char *glob, const char *comm)
{
	return is_glob(glob) ? !fnmatch(glob, comm, 0) : !strncmp(glob, comm, COMM_LENGTH_MAX);
}

/* Returns the end of the set "[...]" that begins at `set`; a bracket without an end is a
 * character. */
static const char *find_glob_set_end(const char *set)
{
	const char *at = set + 1;

	at += *at == '!' || *at == '^';
	at += *at == ']';
	for (; *at && *at != ']'; at++) {
		if (*at == '[' && at[1] && strchr(":.=", at[1])) {
			const char end[] = {at[1], ']', 0}, *found = strstr(at + 2, end);

			at = found ? found + 1 : at;
		} else if (*at == '\\' && at[1]) {
			at++;
		}
	}
	return *at ? at + 1 : set + 1;
}

static const char *find_glob_element_end(const char *at)
{
	if (*at == '[')
		return find_glob_set_end(at);
	return *at == '\\' && at[1] ? at + 2 : at + 1;
}

/* Counts the elements of a glob; stars are not elements. */
static u32 count_glob_elements(const char *glob)
{
	u32 count = 0;

	if (!is_glob(glob))
		return strnlen(glob, COMM_LENGTH_MAX);
	for (; *glob; glob = find_glob_element_end(glob))
		count += *glob != '*';
	return count;
}

static void set_bytes_that_enter_glob_state(struct comm_globs *globs, u32 state,
					    const char *element, size_t bytes)
{
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%.*s", (int)bytes, element);
	for (u32 byte = 1; byte < 256; byte++) {
		const char one[] = {(char)byte, 0};

		if (!fnmatch(text, one, 0))
			globs->enters[byte] |= 1ULL << state;
	}
}

/* Adds a glob of `count` elements to the automaton. The number of its first state is `state`. */
static void add_glob_to_automaton(struct comm_globs *globs, const char *glob, u32 count, u32 state)
{
	const u32 end = state + count;

	globs->first |= 1ULL << state;
	for (; *glob && (state < end || *glob == '*'); glob = find_glob_element_end(glob)) {
		if (*glob == '*')
			globs->stays |= 1ULL << state;
		else
			set_bytes_that_enter_glob_state(globs, ++state, glob,
							find_glob_element_end(glob) - glob);
	}
	globs->enters[0] |= 1ULL << (end + 1);
	globs->stays |= 1ULL << (end + 1);
	globs->last |= 1ULL << (end + 1);
}

int comm_globs_compile(const struct string_list *globs, struct comm_globs *out,
		       struct stackmap_error *error)
{
	struct comm_globs made = {};
	u32 states = 0;

	for (size_t i = 0; i < globs->count; i++) {
		u32 count = count_glob_elements(globs->items[i]);

		if (count > COMM_LENGTH_MAX)
			return error_set(error, ERANGE,
					 "--comm %s: the name of a task has 15 bytes at most",
					 globs->items[i]);
		if (states + count + 2 > STATES_MAX)
			return error_set(error, ERANGE,
					 "--comm %s: too many names; a glob may stand for several",
					 globs->items[i]);
		add_glob_to_automaton(&made, globs->items[i], count, states);
		states += count + 2;
	}
	*out = made;
	return 0;
}
