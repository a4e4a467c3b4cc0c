/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The linker is our own, whose path the kernel found in our own file: it takes --list and a path,
 * musl's as well as glibc's. What our linker does not link, a static program or one with another
 * linker, has its file and its linker mapped by execve() itself: ptrace stops the process there,
 * before its first instruction.
 */
#include "capture/command_code.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/instance/running_code.h"
#include "symbol/symbolizer/symbolizers.h"

#define END_MS 50
#define STOP_SIGNAL SIGUSR1
#define FILES_MAX 256 /* each is a question with an open file */

/* The first object is the program. */
static int find_linker(struct dl_phdr_info *object, size_t bytes, void *path)
{
	(void)bytes;
	for (u32 i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_INTERP)
			*(const char **)path =
				(const char *)object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
	return 1;
}

static bool be_silent(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	return nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
	       dup2(nothing, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0;
}

/* What says where libraries are. All else that is in the command's environment is meant for the
 * command's own run: LD_AUDIT would have the linker run code, LD_DEBUG write files. */
static char **search_environment(void)
{
	static const char *const names[] = {"LD_LIBRARY_PATH", "LD_PRELOAD"};
	static char *environment[sizeof(names) / sizeof(*names) + 1];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);

		if (value && asprintf(&environment[count], "%s=%s", names[i], value) > 0)
			count++;
	}
	environment[count] = NULL;
	return environment;
}

static bool read_at(int file, void *to, size_t bytes, u64 offset)
{
	return offset <= INT64_MAX && pread(file, to, bytes, offset) == (ssize_t)bytes;
}

/* Where the linker finds the program's dynamic section: by its address. 0: there is none. */
static u64 dynamic_offset(int file, const ElfW(Ehdr) * header)
{
	ElfW(Phdr) part;
	u64 address = 0, offset = 0;

	for (u32 i = 0; i < header->e_phnum; i++)
		if (read_at(file, &part, sizeof(part), header->e_phoff + i * sizeof(part)) &&
		    part.p_type == PT_DYNAMIC)
			address = part.p_vaddr;
	for (u32 i = 0; address && i < header->e_phnum; i++)
		if (read_at(file, &part, sizeof(part), header->e_phoff + i * sizeof(part)) &&
		    part.p_type == PT_LOAD && address - part.p_vaddr < part.p_filesz)
			offset = part.p_offset + address - part.p_vaddr;
	return offset;
}

/* True if the program names libraries whose code the linker would run before any other
 * (rtld-audit(7)). glibc takes these names from the program alone, from no library. */
static bool names_auditors(int file)
{
	ElfW(Ehdr) header;
	ElfW(Dyn) entry;
	u64 offset;

	if (!read_at(file, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG))
		return false;
	offset = dynamic_offset(file, &header);
	for (; offset && read_at(file, &entry, sizeof(entry), offset); offset += sizeof(entry)) {
		if (entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT)
			return true;
		if (entry.d_tag == DT_NULL)
			return false;
	}
	return false;
}

/* True if execve() maps all that can be known of the file: it is a 64-bit program of this machine
 * that has no linker, or another one than ours. */
