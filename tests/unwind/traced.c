/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs of these tests mark a point with int3; others are stopped at their system calls. Threads
 * are followed, children are not.
 */
#include "traced.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct rule_cache *traced_rules;

#define PAGE_BYTES 4096
#define PAGES_KEPT 64

static struct page {
	u64 stop;
	u64 start;
	u8 data[PAGE_BYTES];
} pages[PAGES_KEPT];
static u64 stops;

#define SYSCALL_STOP (SIGTRAP | 0x80)

/* The layout of PTRACE_GETREGSET for a 32-bit task. */
struct registers_32 {
	u32 ebx, ecx, edx, esi, edi, ebp, eax, ds, es, fs, gs, orig_eax, eip, cs, eflags, esp, ss;
};

static void take_64(struct traced *traced, const struct user_regs_struct *user)
{
	const u64 values[REGISTER_COUNT] = {
		user->rax, user->rdx, user->rcx, user->rbx, user->rsi, user->rdi,
		user->rbp, user->rsp, user->r8,	 user->r9,  user->r10, user->r11,
		user->r12, user->r13, user->r14, user->r15, user->rip,
	};

	memcpy(traced->registers.value, values, sizeof(values));
	traced->registers.value[REGISTER_THREAD] = user->fs_base;
}

static void take_32(struct traced *traced, const struct registers_32 *user)
{
	u64 *value = traced->registers.value;

	memset(value, 0, sizeof(traced->registers.value));
	value[REGISTER_RBX] = user->ebx;
	value[REGISTER_RBP] = user->ebp;
	value[REGISTER_RSP] = user->esp;
	value[REGISTER_RIP] = user->eip;
}

static bool registers_get(struct traced *traced)
{
	union {
		struct user_regs_struct user;
		struct registers_32 user_32;
	} user;
	struct iovec buffer = {&user, sizeof(user)};

	if (ptrace(PTRACE_GETREGSET, traced->tid, NT_PRSTATUS, &buffer))
		return false;
	traced->is_compat = buffer.iov_len == sizeof(user.user_32);
	if (traced->is_compat)
		take_32(traced, &user.user_32);
	else
		take_64(traced, &user.user);
	traced->registers.known = (1U << REGISTER_COUNT) - 1;
	return true;
}

/* The image that a mapping is part of: file offsets ascend within it. */
static u64 image_of(const struct traced *traced, u32 index)
{
	const struct traced_mapping *mapping = &traced->mapping[index];
	u64 offset = mapping->offset, image = 0;

	for (u32 i = index + 1; i-- > 0;) {
		const struct traced_mapping *part = &traced->mapping[i];

		if (part->inode != mapping->inode)
			continue;
		if (part->offset > offset)
			break;
		offset = part->offset;
		if (offset == 0)
			image = part->start;
	}
	return image;
}

static void maps_line(struct traced *traced, const char *line)
{
	struct traced_mapping *mapping = &traced->mapping[traced->mapping_count];
	unsigned long long start, end, offset, inode;
	char access[8];

	if (traced->mapping_count == TRACED_MAPPINGS_MAX ||
	    sscanf(line, "%llx-%llx %7s %llx %*s %llu", &start, &end, access, &offset, &inode) != 5)
		return;
	*mapping = (struct traced_mapping){
		.start = start,
		.end = end,
		.offset = offset,
		.inode = inode,
		.is_code = access[2] == 'x',
	};
	traced->mapping_count++;
	if (inode)
		mapping->image = image_of(traced, traced->mapping_count - 1);
	else if (strstr(line, "[vdso]"))
		mapping->image = start;
	else if (strstr(line, "[uprobes]"))
		traced->has_probes = true;
}

void traced_list_code(const struct traced *traced, struct listed_mappings *mappings)
{
	mappings->count = 0;
	for (u32 i = 0; i < traced->mapping_count; i++) {
		const struct traced_mapping *mapping = &traced->mapping[i];

		if (mapping->is_code)
			mappings->item[mappings->count++] = (struct listed_mapping){
				mapping->start, mapping->end, mapping->image};
	}
}

