/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time to unwind the first stack of a new process, 20 frames, in the callback before it returns
 * to user mode, or at the event. There are four kinds of new processes; the first three alternate:
 *
 *   known    its program and libraries have been unwound before, in other processes: rules are
 *            cached, its own pages are not mapped yet
 *   program  a copy of the program that was never seen: its tables are read, libraries are known
 *   all      no rule of anything is cached
 *   tables   the same, but program and C library have tables of the whole file: unwound at the
 * event
 *
 * Files are in the page cache. The time to schedule the callback is not counted.
 *
 *   user_cold [ROUNDS]
 *
 * Exit: 0, 1 failed, 2 wrong usage, 77 not possible here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "mapping.h"
#include "rule.h"
#include "rule_cache.h"
#include "stack.h"
#include "stack_table.h"
#include "symbol/symbolizer/table_publish.h"
#include "user_cold.h"
#include "user_cold.skel.h"

#define SKIP 77
#define TARGET_US 20
#define TARGET_TABLES_US 15
#define ROUNDS_DEFAULT 201

enum way { KNOWN, PROGRAM, ALL, TABLES, WAYS };

static const char *const way_name[WAYS] = {
	[KNOWN] = "program known",
	[PROGRAM] = "new program",
	[ALL] = "nothing known",
	[TABLES] = "new program with a table",
};

struct cold {
	struct user_cold_bpf *bpf;
	struct rule_cache *rules;
	char folder[32];
	double *us[WAYS];
};

static int file_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	struct stat status;
	int result = -1;

	if (in >= 0 && out >= 0 && !fstat(in, &status) &&
	    sendfile(out, in, NULL, status.st_size) == status.st_size)
		result = 0;
	close(in);
	close(out);
	return result;
}

/* The child waits until the BPF program knows its pid. */
static pid_t process_start(const char *path, int *go)
{
	int wait[2];
	pid_t pid;
	char byte;

	if (pipe2(wait, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		close(wait[1]);
		if (read(wait[0], &byte, 1) == 1)
			execl(path, path, NULL);
		_exit(127);
	}
	close(wait[0]);
	*go = wait[1];
	return pid;
}

/* The mapping number of a file; 0: the programs have not met the file. */
static u32 number_of(struct cold *cold, const struct stat *file)
{
	int records = bpf_map__fd(cold->bpf->maps.mappings);
	struct mapping_record record;

	for (u32 number = MAPPINGS_MAX - 1; number; number--)
		if (!bpf_map_lookup_elem(records, &number, &record) &&
		    record.key.kind == MAPPING_FILE && record.key.inode == file->st_ino)
			return number;
	return 0;
}

static int table_make(struct cold *cold, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), result = -1;
	struct code_rows rows = {};
	struct file_table table = {};
	struct stat status;

	if (file >= 0 && !fstat(file, &status) && !code_rows_read(file, &rows) &&
	    !file_table_pack(&rows, &table))
		result = table_publish(bpf_map__fd(cold->bpf->maps.file_tables),
				       number_of(cold, &status), &table);
	code_rows_clear(&rows);
	file_table_clear(&table);
	close(file);
	return result;
}

/* Returns microseconds, or a negative number on failure. */
static double process_unwind(struct cold *cold, const char *path, bool is_direct)
{
	struct cold_control *control = &cold->bpf->bss->control;
	int go, status;
	pid_t pid = process_start(path, &go);

	if (pid < 0)
		return -1;
	memset(control, 0, sizeof(*control));
	control->is_direct = is_direct;
	control->tgid = pid;
	if (write(go, "", 1) != 1)
		return -1;
	close(go);
	if (waitpid(pid, &status, 0) != pid || status || !control->elapsed_ns)
		return -1;
	if (control->stop != STOP_ROOT || control->depth != COLD_DEPTH) {
		fprintf(stderr, "user_cold: %u frames, stop %u\n", control->depth, control->stop);
		return -1;
	}
	return control->elapsed_ns / 1000.0;
}

/* A first process gives the files their numbers. */
static double tables_run(struct cold *cold, const char *copy)
{
	Dl_info libc;

	if (process_unwind(cold, copy, false) < 0 || table_make(cold, copy) ||
	    !dladdr(getppid, &libc) || table_make(cold, libc.dli_fname))
		return -1;
	memset(cold->rules, 0, sizeof(*cold->rules));
	return process_unwind(cold, copy, true);
}

