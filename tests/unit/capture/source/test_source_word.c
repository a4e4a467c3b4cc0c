/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The grammar of -e. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "capture/source/source_word.h"
#include "unit_test.h"

static struct source_word parse(const char *text)
{
	struct source_word word;
	struct stackmap_error error = {0};

	assert_int_equal(source_word_parse(text, text, &word, &error), 0);
	assert_string_equal(error.message, "");
	return word;
}

TEST(a_user_function_has_file_and_name)
{
	struct source_word word = parse("ur:/lib/a:b.so:main");

	assert_ptr_equal(word.ops, &source_user_ops);
	assert_true(word.query.on_return);
	assert_string_equal(word.query.file, "/lib/a:b.so");
	assert_string_equal(word.query.match.pattern, "main");
	assert_string_equal(word.query.prefix, "ur:/lib/a:b.so:");
	assert_int_equal(word.query.offset, 0);
	assert_false(word.query.has_no_symbol);
	source_word_clear(&word);
}

TEST(an_offset_is_added_to_a_symbol)
{
	struct source_word word = parse("u:libc:malloc+0x1f");

	assert_string_equal(word.query.match.pattern, "malloc");
	assert_int_equal(word.query.offset, 0x1f);
	assert_false(word.query.has_no_symbol);
	source_word_clear(&word);
}

TEST(an_offset_may_stand_alone)
{
	struct source_word word = parse("u:libc:0x98930");

	assert_true(word.query.has_no_symbol);
	assert_int_equal(word.query.offset, 0x98930);
	source_word_clear(&word);
}

TEST(a_kernel_function_has_a_name)
{
	struct source_word word = parse("k:vfs_*");

	assert_ptr_equal(word.ops, &source_kernel_ops);
	assert_false(word.query.on_return);
	assert_true(word.query.match.is_glob);
	assert_string_equal(word.query.match.pattern, "vfs_*");
	source_word_clear(&word);
}

TEST(a_name_may_have_a_period)
{
	struct source_word word = parse("page-faults/100");

	assert_null(word.ops);
	assert_int_equal(word.query.period, 100);
	assert_string_equal(word.query.match.pattern, "page-faults");
	source_word_clear(&word);
}

TEST(a_usdt_probe_has_file_provider_and_name)
{
	struct source_word word = parse("usdt:/lib/a:b.so:python:gc__*/value=arg1/");

	assert_ptr_equal(word.ops, &source_usdt_ops);
	assert_string_equal(word.query.file, "/lib/a:b.so");
	assert_string_equal(word.query.match.pattern, "python:gc__*");
	assert_string_equal(word.query.prefix, "usdt:/lib/a:b.so:");
	assert_false(word.query.has_any_provider);
	source_word_clear(&word);
}

TEST(the_provider_of_a_usdt_probe_may_be_left_out)
{
	struct source_word word = parse("usdt:/lib/a.so:gc__start");

	assert_string_equal(word.query.file, "/lib/a.so");
	assert_string_equal(word.query.match.pattern, "gc__start");
	assert_true(word.query.has_any_provider);
	source_word_clear(&word);
	word = parse("usdt:libc:start");
	assert_string_equal(word.query.file, "libc");
	assert_true(word.query.has_any_provider);
	source_word_clear(&word);
}

TEST(an_event_of_a_pmu_keeps_its_terms_and_has_modes)
{
	struct source_word word = parse("cpu/event=0xc2,umask=1/up");

	assert_ptr_equal(word.ops, &source_pmu_ops);
	assert_string_equal(word.query.pmu_event, "cpu/event=0xc2,umask=1/up");
	assert_string_equal(word.query.modes, "up");
	source_word_clear(&word);
	word = parse("cpu/event=0xc2/if=pid==3/");
	assert_string_equal(word.query.pmu_event, "cpu/event=0xc2");
	assert_string_equal(word.query.modes, "");
	assert_int_equal(word.query.asks.count, 1);
	source_word_clear(&word);
	word = parse("r01c2:k");
	assert_string_equal(word.query.pmu_event, "r01c2:k");
	assert_string_equal(word.query.modes, "k");
	source_word_clear(&word);
}

