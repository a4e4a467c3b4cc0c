/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * empty_program NAME [FILE FUNCTION]: attaches one of the programs of empty_program.bpf.c until
 * standard input ends; `user_function` to a function of a file. "ready" on standard output: the
 * program is attached.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "empty_program.skel.h"

static struct bpf_link *attach(struct bpf_program *program, char **function)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .func_name = function[0] ? function[1] : NULL);

	if (!function[0])
		return bpf_program__attach(program);
	return bpf_program__attach_uprobe_opts(program, -1, function[0], 0, &options);
}

int main(int argc, char **argv)
{
	struct empty_program_bpf *bpf = argc == 2 || argc == 4 ? empty_program_bpf__open() : NULL;
	struct bpf_program *program, *chosen = NULL;
	struct bpf_link *link = NULL;
	char end;

	if (!bpf)
		return 2;
	bpf_object__for_each_program(program, bpf->obj)
	{
		bool is_chosen = !strcmp(bpf_program__name(program), argv[1]);

		bpf_program__set_autoload(program, is_chosen);
		if (is_chosen)
			chosen = program;
	}
	if (chosen && !empty_program_bpf__load(bpf))
		link = attach(chosen, argv + 2);
	if (!link) {
		fprintf(stderr, "empty_program %s: it could not be attached\n", argv[1]);
		empty_program_bpf__destroy(bpf);
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		continue;
	bpf_link__destroy(link);
	empty_program_bpf__destroy(bpf);
	return 0;
}
