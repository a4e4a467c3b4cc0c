/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Uses ptrace, /proc/PID/maps and /proc/PID/mem. Each executable mapping has a number of its own,
 * with the identity of its file. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stack.h"
#include "stopped.h"
#include "unit_test.h"

#define RED_ZONE 128
#define STEPS_MAX 5000

struct maps_line {
	unsigned long start, end, offset, inode;
	unsigned int major, minor;
	char access[8];
	char path[4096];
};

static u64 written(const struct stopped *stopped, const struct maps_line *line)
{
	struct stat file;
	char link[96];

	snprintf(link, sizeof(link), "/proc/%d/map_files/%lx-%lx", stopped->pid, line->start,
		 line->end);
	if (stat(link, &file) && stat(line->path, &file))
		return 0;
	return FILE_WRITTEN(file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

/* Stores the components of a path innermost first. */
static void record_path(struct mapping_record *record, char *path)
{
	char *slash;

	record->path_whole = 1;
	while ((slash = strrchr(path, '/'))) {
		size_t bytes = strlen(slash + 1) + 1;

		assert_true(record->path_bytes + bytes <= sizeof(record->path));
		memcpy(record->path + record->path_bytes, slash + 1, bytes);
		record->path_bytes += bytes;
		*slash = 0;
	}
}

static void add_record(struct stopped *stopped, u32 number, struct maps_line *line)
{
	struct mapping_record *record = &stopped->record[number];
	struct statfs mounted;

	*record = (struct mapping_record){
		.tgid = stopped->pid,
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
	};
	if (!line->inode) {
		record->key.kind = strcmp(line->path, "[vdso]") ? MAPPING_ANON : MAPPING_VDSO;
		return;
	}
	record->key = (struct mapping_key){
		.kind = MAPPING_FILE,
		.device = (u64)line->major << 20 | line->minor,
		.inode = line->inode,
		.since = written(stopped, line),
	};
	if (!statfs(line->path, &mounted))
		record->file_system = mounted.f_type;
	record_path(record, line->path);
}

static void add_mapping(struct stopped *stopped, struct maps_line *line)
{
	u32 number = stopped->raw.mapping_count + 1;

	assert_true(number <= RAW_MAPPINGS_MAX);
	stopped->raw.mapping[number - 1] = (struct raw_mapping){
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.number = number,
	};
	if (!strcmp(line->path, "[vdso]"))
		stopped->vdso = number;
	add_record(stopped, number, line);
	stopped->raw.mapping_count = number;
}

static void save_mappings(struct stopped *stopped)
{
	char path[64], text[4352];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", stopped->pid);
	maps = fopen(path, "r");
	assert_non_null(maps);
	stopped->raw.mapping_count = 0;
	while (fgets(text, sizeof(text), maps)) {
		struct maps_line line = {};

		assert_true(sscanf(text, "%lx-%lx %7s %lx %x:%x %lu %4095s", &line.start, &line.end,
				   line.access, &line.offset, &line.major, &line.minor, &line.inode,
				   line.path) >= 7);
		if (line.access[2] == 'x')
			add_mapping(stopped, &line);
	}
	fclose(maps);
}

static void save_registers(struct stopped *stopped, const struct user_regs_struct *user)
{
	const u64 value[REGISTER_COUNT] = {
		user->rax, user->rdx, user->rcx, user->rbx, user->rsi, user->rdi,
		user->rbp, user->rsp, user->r8,	 user->r9,  user->r10, user->r11,
		user->r12, user->r13, user->r14, user->r15, user->rip,
	};

	memcpy(stopped->raw.value, value, sizeof(value));
	stopped->orig_ax = user->orig_rax;
}

/* Reads up to the stack's end, where the read is cut short. */
static void save_stack(struct stopped *stopped)
{
	struct raw_stack *raw = &stopped->raw;
	char path[64];
	ssize_t bytes;
	int memory;

	snprintf(path, sizeof(path), "/proc/%d/mem", stopped->pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(memory >= 0);
	raw->stack_start = raw->value[REGISTER_RSP] - RED_ZONE;
	bytes = pread(memory, raw->stack, sizeof(raw->stack), raw->stack_start);
	assert_true(bytes > RED_ZONE);
	raw->stack_bytes = bytes;
	close(memory);
}

static void save(struct stopped *stopped)
{
	struct user_regs_struct user;

	assert_int_equal(ptrace(PTRACE_GETREGS, stopped->pid, 0, &user), 0);
	stopped->raw.tid = stopped->raw.tgid = stopped->pid;
	save_registers(stopped, &user);
	save_mappings(stopped);
	save_stack(stopped);
}

static void wait_for_trap(const struct stopped *stopped)
{
	int status;

	assert_int_equal(waitpid(stopped->pid, &status, 0), stopped->pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGTRAP);
}

static void read_chain(struct stopped *stopped)
{
	struct iovec local = {&stopped->chain, sizeof(stopped->chain)};
	struct iovec remote = {(void *)stopped->raw.value[REGISTER_RAX], sizeof(stopped->chain)};

	assert_int_equal(process_vm_readv(stopped->pid, &local, 1, &remote, 1, 0),
			 sizeof(stopped->chain));
	assert_int_equal(stopped->chain.count, CHAIN_LENGTH);
}

static void child(const char *program)
{
	if (!ptrace(PTRACE_TRACEME, 0, 0, 0))
		execl(program, program, NULL);
	_exit(127);
}

void stopped_start(struct stopped *stopped, const char *program)
{
	memset(stopped, 0, sizeof(*stopped));
	stopped->pid = fork();
	assert_true(stopped->pid >= 0);
	if (stopped->pid == 0)
		child(program);
	wait_for_trap(stopped); /* execve */
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, stopped->pid, 0, PTRACE_O_EXITKILL), 0);
	assert_int_equal(ptrace(PTRACE_CONT, stopped->pid, 0, 0), 0);
	wait_for_trap(stopped);
	save(stopped);
	read_chain(stopped);
}

static bool is_in_vdso(const struct stopped *stopped)
{
	const struct raw_mapping *vdso = &stopped->raw.mapping[stopped->vdso - 1];
	struct user_regs_struct user;

	assert_int_equal(ptrace(PTRACE_GETREGS, stopped->pid, 0, &user), 0);
	return user.rip >= vdso->start && user.rip < vdso->end;
}

void stopped_step_to_vdso(struct stopped *stopped)
{
	u32 steps = 0;

	assert_true(stopped->vdso);
	while (!is_in_vdso(stopped)) {
		assert_true(steps++ < STEPS_MAX);
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, stopped->pid, 0, 0), 0);
		wait_for_trap(stopped);
	}
	save(stopped);
}

void stopped_go_on(struct stopped *stopped)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, stopped->pid, 0, 0), 0);
	assert_int_equal(waitpid(stopped->pid, &status, 0), stopped->pid);
	assert_true(WIFEXITED(status));
	stopped->pid = 0;
}

void stopped_end(struct stopped *stopped)
{
	if (!stopped->pid)
		return;
	kill(stopped->pid, SIGKILL);
	waitpid(stopped->pid, NULL, 0);
	stopped->pid = 0;
}

const struct mapping_record *stopped_record(void *stopped, u32 number)
{
	struct stopped *self = stopped;

	return number <= RAW_MAPPINGS_MAX ? &self->record[number] : NULL;
}

u64 stopped_frame(const struct stopped *stopped, u64 address)
{
	for (u32 i = 0; i < stopped->raw.mapping_count; i++) {
		const struct raw_mapping *mapping = &stopped->raw.mapping[i];

		if (address >= mapping->start && address < mapping->end)
			return FRAME_USER(mapping->number,
					  address - mapping->start + mapping->offset);
	}
	return FRAME_USER(MAPPING_UNKNOWN, address);
}