TEST(a_pmu_event_may_be_a_glob_of_names)
{
	struct source_word word = parse("cpu/mem-*/");

	assert_ptr_equal(word.ops, &source_pmu_ops);
	assert_null(word.query.pmu_event);
	assert_true(word.query.match.is_glob);
	source_word_clear(&word);
}

TEST(a_tracepoint_may_have_a_value)
{
	struct source_word word = parse("kmem:k*alloc/value=bytes_alloc/");

	assert_null(word.ops);
	assert_string_equal(word.query.match.pattern, "kmem:k*alloc");
	assert_true(word.query.match.is_glob);
	assert_string_equal(word.query.asks.name, "bytes_alloc");
	assert_null(word.query.asks.unit);
	assert_int_equal(word.query.period, 0);
	source_word_clear(&word);
}

TEST(a_value_may_have_a_unit)
{
	struct source_word word = parse("syscalls:sys_exit_read/value=ret:bytes/");

	assert_string_equal(word.query.match.pattern, "syscalls:sys_exit_read");
	assert_string_equal(word.query.asks.name, "ret");
	assert_string_equal(word.query.asks.unit, "bytes");
	source_word_clear(&word);
}

TEST(a_function_may_have_a_question)
{
	struct source_word word = parse("u:/a/if=1/b:main/value=arg1:bytes,if=comm~a:b/c&&arg2>1/");

	assert_string_equal(word.query.file, "/a/if=1/b");
	assert_string_equal(word.query.match.pattern, "main");
	assert_string_equal(word.query.asks.name, "arg1");
	assert_string_equal(word.query.asks.unit, "bytes");
	assert_int_equal(word.query.asks.count, 2);
	assert_string_equal(word.query.asks.conditions[0].pattern, "a:b/c");
	source_word_clear(&word);
}

TEST(a_period_stands_before_a_question)
{
	struct source_word word = parse("cycles:u/1000/if=uid==0/");

	assert_int_equal(word.query.period, 1000);
	assert_string_equal(word.query.modes, "u");
	assert_int_equal(word.query.asks.count, 1);
	source_word_clear(&word);
}

TEST(a_folder_may_have_any_name)
{
	struct source_word word = parse("u:/a/value=1/b/:main");

	assert_string_equal(word.query.file, "/a/value=1/b/");
	assert_string_equal(word.query.match.pattern, "main");
	source_word_clear(&word);
}