static u64 hash_line(u64 hash, const char *line)
{
	while (*line)
		hash = (hash ^ (u8)*line++) * 0x100000001b3ULL;
	return hash;
}

/* Opens /proc/PID/mem again: after an execve the open file still shows the memory of the former
 * program. */
static void memory_open(struct traced *traced)
{
	char path[64];

	if (traced->stop)
		traced->stop = ++stops;
	if (traced->memory >= 0)
		close(traced->memory);
	snprintf(path, sizeof(path), "/proc/%d/mem", traced->pid);
	traced->memory = open(path, O_RDONLY | O_CLOEXEC);
}

void traced_maps(struct traced *traced)
{
	char path[64], line[4352];
	u64 hash = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", traced->pid);
	maps = fopen(path, "r");
	if (!maps)
		return;
	traced->mapping_count = 0;
	traced->has_probes = false;
	while (fgets(line, sizeof(line), maps)) {
		maps_line(traced, line);
		hash = hash_line(hash, line);
	}
	fclose(maps);
	if (hash == traced->maps_hash)
		return;
	traced->maps_hash = hash;
	traced->generation++;
	memory_open(traced);
}

void traced_watch(struct traced *traced, pid_t pid)
{
	*traced = (struct traced){.pid = pid, .memory = -1};
	traced_maps(traced);
}

void traced_unwatch(struct traced *traced)
{
	if (traced->memory >= 0)
		close(traced->memory);
	*traced = (struct traced){.memory = -1};
}

static void child(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(126);
	personality(ADDR_NO_RANDOMIZE);
	if (!freopen("/dev/null", "w", stdout))
		_exit(126);
	unsetenv("DEBUGINFOD_URLS");
	execvp(argv[0], argv);
	_exit(127);
}

bool traced_start(struct traced *traced, char **argv)
{
	int status;

	memset(traced, 0, sizeof(*traced));
	traced->memory = -1;
	traced->pid = fork();
	if (traced->pid == 0)
		child(argv);
	traced->tid = traced->pid;
	if (traced->pid < 0 || waitpid(traced->pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return false;
	if (ptrace(PTRACE_SETOPTIONS, traced->pid, 0,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL))
		return false;
	traced->stop = ++stops;
	traced_maps(traced);
	return traced->memory >= 0 && registers_get(traced);
}

static bool is_marker(const struct traced *traced)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, traced->tid, 0, &info) == 0 && info.si_code == SI_KERNEL;
}

/* The kind of a stop of traced->tid. The stop of a new thread is resumed at once. */
static enum traced_stop stop_kind(struct traced *traced, int status)
{
	int signal = WSTOPSIG(status);

	traced->signal = 0;
	if (signal == SYSCALL_STOP)
		return TRACED_SYSCALL;
	if (signal == SIGTRAP)
		return is_marker(traced) ? TRACED_MARKER : TRACED_STEP;
	traced->signal = signal == SIGSTOP ? 0 : signal;
	return TRACED_SIGNAL;
}

enum traced_stop traced_resume(struct traced *traced, int how)
{
	int status;

	ptrace(how, traced->tid, 0, traced->signal);
	for (;;) {
		pid_t tid = waitpid(-1, &status, __WALL);
		bool is_event;

		if (tid < 0)
			return TRACED_EXITED;
		if (!WIFSTOPPED(status)) {
			if (tid == traced->pid)
				return TRACED_EXITED;
			continue;
		}
		is_event = status >> 16 || WSTOPSIG(status) == SIGSTOP;
		traced->tid = tid;
		if (!is_event)
			break;
		ptrace(PTRACE_CONT, tid, 0, 0);
	}
	traced->stop = ++stops;
	registers_get(traced);
	return stop_kind(traced, status);
}

