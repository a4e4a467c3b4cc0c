/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System calls by the names of their events: numbers, aliases, and all that this kernel has. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include "capture/feature/tracefs.h"
#include "capture/source/source.h"
#include "unit_test.h"

#ifdef __aarch64__
#define ARGUMENT_0 offsetof(struct user_regs_struct, regs[0])
#define ARGUMENT_2 offsetof(struct user_regs_struct, regs[2])
#define ARGUMENT_5 offsetof(struct user_regs_struct, regs[5])
#define RESULT ARGUMENT_0
#define EVENT_OF_PERSONALITY "arm64_personality"
#define EVENT_OF_FADVISE64 "fadvise64_64"
#else
#define ARGUMENT_0 offsetof(struct user_regs_struct, rdi)
#define ARGUMENT_2 offsetof(struct user_regs_struct, rdx)
#define ARGUMENT_5 offsetof(struct user_regs_struct, r9)
#define RESULT offsetof(struct user_regs_struct, rax)
#define EVENT_OF_PERSONALITY "personality"
#define EVENT_OF_FADVISE64 "fadvise64"
#endif

static struct source_list list;
static struct stackmap_error error;

static int clear(void **state)
{
	(void)state;
	source_list_clear(&list);
	return 0;
}

static void assert_syscall(const char *word, const char *name, bool on_return, u32 number)
{
	struct source_list added = {0};

	assert_int_equal(source_list_add(&added, word, 0, &error), 0);
	assert_int_equal(added.count, 1);
	assert_int_equal(added.sources[0].type, SOURCE_SYSCALL);
	assert_string_equal(added.sources[0].name, name);
	assert_int_equal(added.sources[0].on_return, on_return);
	assert_int_equal(added.sources[0].syscall, number);
	source_list_clear(&added);
}

TEST(calls_have_their_number, NULL, clear)
{
	assert_syscall("syscalls:sys_enter_read", "syscalls:sys_enter_read", false, SYS_read);
	assert_syscall("syscalls:sys_exit_openat", "syscalls:sys_exit_openat", true, SYS_openat);
	assert_syscall("syscalls:sys_enter_mseal", "syscalls:sys_enter_mseal", false, 462);
	assert_syscall("syscalls:sys_enter_fchroot", "syscalls:sys_enter_fchroot", false, 472);
}

static void assert_value(const char *word, const char *unit, u32 offset)
{
	struct source_list added = {0};

	assert_int_equal(source_list_add(&added, word, 0, &error), 0);
	assert_int_equal(added.count, 1);
	assert_string_equal(added.sources[0].unit, unit);
	assert_int_equal(added.sources[0].question.value.offset, offset);
	source_list_clear(&added);
}

TEST(values_are_registers, NULL, clear)
{
	int events = tracefs_open_events();

	assert_value("syscalls:sys_exit_rt_sigreturn/value=ret/", "ret", RESULT);
	if (events < 0 || faccessat(events, "syscalls/sys_enter_write", F_OK, 0)) {
		printf("skip: tracefs has no system calls here\n");
		skip();
	}
	close(events);
	assert_value("syscalls:sys_enter_write/value=fd/", "fd", ARGUMENT_0);
	assert_value("syscalls:sys_enter_write/value=count:bytes/", "bytes", ARGUMENT_2);
	assert_value("syscalls:sys_enter_mmap/value=off/", "off", ARGUMENT_5);
	assert_int_equal(source_list_add(&list, "syscalls:sys_exit_read/value=count/", 0, &error),
			 -ENOENT);
	assert_non_null(strstr(error.message, "no number count; its fields are ret"));
}

TEST(manual_names_mean_the_kernels, NULL, clear)
{
	assert_syscall("syscalls:sys_enter_uname", "syscalls:sys_enter_newuname", false, SYS_uname);
	assert_syscall("syscalls:sys_enter_newuname", "syscalls:sys_enter_newuname", false,
		       SYS_uname);
	assert_syscall("syscalls:sys_exit_umount2", "syscalls:sys_exit_umount", true, SYS_umount2);
	assert_syscall("syscalls:sys_exit_personality", "syscalls:sys_exit_" EVENT_OF_PERSONALITY,
		       true, SYS_personality);
	assert_syscall("syscalls:sys_enter_" EVENT_OF_FADVISE64,
		       "syscalls:sys_enter_" EVENT_OF_FADVISE64, false, SYS_fadvise64);
}

TEST(a_glob_takes_each_call_once, NULL, clear)
{
	bool seen[1024] = {false};

	assert_int_equal(source_list_add(&list, "syscalls:sys_enter_*", 0, &error), 0);
	assert_true(list.count > 250);
	for (u32 i = 0; i < list.count; i++) {
		assert_true(list.sources[i].syscall < 1024);
		assert_false(list.sources[i].on_return);
		assert_false(seen[list.sources[i].syscall]);
		seen[list.sources[i].syscall] = true;
	}
}

TEST(the_nearest_call_is_named, NULL, clear)
{
	assert_int_equal(source_list_add(&list, "syscalls:sys_enter_redv", 0, &error), -ENOENT);
	assert_non_null(strstr(error.message, "did you mean syscalls:sys_enter_readv?"));
}

static bool is_listed(const char *event)
{
	char name[300];

	snprintf(name, sizeof(name), "syscalls:%s", event);
	for (u32 i = 0; i < list.count; i++)
		if (!strcmp(list.sources[i].name, name))
			return true;
	print_message("%s does not resolve\n", name);
	return false;
}

TEST(all_events_of_this_kernel_resolve, NULL, clear)
{
	int events = tracefs_open_events(), calls;
	const struct dirent *entry;
	u32 missing = 0;
	DIR *directory;

	calls = events < 0 ? -1 : openat(events, "syscalls", O_RDONLY | O_DIRECTORY);
	if (calls < 0) {
		printf("skip: tracefs has no readable events/syscalls here\n");
		skip();
	}
	directory = fdopendir(calls);
	assert_non_null(directory);
	assert_int_equal(source_list_add(&list, "syscalls:*", 0, &error), 0);
	while ((entry = readdir(directory)))
		missing += !strncmp(entry->d_name, "sys_", 4) && !is_listed(entry->d_name);
	closedir(directory);
	close(events);
	assert_int_equal(missing, 0);
}
