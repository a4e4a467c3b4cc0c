/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of a command's files. No event is recorded. Files that the linker has mapped have
 * tables; files of this process only have numbers. */
#include "instance/files_instance.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/command_code.h"
#include "clock.h"
#include "symbol/symbolizer/symbolizers.h"
#include "unit_test.h"

#define PATIENCE_MS 60000 /* a limit for busy machines */
#define FIFO "/tmp/test_command_code.fifo"
#define CUT "/tmp/test_command_code.cut"
#define RAN "/tmp/test_command_code.ran"
#define BUILT "/tmp/test_command_code.built"
#define AUDITOR "/tmp/test_command_code.so"
#define AUDITED "/tmp/test_command_code.audited"

static struct command_code begin_command_code(const char *path)
{
	struct command_code code = {.loaded = &capture->loaded,
				    .symbolizers = capture_symbolizers(capture)};

	command_code_start_linker(&code, path);
	return code;
}

static void visit_until_done(struct command_code *code)
{
	u64 end = clock_ms() + PATIENCE_MS;

	do {
		command_code_poll(code);
		poll(NULL, 0, 1);
	} while ((code->linker || symbolizers_have_pending_tables(code->symbolizers)) &&
		 clock_ms() < end);
	assert_int_equal(code->linker, 0);
}

/* The program does not run, and other files have no tables. */
TEST(files_of_a_command_have_tables, begin_unwinding, end)
{
	struct command_code code = begin_command_code("/bin/sleep");

	assert_true(code.linker);
	visit_until_done(&code);
	command_code_end(&code);
	assert_true(has_table("/sleep"));
	assert_true(has_table("/libc.so.6"));
	assert_true(has_table("/ld-linux"));
	assert_false(has_table("/test_command_code"));
}

/* The linker has mapped itself before it finds that the command is no program. */
TEST(a_text_file_has_no_tables, begin_unwinding, end)
{
	struct command_code code = begin_command_code("/etc/passwd");

	visit_until_done(&code);
	assert_true(code.is_asked);
	command_code_end(&code);
	assert_true(has_table("/ld-linux"));
	assert_false(number_of("/passwd"));
}

/* Compiles a program that makes a file when it runs. */
static bool compile(const char *options)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "rm -f " RAN " && echo '#include <stdio.h>\nint main(void) { fclose(fopen(\"" RAN
		 "\", \"w\")); return 0; }' | %s -w -x c -o " BUILT " - 2>/dev/null",
		 options);
	return !system(command);
}

/* The kernel maps such a program and its linker, and no code of them runs. */
TEST(a_program_that_the_linker_does_not_link_has_tables, begin_unwinding, end)
{
	static const char *const options[] = {"gcc -static", "gcc -static-pie -fPIE", "musl-gcc"};
	u32 built = 0;

	for (u32 i = 0; i < sizeof(options) / sizeof(*options); i++) {
		struct command_code code;
		pid_t process;

		if (!compile(options[i]))
			continue;
		built++;
		code = begin_command_code(BUILT);
		process = code.linker;
		visit_until_done(&code);
		assert_true(code.is_asked && code.stops_at_exec);
		assert_true(has_table(BUILT));
		command_code_end(&code);
		assert_true(kill(process, 0) < 0 && errno == ESRCH);
		assert_int_equal(access(RAN, F_OK), -1);
		unlink(BUILT);
	}
	if (!built) {
		print_message("no static program can be made here\n");
		skip();
	}
}

TEST(without_a_path_no_linker_is_started, begin_unwinding, end)
{
	struct command_code code = begin_command_code(NULL);

	assert_int_equal(code.linker, 0);
	command_code_poll(&code);
	command_code_end(&code);
	assert_false(symbolizers_have_pending_tables(capture_symbolizers(capture)));
}

/* Copies only the first pages of a program: the linker reads behind the end of the file. */
static void copy_cut(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_TRUNC | O_WRONLY, 0755);

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(sendfile(out, in, NULL, 4096), 4096);
	close(in);
	close(out);
}

TEST(a_linker_that_crashes_is_ended, begin_unwinding, end)
{
	struct command_code code;

	copy_cut("/bin/sleep", CUT);
	code = begin_command_code(CUT);
	visit_until_done(&code);
	assert_true(code.is_given_up && !code.is_asked);
	unlink(CUT);
}

/* Compiles an auditor that makes a file when it runs. */
static void compile_auditor(void)
{
	if (system("rm -f " RAN " && echo '#include <stdio.h>\nunsigned la_version(unsigned v) "
		   "{ fclose(fopen(\"" RAN
		   "\", \"w\")); return v; }' | gcc -w -x c -shared -fPIC -o " AUDITOR " -")) {
		print_message("an auditor cannot be made here\n");
		skip();
	}
}