static bool patch_read(const struct traced_patch *patch, u64 address, void *buffer, u32 bytes)
{
	u64 at = address - patch->start;

	if (at > patch->bytes || patch->bytes - at < bytes)
		return false;
	memcpy(buffer, patch->data + at, bytes);
	return true;
}

static bool copy_read(const struct traced *traced, u64 address, void *buffer, u32 bytes)
{
	const struct traced_patch stack = {traced->registers.value[REGISTER_RSP],
					   traced->stack_bytes, traced->stack};

	for (u32 i = 0; i < traced->patch_count; i++)
		if (patch_read(&traced->patch[i], address, buffer, bytes))
			return true;
	return patch_read(&stack, address, buffer, bytes);
}

static bool memory_read(const struct traced *traced, u64 address, void *buffer, u32 bytes)
{
	return pread(traced->memory, buffer, bytes, address) == (ssize_t)bytes;
}

/* The page with an address; NULL if it cannot be read. */
static const struct page *page_read(const struct traced *traced, u64 address)
{
	struct page *page = &pages[address / PAGE_BYTES % PAGES_KEPT];
	u64 start = address & -(u64)PAGE_BYTES;

	if (page->stop == traced->stop && page->start == start)
		return page;
	page->stop = 0;
	if (!memory_read(traced, start, page->data, PAGE_BYTES))
		return NULL;
	page->stop = traced->stop;
	page->start = start;
	return page;
}

static bool pages_read(const struct traced *traced, u64 address, u8 *buffer, u32 bytes)
{
	while (bytes) {
		const struct page *page = page_read(traced, address);
		u32 at = address % PAGE_BYTES;
		u32 part = bytes < PAGE_BYTES - at ? bytes : PAGE_BYTES - at;

		if (!page)
			return false;
		memcpy(buffer, page->data + at, part);
		address += part;
		buffer += part;
		bytes -= part;
	}
	return true;
}

bool traced_read(const struct traced *traced, u64 address, void *buffer, u32 bytes)
{
	if (copy_read(traced, address, buffer, bytes))
		return true;
	return traced->stop ? pages_read(traced, address, buffer, bytes)
			    : memory_read(traced, address, buffer, bytes);
}

void traced_end(struct traced *traced)
{
	kill(traced->pid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
	if (traced->memory >= 0)
		close(traced->memory);
}

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return traced_read(unwind->memory, address, buffer, bytes);
}

bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return unwind_read(unwind, address, buffer, bytes);
}

bool unwind_wait_for_missing_page(struct unwind *unwind)
{
	(void)unwind;
	return false;
}

bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	const struct traced *traced = unwind->memory;

	for (u32 i = 0; i < traced->mapping_count; i++) {
		const struct traced_mapping *mapping = &traced->mapping[i];

		if (!mapping->is_code || pc < mapping->start || pc >= mapping->end)
			continue;
		unwind->mapping = (struct unwind_mapping){
			.start = mapping->start, .end = mapping->end, .image = mapping->image};
		return true;
	}
	return false;
}

u64 unwind_frame(struct unwind *unwind, u64 pc)
{
	(void)unwind;
	return pc;
}

bool unwind_find_cached_rule(struct unwind *unwind)
{
	struct rule_key key = unwind_rule_key(unwind, unwind->registers.value[REGISTER_RIP]);
	struct rule_key by_code = rule_key_by_code(&key);

	return traced_rules && (rule_cache_get(traced_rules, &key, &unwind->rule) ||
				(!unwind->is_search &&
				 rule_cache_get_exact(traced_rules, &by_code, &unwind->rule)));
}

void unwind_cache_rule(struct unwind *unwind)
{
	struct rule_key key = unwind_rule_key(unwind, unwind->registers.value[REGISTER_RIP]);

	if (traced_rules)
		rule_cache_put(traced_rules, &key, &unwind->rule);
}
