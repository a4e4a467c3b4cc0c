/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of PMUs, from folders that look like those of machines with an Intel CPU (fields in one
 * piece, a second word), an AMD CPU (a field in two pieces) and a memory controller. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/source/pmu_event.h"
#include "unit_test.h"

static const char *const tree[][2] = {
	{"intel/type", "4\n"},
	{"intel/format/event", "config:0-7\n"},
	{"intel/format/umask", "config:8-15\n"},
	{"intel/format/edge", "config:18\n"},
	{"intel/format/offcore_rsp", "config1:0-63\n"},
	{"intel/format/ldlat", "config1:0-15\n"},
	{"intel/format/later", "config4:0-15\n"},
	{"intel/format/broken", "config:9-8\n"},
	{"intel/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
	{"intel/events/mem-loads.unit", "bytes\n"},
	{"intel/events/of-a-core", "event=0x3,umask=?\n"},
	{"intel/events/circle", "circle\n"},
	{"amd/type", "4\n"},
	{"amd/format/event", "config:0-7,32-35\n"},
	{"memory/type", "14\n"},
	{"memory/cpumask", "0\n"},
	{"memory/format/event", "config:0-7\n"},
	{"memory/events/reads", "event=0x4\n"},
};

#define FILES (sizeof(tree) / sizeof(*tree))

static char folders[] = "/tmp/pmu_event_XXXXXX";
static struct pmu_event event;
static struct stackmap_error error;

static int make_tree(void **state)
{
	char path[128];

	(void)state;
	assert_non_null(mkdtemp(folders));
	for (size_t i = 0; i < FILES; i++) {
		int fd;

		for (const char *slash = tree[i][0]; (slash = strchr(slash, '/')); slash++) {
			snprintf(path, sizeof(path), "%s/%.*s", folders, (int)(slash - tree[i][0]),
				 tree[i][0]);
			mkdir(path, 0700);
		}
		snprintf(path, sizeof(path), "%s/%s", folders, tree[i][0]);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		assert_int_equal(write(fd, tree[i][1], strlen(tree[i][1])), strlen(tree[i][1]));
		close(fd);
	}
	return 0;
}

static int remove_tree(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folders);
	return system(command);
}

TEST_GROUP(make_tree, remove_tree)

static int parse(const char *word)
{
	memset(&event, 0xff, sizeof(event));
	memset(&error, 0, sizeof(error));
	return pmu_event_parse(folders, word, "-e it", &event, &error);
}

static void assert_words(const char *word, u64 config, u64 config1)
{
	assert_int_equal(parse(word), 0);
	assert_int_equal(event.type, 4);
	assert_int_equal(event.config[0], config);
	assert_int_equal(event.config[1], config1);
	assert_int_equal(event.config[2], 0);
}

TEST(fields_are_put_where_the_kernel_says)
{
	assert_words("intel/event=0xc2,umask=1/", 0x1c2, 0);
	assert_words("intel/event=0xff,umask=255,edge=1/", 0x4ffff, 0);
	assert_words("intel/event=0xbb,offcore_rsp=0xffffffffffffffff/", 0xbb, ~0ULL);
	assert_words("intel/umask=3,umask=1/", 0x100, 0);
}

TEST(a_field_in_two_pieces_has_its_low_bits_first)
{
	assert_words("amd/event=0x1c2/", 0x1000000c2, 0);
	assert_words("amd/event=0xfff/", 0xf000000ff, 0);
}

TEST(a_field_without_a_number_is_one)
{
	assert_words("intel/event=0x3c,edge/", 0x4003c, 0);
}

TEST(a_name_stands_for_its_terms_and_later_terms_change_them)
{
	assert_words("intel/mem-loads/", 0x1cd, 3);
	assert_words("intel/mem-loads,ldlat=30/upp", 0x1cd, 30);
}

TEST(whole_words_need_no_field)
{
	assert_words("amd/config=0x12345,config1=7/", 0x12345, 7);
}

TEST(terms_may_say_how_often)
{
	assert_int_equal(parse("amd/event=1,period=100000/"), 0);
	assert_int_equal(event.period, 100000);
	assert_int_equal(event.frequency, 0);
	assert_int_equal(parse("amd/event=1,freq=99/"), 0);
	assert_int_equal(event.frequency, 99);
	assert_int_equal(parse("amd/event=1,freq=99,period=5/"), -EINVAL);
}

TEST(a_raw_event_is_its_number)
{
	assert_int_equal(parse("r01c2:u"), 0);
	assert_int_equal(event.type, PERF_TYPE_RAW);
	assert_int_equal(event.config[0], 0x1c2);
	assert_int_equal(parse("r10000000000000000"), -ERANGE);
	assert_true(pmu_event_is_raw("rab"));
	assert_false(pmu_event_is_raw("r"));
	assert_false(pmu_event_is_raw("raw"));
	assert_false(pmu_event_is_raw("ref-cycles"));
}

static void assert_refused(const char *word, int code, const char *reason)
{
	assert_int_equal(parse(word), -code);
	assert_non_null(strstr(error.message, reason));
	assert_int_equal(event.type, ~0U);
}

TEST(an_error_says_what_there_is)
{
	assert_refused("cpu/event=1/", ENOENT, "this machine has no PMU cpu; it has ");
	assert_refused("amd/umask=1/", ENOENT, "the PMU amd has no umask; it has event, config");
	assert_refused("amd/../type/", ENOENT, "no ..");
	assert_refused("amd/event=0x1000/", ERANGE,
		       "event has 12 bits, so its largest number is 0xfff");
	assert_refused("amd/event=many/", EINVAL, "many is no number");
	assert_refused("amd/event=1,,config1=2/", EINVAL, "a term is missing");
	assert_refused("intel/later=1/", EOPNOTSUPP, "lies in the word config4");
	assert_refused("intel/broken=1/", EINVAL, "the kernel describes broken badly");
	assert_refused("intel/of-a-core/", EOPNOTSUPP, "write its terms yourself");
	assert_refused("intel/circle/", ENOENT, "no circle");
	assert_refused("memory/reads/", EOPNOTSUPP, "takes no samples");
}

TEST(terms_end_at_the_second_slash)
{
	assert_string_equal(pmu_event_end("cpu/event=1,umask=2/u,cycles"), "u,cycles");
	assert_string_equal(pmu_event_end("cpu/event=1"), "");
	assert_string_equal(pmu_event_end("cpu/mem-loads/"), "");
	assert_null(pmu_event_end("page-faults/100,cycles/5"));
	assert_null(pmu_event_end("cycles/if=pid==1/"));
	assert_null(pmu_event_end("page-faults/,a:b/value=c/"));
	assert_null(pmu_event_end("kmem:kmalloc/value=bytes_alloc/"));
	assert_null(pmu_event_end("/bin/sh"));
	assert_null(pmu_event_end("cycles/"));
	assert_null(pmu_event_end(""));
}

static int count_word(void *arg, const char *word)
{
	u32 *found = arg;

	*found |= !strcmp(word, "intel/mem-loads/")   ? 1
		  : !strcmp(word, "intel/of-a-core/") ? 2
		  : !strcmp(word, "intel/circle/")    ? 4
						      : 8;
	return 0;
}

TEST(lists_have_the_events_with_names_that_take_samples)
{
	u32 found = 0;

	assert_int_equal(pmu_event_each(folders, count_word, &found), 0);
	assert_int_equal(found, 1 | 2 | 4);
	assert_int_equal(pmu_event_each("/nowhere", count_word, &found), 0);
}
