/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the layout that the reader of an interpreter's file finds, as lines "member number".
 * Exits with 1 where it finds none; the lines have the runtime and version then.
 *
 * usage: script_layout FILE
 */
#include <fcntl.h>
#include <stdio.h>

#include "symbol/unwind/code_rows.h"

#define MEMBERS(X)                                                                                 \
	X(runtime)                                                                                 \
	X(version)                                                                                 \
	X(link_kind)                                                                               \
	X(link)                                                                                    \
	X(entry)                                                                                   \
	X(frame_code)                                                                              \
	X(frame_previous)                                                                          \
	X(frame_place)                                                                             \
	X(frame_bytes)                                                                             \
	X(entry_mark)                                                                              \
	X(entry_value)                                                                             \
	X(entry_mask)                                                                              \
	X(thread_frame)                                                                            \
	X(thread_next)                                                                             \
	X(thread_id)                                                                               \
	X(threads)                                                                                 \
	X(code_type)                                                                               \
	X(code_body)                                                                               \
	X(code_name)                                                                               \
	X(code_file)                                                                               \
	X(code_owner)                                                                              \
	X(code_lines)                                                                              \
	X(code_count)                                                                              \
	X(code_number)                                                                             \
	X(code_unit)                                                                               \
	X(first_line)                                                                              \
	X(owner_name)                                                                              \
	X(text_ascii)                                                                              \
	X(text_wide)

int main(int argc, char **argv)
{
	struct code_rows rows = {};
	int file = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (file < 0 || code_rows_read_unanalysed(file, &rows)) {
		fprintf(stderr, "script_layout: no unwind table in %s\n",
			argc == 2 ? argv[1] : "FILE");
		return 2;
	}
#define X(member) printf(#member " %lld\n", (long long)rows.script.member);
	MEMBERS(X)
#undef X
	return !rows.script.link;
}
