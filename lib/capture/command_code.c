/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The dynamic linker is that of this process (PT_INTERP of its own file). The linkers of glibc and
 * musl both take --list and a path. For a static program, or a program with another linker,
 * execve() itself maps the file and its linker: ptrace stops the process there, before its first
 * instruction.
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

#include "arch/registers.h"
#include "capture/instance/running_code.h"
#include "symbol/symbolizer/symbolizers.h"

#define END_MS 50
#define STOP_SIGNAL SIGUSR1
#define FILES_MAX 256 /* the most files that get a table; each request holds an open file */

/* Callback of dl_iterate_phdr(): finds the linker of the first object, which is the program itself,
 * and stops there. */
static int find_linker(struct dl_phdr_info *object, size_t bytes, void *path)
{
	(void)bytes;
	for (u32 i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_INTERP)
			*(const char **)path =
				(const char *)object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
	return 1;
}

static bool redirect_stdio_to_null(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	return null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
	       dup2(null, STDERR_FILENO) >= 0;
}

/* Makes the environment of the linker: only the variables that decide which libraries are mapped.
 * With LD_AUDIT the linker would run code, with LD_DEBUG it would write files. */
static char **make_linker_environment(void)
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

static bool read_file_at(int file, void *to, size_t bytes, u64 offset)
{
	return offset <= INT64_MAX && pread(file, to, bytes, offset) == (ssize_t)bytes;
}

/* Returns the file offset of the dynamic section, which is found by its address, as the linker
 * finds it; 0: the file has no dynamic section. */
static u64 find_dynamic_section(int file, const ElfW(Ehdr) * header)
{
	ElfW(Phdr) part;
	u64 address = 0, offset = 0;

	for (u32 i = 0; i < header->e_phnum; i++)
		if (read_file_at(file, &part, sizeof(part), header->e_phoff + i * sizeof(part)) &&
		    part.p_type == PT_DYNAMIC)
			address = part.p_vaddr;
	for (u32 i = 0; address && i < header->e_phnum; i++)
		if (read_file_at(file, &part, sizeof(part), header->e_phoff + i * sizeof(part)) &&
		    part.p_type == PT_LOAD && address - part.p_vaddr < part.p_filesz)
			offset = part.p_offset + address - part.p_vaddr;
	return offset;
}

/* True if the program names auditors, libraries whose code the linker would run first
 * (rtld-audit(7)). glibc takes these names from the program only, not from libraries. */
static bool has_auditors(int file)
{
	ElfW(Ehdr) header;
	ElfW(Dyn) entry;
	u64 offset;

	if (!read_file_at(file, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG))
		return false;
	offset = find_dynamic_section(file, &header);
	for (; offset && read_file_at(file, &entry, sizeof(entry), offset);
	     offset += sizeof(entry)) {
		if (entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT)
			return true;
		if (entry.d_tag == DT_NULL)
			return false;
	}
	return false;
}

/* True if execve() maps all code that can be known before the program runs: the file is a 64-bit
 * program of this machine without a dynamic linker, or with another dynamic linker than `linker`.
 */