/* Otherwise code of the command would run twice. */
TEST(a_command_with_auditors_is_left_out, begin_unwinding, end)
{
	static const char *const options[] = {"--audit", "--depaudit"};
	char command[512];

	for (u32 i = 0; i < 2; i++) {
		struct command_code code;

		compile_auditor();
		snprintf(command, sizeof(command),
			 "echo 'int main(void) { return 0; }' | gcc -x c -Wl,%s=" AUDITOR
			 " -o " AUDITED " -",
			 options[i]);
		assert_int_equal(system(command), 0);
		code = begin_command_code(AUDITED);
		visit_until_done(&code);
		assert_false(code.is_asked);
		assert_int_equal(access(RAN, F_OK), -1);
		command_code_end(&code);
		assert_int_equal(system(AUDITED), 0);
		assert_int_equal(access(RAN, F_OK), 0);
		unlink(RAN);
		unlink(AUDITOR);
		unlink(AUDITED);
	}
}

/* Variables of the environment are meant for the command, not for the linker. */
TEST(the_environment_does_not_reach_the_linker, begin_unwinding, end)
{
	struct command_code code;

	setenv("LD_DEBUG", "files", 1);
	setenv("LD_DEBUG_OUTPUT", RAN, 1);
	code = begin_command_code("/bin/sleep");
	unsetenv("LD_DEBUG");
	unsetenv("LD_DEBUG_OUTPUT");
	visit_until_done(&code);
	assert_true(code.is_asked);
	command_code_end(&code);
	assert_int_not_equal(system("ls " RAN ".* >/dev/null 2>&1"), 0);
}

TEST(no_auditor_of_the_environment_runs, begin_unwinding, end)
{
	struct command_code code;

	compile_auditor();
	setenv("LD_AUDIT", AUDITOR, 1);
	code = begin_command_code("/bin/sleep");
	visit_until_done(&code);
	assert_true(code.is_asked);
	command_code_end(&code);
	assert_int_equal(access(RAN, F_OK), -1);
	assert_int_equal(system("/bin/sleep 0"), 0);
	unsetenv("LD_AUDIT");
	assert_int_equal(access(RAN, F_OK), 0);
	unlink(RAN);
	unlink(AUDITOR);
}

/* True if the process sleeps and has executed the linker. */
static bool is_waiting(pid_t pid)
{
	char path[64], name[64] = "", state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%63[^)]) %c", name, &state), 2);
	fclose(file);
	return state == 'S' && !strncmp(name, "ld-", 3);
}

/* Opening a FIFO waits for a writer. */
TEST(a_linker_that_waits_is_ended, begin_unwinding, end)
{
	struct command_code code;
	pid_t linker;
	u64 end = clock_ms() + PATIENCE_MS;

	unlink(FIFO);
	assert_int_equal(mkfifo(FIFO, 0600), 0);
	code = begin_command_code(FIFO);
	linker = code.linker;
	while (!is_waiting(linker) && clock_ms() < end)
		command_code_poll(&code);
	command_code_poll(&code);
	assert_int_equal(code.linker, linker);
	command_code_end(&code);
	assert_int_equal(code.linker, 0);
	assert_true(kill(linker, 0) < 0 && errno == ESRCH);
	unlink(FIFO);
}

/* An ended process may still be a zombie. */
static bool has_ended(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	if (file)
		fclose(file);
	return state == 'Z' || state == 'X';
}

/* The recorder of this test is a child process, which is killed. */
TEST(a_linker_that_waits_ends_with_a_killed_recorder, begin_unwinding, end)
{
	u64 end = clock_ms() + PATIENCE_MS;
	pid_t recorder, linker;
	int ready[2];

	unlink(FIFO);
	assert_int_equal(mkfifo(FIFO, 0600), 0);
	assert_int_equal(pipe(ready), 0);
	recorder = fork();
	if (!recorder) {
		struct command_code code = begin_command_code(FIFO);

		while (!is_waiting(code.linker))
			command_code_poll(&code);
		if (write(ready[1], &code.linker, sizeof(code.linker)) > 0)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &linker, sizeof(linker)), sizeof(linker));
	assert_false(has_ended(linker));
	kill(recorder, SIGKILL);
	assert_int_equal(waitpid(recorder, NULL, 0), recorder);
	while (!has_ended(linker) && clock_ms() < end)
		poll(NULL, 0, 1);
	assert_true(has_ended(linker));
	close(ready[0]);
	close(ready[1]);
	unlink(FIFO);
}

/* A capture that ends while the linker is stopped leaves no process. */
TEST(a_stopped_linker_is_ended, begin_unwinding, end)
{
	struct command_code code = begin_command_code("/bin/sleep");
	pid_t linker = code.linker;
	u64 end = clock_ms() + PATIENCE_MS;

	code.symbolizers = NULL;
	assert_int_equal(symbolizers_create(&code.symbolizers), 0);
	while (!code.is_asked && clock_ms() < end)
		command_code_poll(&code);
	command_code_end(&code);
	assert_int_equal(code.linker, 0);
	assert_true(kill(linker, 0) < 0 && errno == ESRCH);
	symbolizers_free(&code.symbolizers);
}