static double way_run(struct cold *cold, enum way way)
{
	char copy[64];
	double us;

	if (way == KNOWN)
		return process_unwind(cold, USER_COLD_PROCESS, false);
	if (way == ALL)
		memset(cold->rules, 0, sizeof(*cold->rules));
	snprintf(copy, sizeof(copy), "%s/process", cold->folder);
	if (file_copy(USER_COLD_PROCESS, copy))
		return -1;
	us = way == TABLES ? tables_run(cold, copy) : process_unwind(cold, copy, false);
	unlink(copy);
	return us;
}

/* A last process, which is not measured, fills the caches that ALL has emptied. */
static int round_run(struct cold *cold, int i, enum way first, enum way end)
{
	if (process_unwind(cold, USER_COLD_PROCESS, false) < 0)
		return -1;
	for (enum way way = first; way < end; way++) {
		cold->us[way][i] = way_run(cold, way);
		if (cold->us[way][i] < 0)
			return -1;
	}
	return 0;
}

/* The tables come after all other rounds: making a table takes milliseconds and empties the CPU's
 * caches for the next round. */
static int rounds_run(struct cold *cold, int rounds)
{
	int result = 0;

	for (int i = 0; i < rounds && !result; i++)
		result = round_run(cold, i, KNOWN, TABLES);
	for (int i = 0; i < rounds && !result; i++)
		result = round_run(cold, i, TABLES, WAYS);
	return result;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void way_print(struct cold *cold, enum way way, int rounds)
{
	double *us = cold->us[way];

	qsort(us, rounds, sizeof(*us), by_value);
	printf("%-24s best %6.1f us, median %6.1f us, worst %6.1f us\n", way_name[way], us[0],
	       us[rounds / 2], us[rounds - 1]);
}

static void figure_print(const struct cold *cold, enum way way, int rounds, int target)
{
	double median = cold->us[way][rounds / 2];

	printf("FIGURE\tus to unwind %u frames of a new process, %s\t%.1f\t<= %d\t%s\n", COLD_DEPTH,
	       way_name[way], median, target, median <= target ? "met" : "missed");
}

static int program_load(struct cold *cold)
{
	int code;

	cold->bpf = user_cold_bpf__open();
	if (!cold->bpf)
		return -errno;
	cold->bpf->rodata->config.max_user_depth = STACK_USER_DEPTH_MAX;
	bpf_map__set_max_entries(cold->bpf->maps.scratch_slots, libbpf_num_possible_cpus());
	bpf_map__set_max_entries(cold->bpf->maps.steps, libbpf_num_possible_cpus());
	code = user_cold_bpf__load(cold->bpf);
	if (code)
		return code;
	cold->rules = mmap(NULL, sizeof(*cold->rules), PROT_READ | PROT_WRITE, MAP_SHARED,
			   bpf_map__fd(cold->bpf->maps.rules), 0);
	if (cold->rules == MAP_FAILED)
		return -errno;
	return user_cold_bpf__attach(cold->bpf);
}

static bool cold_begin(struct cold *cold, int rounds)
{
	strcpy(cold->folder, "/tmp/user_cold.XXXXXX");
	for (int way = 0; way < WAYS; way++) {
		cold->us[way] = calloc(rounds, sizeof(double));
		if (!cold->us[way])
			return false;
	}
	return mkdtemp(cold->folder);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS_DEFAULT;
	struct cold cold = {0};
	int code;

	if (rounds < 1)
		return 2;
	libbpf_set_print(NULL);
	code = program_load(&cold);
	if (code) {
		printf("skipped: the kernel refuses the program: %s\n", strerror(-code));
		return SKIP;
	}
	if (!cold_begin(&cold, rounds))
		return 1;
	code = rounds_run(&cold, rounds);
	rmdir(cold.folder);
	if (code) {
		fprintf(stderr, "user_cold: a process was not unwound\n");
		return 1;
	}
	for (int way = 0; way < WAYS; way++)
		way_print(&cold, way, rounds);
	figure_print(&cold, KNOWN, rounds, TARGET_US);
	figure_print(&cold, PROGRAM, rounds, TARGET_US);
	figure_print(&cold, TABLES, rounds, TARGET_TABLES_US);
	return 0;
}