static bool does_execve_map_all_code(int file, const char *linker)
{
	char interpreter[PATH_MAX] = "";
	ElfW(Ehdr) header;
	ElfW(Phdr) part;

	if (!read_file_at(file, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != REGISTERS_ELF_MACHINE)
		return false;
	for (u32 i = 0; i < header.e_phnum; i++)
		if (read_file_at(file, &part, sizeof(part), header.e_phoff + i * sizeof(part)) &&
		    part.p_type == PT_INTERP && part.p_filesz < sizeof(interpreter) &&
		    !read_file_at(file, interpreter, part.p_filesz, part.p_offset))
			return false;
	return strcmp(interpreter, linker) != 0;
}

enum command_way { ASK_LINKER, STOP_AT_EXEC, LEAVE_OUT };

/* Chooses how the command's files are mapped. If the command's file cannot be read, the linker gets
 * it and fails in the same way. */
static enum command_way choose_preload_method(const char *path, const char *linker)
{
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	enum command_way way = ASK_LINKER;

	if (file < 0)
		return way;
	if (does_execve_map_all_code(file, linker))
		way = STOP_AT_EXEC;
	else if (has_auditors(file))
		way = LEAVE_OUT;
	close(file);
	return way;
}

static void run_linker(const char *linker, const char *path, pid_t parent)
{
	enum command_way way;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The parent may have exited before PR_SET_PDEATHSIG took effect. */
	if (!redirect_stdio_to_null() || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(127);
	way = choose_preload_method(path, linker);
	if (way != LEAVE_OUT && !ptrace(PTRACE_TRACEME, 0, 0, 0)) {
		/* The signal tells the tracer to stop this process at execve(). */
		if (way == STOP_AT_EXEC && !raise(STOP_SIGNAL))
			execle(path, path, NULL, (char *[]){NULL});
		else if (way == ASK_LINKER)
			execle(linker, linker, "--list", path, NULL, make_linker_environment());
	}
	_exit(127);
}

void command_code_start_linker(struct command_code *code, const char *path)
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

static void kill_linker(struct command_code *code)
{
	code->is_given_up = true;
	kill(code->linker, SIGKILL);
}

/* Handles a ptrace stop of the linker's process. In two cases all files are mapped: before the exit
 * of the dynamic linker, and after execve() of the program itself (stops_at_exec). Then the tables
 * are requested, and the process stays stopped until they are made, because a symbolizer opens the
 * files through the process's mappings: their paths may name other files in this mount namespace.
 * After any other stop the process goes on. */
static void handle_ptrace_stop(struct command_code *code, int status)
{
	bool is_exiting = status >> 16 == PTRACE_EVENT_EXIT;
	int signal = WSTOPSIG(status);
	bool is_at_exec = code->stops_at_exec && signal == SIGTRAP;

	if ((is_exiting || is_at_exec) && !code->is_given_up) {
		struct number_range range = {code->linker, code->linker};
		const struct number_list pids = {.ranges = &range, .count = 1};

		code->is_asked = true;
		if (!symbolizers_await_root_process(code->symbolizers))
			running_code_request_tables(code->loaded, code->symbolizers, &pids,
						    FILES_MAX);
		return;
	}
	if (!code->is_followed) {
		code->stops_at_exec = signal == STOP_SIGNAL;
		code->is_followed = !ptrace(PTRACE_SETOPTIONS, code->linker, 0,
					    PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
		if (!code->is_followed)
			kill_linker(code);
	}
	/* Fatal signals end the linker silently; all other signals are suppressed. */
	if (!is_exiting && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
			    signal == SIGFPE || signal == SIGABRT || signal == SIGSYS))
		kill_linker(code);
	ptrace(PTRACE_CONT, code->linker, 0, 0);
}

static void poll_linker(struct command_code *code)
{
	int status;
	pid_t met = waitpid(code->linker, &status, WNOHANG | __WALL);

	if (!met)
		return;
	if (met > 0 && WIFSTOPPED(status))
		handle_ptrace_stop(code, status);
	else
		code->linker = 0;
}

void command_code_poll(void *arg)
{
	struct command_code *code = arg;

	if (code->linker)
		poll_linker(code);
	if (!code->is_asked)
		return;
	running_code_take_answers(code->symbolizers);
	if (code->linker && !symbolizers_have_pending_tables(code->symbolizers))
		command_code_end(code);
}

/* A killed process also stops before its exit (PTRACE_O_TRACEEXIT) and has to be resumed. */
void command_code_end(struct command_code *code)
{
	if (!code->linker)
		return;
	kill_linker(code);
	if (code->is_asked)
		ptrace(PTRACE_CONT, code->linker, 0, 0);
	for (u32 ms = 0; code->linker && ms < END_MS; ms++) {
		poll_linker(code);
		if (code->linker)
			poll(NULL, 0, 1);
	}
}

void command_code_reap_linker(struct command_code *code)
{
	if (code->linker)
		poll_linker(code);
}
