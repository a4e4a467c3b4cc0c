/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields of records, from a directory that looks like tracefs' `events`. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/source/tracepoint.h"
#include "unit_test.h"

#define COMMON "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char numbers[] = "name: issue\nID: 2104\nformat:\n" COMMON
			      "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
			      "\tfield:unsigned long long sector;\toffset:16;\tsize:8;\tsigned:0;\n"
			      "\tfield:short left;\toffset:24;\tsize:2;\tsigned:1;\n"
			      "\tfield:bool is_last;\toffset:26;\tsize:1;\tsigned:0;\n"
			      "\tfield:void * place;\toffset:32;\tsize:8;\tsigned:0;\n"
			      "\tfield:struct id *who;\toffset:72;\tsize:8;\tsigned:0;\n"
			      "\tfield:char rwbs[8];\toffset:40;\tsize:8;\tsigned:0;\n"
			      "\tfield:__data_loc char[] cmd;\toffset:48;\tsize:4;\tsigned:0;\n"
			      "\tfield:__rel_loc u8 key;\toffset:52;\tsize:4;\tsigned:0;\n"
			      "\tfield:struct id id;\toffset:56;\tsize:8;\tsigned:0;\n"
			      "\tfield:u8 uuid;\toffset:64;\tsize:16;\tsigned:0;\n"
			      "\nprint fmt: \"field:%d;\", REC->dev\n";

static const char none[] = "name: none\nID: 7\nformat:\n" COMMON
			   "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n";

static const char arguments[] = "name: sys_enter_all\nID: 8\nformat:\n" COMMON
				"\tfield:unsigned int nfds;\toffset:24;\tsize:8;\tsigned:0;\n"
				"\tfield:int timeout_msecs;\toffset:32;\tsize:8;\tsigned:0;\n"
				"\tfield:size_t count;\toffset:40;\tsize:8;\tsigned:0;\n"
				"\tfield:__u32 flags;\toffset:48;\tsize:8;\tsigned:0;\n"
				"\tfield:loff_t pos;\toffset:56;\tsize:8;\tsigned:0;\n"
				"\tfield:gid_t group;\toffset:64;\tsize:8;\tsigned:0;\n"
				"\tfield:const __u32 size;\toffset:72;\tsize:8;\tsigned:0;\n"
				"\tfield:u32 * uaddr;\toffset:88;\tsize:8;\tsigned:0;\n"
				"\tfield:cap_user_header_t h;\toffset:80;\tsize:8;\tsigned:0;\n";

static char path[64];
static int events;
static struct stackmap_error error;

static void write_format(const char *name, const char *text)
{
	char file[64];
	int fd;

	assert_int_equal(mkdirat(events, name, 0700), 0);
	snprintf(file, sizeof(file), "%s/format", name);
	fd = openat(events, file, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/stackmap-fields-XXXXXX");
	assert_non_null(mkdtemp(path));
	events = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(events, "block", 0700), 0);
	write_format("block/issue", numbers);
	write_format("block/none", none);
	assert_int_equal(mkdirat(events, "syscalls", 0700), 0);
	write_format("syscalls/sys_enter_all", arguments);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlinkat(events, "block/issue/format", 0);
	unlinkat(events, "block/none/format", 0);
	unlinkat(events, "block/issue", AT_REMOVEDIR);
	unlinkat(events, "block/none", AT_REMOVEDIR);
	unlinkat(events, "block", AT_REMOVEDIR);
	unlinkat(events, "syscalls/sys_enter_all/format", 0);
	unlinkat(events, "syscalls/sys_enter_all", AT_REMOVEDIR);
	unlinkat(events, "syscalls", AT_REMOVEDIR);
	close(events);
	return rmdir(path);
}

static int find(const char *name, const char *field, struct tracepoint_field *out)
{
	error.message[0] = 0;
	return tracepoint_field_find(events, name, field, "-e it", out, &error);
}

TEST(a_number_is_where_its_line_says)
{
	struct tracepoint_field field = {0};

	assert_int_equal(find("block:issue", "sector", &field), 0);
	assert_int_equal(field.tracepoint, 2104);
	assert_int_equal(field.offset, 16);
	assert_int_equal(field.bytes, 8);
	assert_false(field.is_signed);
	assert_int_equal(find("block:issue", "left", &field), 0);
	assert_int_equal(field.tracepoint, 2104);
	assert_int_equal(field.offset, 24);
	assert_int_equal(field.bytes, 2);
	assert_true(field.is_signed);
	assert_string_equal(error.message, "");
}

TEST(an_argument_is_as_wide_as_its_type)
{
	static const struct {
		const char *name;
		u32 bytes;
		bool is_signed;
	} wanted[] = {{"nfds", 4, false},  {"timeout_msecs", 4, true}, {"count", 8, false},
		      {"flags", 4, false}, {"pos", 8, false},	       {"group", 4, false},
		      {"size", 4, false}};
	struct tracepoint_field field = {0};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(find("syscalls:sys_enter_all", wanted[i].name, &field), 0);
		assert_int_equal(field.offset, 24 + 8 * i);
		assert_int_equal(field.bytes, wanted[i].bytes);
		assert_int_equal(field.is_signed, wanted[i].is_signed);
	}
	assert_int_equal(find("syscalls:sys_enter_all", "h", &field), -ENOENT);
}

/* A value is below 2^63, so the highest byte of an address of the kernel is left out. */
TEST(a_pointer_is_an_address)
{
	struct tracepoint_field field = {0};

	assert_int_equal(find("block:issue", "place", &field), 0);
	assert_true(field.is_address && !field.is_signed && field.bytes == 7 && field.offset == 32);
	assert_int_equal(find("block:issue", "who", &field), 0);
	assert_true(field.is_address && field.offset == 72);
	assert_int_equal(find("syscalls:sys_enter_all", "uaddr", &field), 0);
	assert_true(field.is_address && field.bytes == 8 && field.offset == 88);
	assert_int_equal(find("block:issue", "sector", &field), 0);
	assert_false(field.is_address);
}

TEST(other_fields_have_no_number)
{
	static const char *const others[] = {"rwbs[8]", "rwbs", "cmd",	"key",	     "id",
					     "uuid",	"sect", "none", "common_pid"};
	struct tracepoint_field field = {.tracepoint = 99};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char expected[256];

		snprintf(expected, sizeof(expected),
			 "-e it: block:issue has no number %s; its fields are dev, sector, left, "
			 "is_last, place, who",
			 others[i]);
		assert_int_equal(find("block:issue", others[i], &field), -ENOENT);
		assert_string_equal(error.message, expected);
	}
	assert_int_equal(field.tracepoint, 99);
}

TEST(a_record_may_have_no_fields)
{
	struct tracepoint_field field;

	assert_int_equal(find("block:none", "__syscall_nr", &field), -ENOENT);
	assert_string_equal(error.message, "-e it: block:none has no fields that are numbers");
	assert_int_equal(find("block:gone", "dev", &field), -ENOENT);
	assert_non_null(strstr(error.message, "-e it: the fields of block:gone: No such file"));
}

TEST_GROUP(setup, teardown)