static bool is_mapped_by_kernel(int file, const char *linker)
{
	char interpreter[PATH_MAX] = "";
	ElfW(Ehdr) header;
	ElfW(Phdr) part;

	if (!read_at(file, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
		return false;
	for (u32 i = 0; i < header.e_phnum; i++)
		if (read_at(file, &part, sizeof(part), header.e_phoff + i * sizeof(part)) &&
		    part.p_type == PT_INTERP && part.p_filesz < sizeof(interpreter) &&
		    !read_at(file, interpreter, part.p_filesz, part.p_offset))
			return false;
	return strcmp(interpreter, linker) != 0;
}

enum command_way { ASK_LINKER, STOP_AT_EXEC, ASK_NOBODY };

/* A file that cannot be read is left to the linker, which cannot read it either. */
static enum command_way choose_way(const char *path, const char *linker)
{
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	enum command_way way = ASK_LINKER;

	if (file < 0)
		return way;
	if (is_mapped_by_kernel(file, linker))
		way = STOP_AT_EXEC;
	else if (names_auditors(file))
		way = ASK_NOBODY;
	close(file);
	return way;
}

/* Whoever forked us may have gone before the kernel was told to end us then. */
static bool is_left_alone(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent;
}

static void run_linker(const char *linker, const char *path, pid_t parent)
{
	enum command_way way;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!be_silent() || is_left_alone(parent))
		_exit(127);
	way = choose_way(path, linker);
	if (way != ASK_NOBODY && !ptrace(PTRACE_TRACEME, 0, 0, 0)) {
		/* The signal tells the recorder to keep the process where execve() stops. */
		if (way == STOP_AT_EXEC && !raise(STOP_SIGNAL))
			execle(path, path, NULL, (char *[]){NULL});
		else if (way == ASK_LINKER)
			execle(linker, linker, "--list", path, NULL, search_environment());
	}
	_exit(127);
}

void command_code_begin(struct command_code *code, const char *path)
{
	const char *linker = NULL;
	pid_t parent = getpid(), child;

	dl_iterate_phdr(find_linker, &linker);
	if (!path || !linker)
		return;
	child = fork();
	if (!child)
		run_linker(linker, path, parent);
	code->linker = child < 0 ? 0 : child;
}

static void ask(struct command_code *code)
{
	struct number_range range = {code->linker, code->linker};
	const struct number_list pids = {.ranges = &range, .count = 1};

	code->is_asked = true;
	if (!symbolizers_await(code->symbolizers))
		running_code_ask(code->loaded, code->symbolizers, &pids, FILES_MAX);
}

/* A crash of the linker is nobody's to hear of, and any other signal nothing to it. */
static bool is_fatal(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGABRT || signal == SIGSYS;
}

static void give_up(struct command_code *code)
{
	code->is_given_up = true;
	kill(code->linker, SIGKILL);
}

/* It has stopped: after execve, for a signal, or before it exits, with all its memory. There, or at
 * an execve that has mapped all that is to be known, it stays: by its mappings a symbolizer finds
 * files whose paths lead elsewhere for us. */
static void go_on(struct command_code *code, int status)
{
	bool is_exiting = status >> 16 == PTRACE_EVENT_EXIT;
	bool is_at_exec = code->stops_at_exec && WSTOPSIG(status) == SIGTRAP;

	if ((is_exiting || is_at_exec) && !code->is_given_up) {
		ask(code);
		return;
	}
	if (!code->is_followed) {
		code->stops_at_exec = WSTOPSIG(status) == STOP_SIGNAL;
		code->is_followed = !ptrace(PTRACE_SETOPTIONS, code->linker, 0,
					    PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
		if (!code->is_followed)
			give_up(code);
	}
	if (!is_exiting && is_fatal(WSTOPSIG(status)))
		give_up(code);
	ptrace(PTRACE_CONT, code->linker, 0, 0);
}

static void follow(struct command_code *code)
{
	int status;
	pid_t met = waitpid(code->linker, &status, WNOHANG | __WALL);

	if (!met)
		return;
	if (met > 0 && WIFSTOPPED(status))
		go_on(code, status);
	else
		code->linker = 0;
}

void command_code_visit(void *arg)
{
	struct command_code *code = arg;

	if (code->linker)
		follow(code);
	if (!code->is_asked)
		return;
	running_code_visit(code->symbolizers);
	if (code->linker && !symbolizers_are_tabulating(code->symbolizers))
		command_code_end(code);
}

/* It stops before it exits when it is killed, too. */
void command_code_end(struct command_code *code)
{
	if (!code->linker)
		return;
	give_up(code);
	if (code->is_asked)
		ptrace(PTRACE_CONT, code->linker, 0, 0);
	for (u32 ms = 0; code->linker && ms < END_MS; ms++) {
		follow(code);
		if (code->linker)
			poll(NULL, 0, 1);
	}
}

void command_code_bury(struct command_code *code)
{
	if (code->linker)
		follow(code);
}