TEST(words_of_bpftrace_are_taken)
{
	static const struct {
		const char *text;
		const struct source_ops *ops;
		bool on_return;
		const char *pattern;
	} cases[] = {
		{"uprobe:libc:malloc", &source_user_ops, false, "malloc"},
		{"uretprobe:libc:malloc", &source_user_ops, true, "malloc"},
		{"kprobe:vfs_read", &source_kernel_ops, false, "vfs_read"},
		{"kretprobe:vfs_*", &source_kernel_ops, true, "vfs_*"},
		{"fentry:vfs_read", &source_kernel_ops, false, "vfs_read"},
		{"fexit:vfs_read", &source_kernel_ops, true, "vfs_read"},
		{"tracepoint:sched:sched_switch", NULL, false, "sched:sched_switch"},
		{"profile:hz:99", NULL, false, "cpu-clock"},
		{"software:page-faults:100", NULL, false, "page-faults"},
		{"hardware:cycles:1000000", NULL, false, "cycles"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct source_word word = parse(cases[i].text);

		assert_ptr_equal(word.ops, cases[i].ops);
		assert_int_equal(word.query.on_return, cases[i].on_return);
		assert_string_equal(word.query.match.pattern, cases[i].pattern);
		source_word_clear(&word);
	}
}

TEST(rates_and_periods_of_bpftrace)
{
	struct source_word profile = parse("profile:hz:99");
	struct source_word faults = parse("software:page-faults:100");

	assert_int_equal(profile.query.frequency, 99);
	assert_int_equal(faults.query.period, 100);
	source_word_clear(&profile);
	source_word_clear(&faults);
}

TEST(modes_of_perf_events)
{
	static const struct {
		const char *text, *pattern, *modes;
		u64 period;
	} cases[] = {
		{"cycles:u", "cycles", "u", 0},
		{"cpu-clock:k", "cpu-clock", "k", 0},
		{"cycles:ukppp/1000", "cycles", "ukppp", 1000},
		{"sched:sched_switch", "sched:sched_switch", NULL, 0},
		{"cycles:", "cycles:", NULL, 0},
		{"cycles:x", "cycles:x", NULL, 0},
		{"a:kernel", "a:kernel", NULL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct source_word word = parse(cases[i].text);

		assert_string_equal(word.query.match.pattern, cases[i].pattern);
		assert_int_equal(word.query.period, cases[i].period);
		if (cases[i].modes)
			assert_string_equal(word.query.modes, cases[i].modes);
		else
			assert_null(word.query.modes);
		source_word_clear(&word);
	}
}

TEST(a_malformed_word_is_refused)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{"", -EINVAL},
		{"u:", -EINVAL},
		{"u:malloc", -EINVAL},
		{"u::malloc", -EINVAL},
		{"u:libc:", -EINVAL},
		{"u:libc:malloc+", -EINVAL},
		{"u:libc:malloc+-1", -EINVAL},
		{"u:libc:0xzz", -EINVAL},
		{"u:libc:0x1ffffffffffffffff", -ERANGE},
		{"k:", -EINVAL},
		{"kr:f+1", -EINVAL},
		{"k:f/value=count", -EINVAL},
		{"k:f/value=count/x", -EINVAL},
		{"k:f/100", -EINVAL},
		{"u:libc:malloc/value=size", -EINVAL},
		{"u:libc:malloc/value=arg1,value=arg2/", -EINVAL},
		{"u:libc:malloc/100", -EINVAL},
		{"kprobe:", -EINVAL},
		{"profile:hz:0", -EINVAL},
		{"profile:ms:10", -EINVAL},
		{"profile:99", -EINVAL},
		{"interval:s:1", -EINVAL},
		{"usdt:/bin/x:", -EINVAL},
		{"usdt::b", -EINVAL},
		{"usdt:/bin/x::b", -EINVAL},
		{"usdt:/bin/x:a:b/100", -EINVAL},
		{"r01c2:x", -EINVAL},
		{"cpu/event=0xc2,umask=1/x", -EINVAL},
		{"cpu/event=0xc2/ukpppp", -EINVAL},
		{"a:b/", -EINVAL},
		{"a:b/100", -EINVAL},
		{"a:b/value=/", -EINVAL},
		{"a:b/value=c", -EINVAL},
		{"a:b/value=c/d", -EINVAL},
		{"a:b/value=c:/", -EINVAL},
		{"a:b/value=:bytes/", -EINVAL},
		{"a:b/value=c:d:e/", -EINVAL},
		{"a:b/value=c d/", -EINVAL},
		{"a:b/values=c/", -EINVAL},
		{"cs/", -EINVAL},
		{"cs/-1", -EINVAL},
		{"cs/1x", -EINVAL},
		{"cs/0", -ERANGE},
		{"cs/9223372036854775808", -ERANGE},
		{"cs/99999999999999999999", -ERANGE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct source_word word = {.parts = (char *)1};
		struct stackmap_error error = {0};

		assert_int_equal(source_word_parse(cases[i].text, cases[i].text, &word, &error),
				 cases[i].err);
		assert_ptr_equal(word.parts, (char *)1);
		assert_memory_equal(error.message, cases[i].text, strlen(cases[i].text));
	}
}
