/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsing of spans, and the sources that a list has for a span. */
#include <errno.h>
#include <string.h>

#include "capture/source/source.h"
#include "capture/source/source_span.h"
#include "unit_test.h"

static struct source_span span;
static struct source_list list;
static struct stackmap_error error;

static int clear(void **state)
{
	(void)state;
	source_list_clear(&list);
	return 0;
}

static void assert_words(const char *text, const char *begin, const char *end)
{
	assert_int_equal(source_span_parse(text, "-e it", &span, &error), 0);
	assert_string_equal(span.begin.query.text, begin);
	assert_string_equal(span.end.query.text, end);
	source_span_clear(&span);
}

TEST(two_dots_stand_between_the_words)
{
	assert_words("span:a:b..c:d", "a:b", "c:d");
	assert_words("span:u:../x:f..ur:../x:f", "u:../x:f", "ur:../x:f");
	assert_words("span:u:/a/../x:f..u:/a/../x:g/by=arg1/", "u:/a/../x:f", "u:/a/../x:g");
	assert_words("span:k:f*..kr:f*/if=time>1ms/", "k:f*", "kr:f*");
}

TEST(both_ends_have_the_key_and_the_end_has_the_conditions)
{
	const char *text = "span:a:b..c:d/by=x:y,if=time>1ms&&z<2/";

	assert_int_equal(source_span_parse(text, "-e it", &span, &error), 0);
	assert_int_equal(span.begin.query.asks.role, SPAN_BEGIN);
	assert_string_equal(span.begin.query.asks.by, "x");
	assert_int_equal(span.begin.query.asks.count, 0);
	assert_int_equal(span.end.query.asks.role, SPAN_END);
	assert_string_equal(span.end.query.asks.by_end, "y");
	assert_int_equal(span.end.query.asks.count, 2);
	source_span_clear(&span);
}

TEST(both_ends_know_whose_stacks_the_span_has)
{
	static const struct {
		const char *text;
		enum span_side stacks;
	} words[] = {
		{"span:a:b..c:d/by=x,stack=begin,if=time>1/", SPAN_STACKS_BEGIN},
		{"span:a:b..c:d/stack=both/", SPAN_STACKS_BOTH},
		{"span:a:b..c:d/stack=end/", SPAN_STACKS_END},
		{"span:a:b..c:d", SPAN_STACKS_END},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_int_equal(source_span_parse(words[i].text, "-e it", &span, &error), 0);
		assert_int_equal(span.begin.query.asks.stacks, words[i].stacks);
		assert_int_equal(span.end.query.asks.stacks, words[i].stacks);
		source_span_clear(&span);
	}
}

TEST(a_sample_is_taken_where_the_value_is_read)
{
	const char *at_entry = "alive:ur:x:f..u:x:g/by=ret:arg1,value=arg1,every=512K/";
	const char *at_return = "alive:ur:x:f..u:x:g/by=ret:arg1,value=ret,every=4,if=arg1>1/";

	assert_int_equal(source_span_parse(at_entry, "-e it", &span, &error), 0);
	assert_int_equal(span.call.query.asks.every, 512 << 10);
	assert_int_equal(span.begin.query.asks.every, 512 << 10);
	source_span_clear(&span);
	assert_int_equal(source_span_parse(at_return, "-e it", &span, &error), 0);
	assert_int_equal(span.call.query.asks.every, 0);
	assert_int_equal(span.begin.query.asks.every, 4);
	source_span_clear(&span);
}

TEST(malformed_spans_are_refused)
{
	static const char *const words[] = {
		"span:",
		"span:a:b",
		"span:..a:b",
		"span:a:b..",
		"span:a:b...c:d",
		"span:a:b..c:d/value=x/",
		"span:a:b..c:d/by=/",
		"span:a:b..c:d/by=1/",
		"span:a:b..c:d/by=x:/",
		"span:cs/10..a:b",
		"span:a:b..cs/10",
		"span:a:b/x..c:d",
		"span:a:b..c:d/by=*x:y/",
		"span:a:b..c:d/stack=/",
		"span:a:b..c:d/every=4/",
		"alive:a:b..c:d/by=x,every=4/",
		"alive:a:b..c:d/by=x,value=y,every=0/",
		"alive:a:b..c:d/by=x,value=y,every=-1/",
		"alive:a:b..c:d/by=x,value=y,every=4G/",
		"alive:a:b..c:d/by=x,value=y,every=/",
		"alive:a:b..c:d/by=x,value=y,every=1,every=1/",
		"span:a:b..c:d/stack=beg/",
		"span:a:b..c:d/stack=end,stack=end/",
		"span:a:b/stack=end/..c:d",
		"alive:a:b..c:d/by=x,stack=end/",
		"alive:a:b..c:d",
		"alive:a:b..c:d/by=x:*y/",
		"alive:k:f..k:g/by=*x:y/",
		"alive:a:b..c:d/by=x,value=y*/",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_int_equal(source_span_parse(words[i], "-e it", &span, &error), -EINVAL);
		assert_memory_equal(error.message, "-e it: ", strlen("-e it: "));
	}
}

TEST(what_is_alive_has_a_call_where_a_function_returns)
{
	const char *text = "alive:ur:x:f..u:x:g/by=*arg1:arg1,value=arg2*arg3:bytes,if=arg2>1/";

	assert_int_equal(source_span_parse(text, "-e it", &span, &error), 0);
	assert_true(span.is_alive && span.has_call);
	assert_string_equal(span.unit, "bytes");
	assert_string_equal(span.call.query.text, "u:x:f");
	assert_int_equal(span.call.query.asks.role, ALIVE_CALL);
	assert_string_equal(span.call.query.asks.by, "arg1");
	assert_string_equal(span.call.query.asks.name, "arg2");
	assert_string_equal(span.call.query.asks.factor, "arg3");
	assert_int_equal(span.call.query.asks.count, 1);
	assert_int_equal(span.begin.query.asks.role, ALIVE_BEGIN);
	assert_string_equal(span.begin.query.asks.by, "ret");
	assert_null(span.begin.query.asks.name);
	assert_int_equal(span.begin.query.asks.count, 0);
	assert_int_equal(span.end.query.asks.role, ALIVE_END);
	assert_string_equal(span.end.query.asks.by_end, "arg1");
	source_span_clear(&span);
}

TEST(what_is_alive_needs_no_call_where_the_event_has_all_numbers)
{
	assert_int_equal(source_span_parse("alive:a:b..c:d/by=x,value=y/", "-e it", &span, &error),
			 0);
	assert_true(span.is_alive && !span.has_call);
	assert_string_equal(span.begin.query.asks.name, "y");
	source_span_clear(&span);
}

TEST(a_list_has_both_ends, NULL, clear)
{
	const char *word = "span:syscalls:sys_enter_read..syscalls:sys_exit_read/if=time>1ms/";

	assert_int_equal(source_list_add(&list, word, 0, &error), 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.sources[0].name, "span:syscalls:sys_enter_read..");
	assert_null(list.sources[0].unit);
	assert_int_equal(list.sources[0].question.span_role, SPAN_BEGIN);
	assert_string_equal(list.sources[1].name,
			    "span:syscalls:sys_enter_read..syscalls:sys_exit_read");
	assert_string_equal(list.sources[1].unit, "ns");
	assert_int_equal(list.sources[1].question.span, list.sources[0].question.span);
	assert_int_equal(list.sources[1].question.conditions[0].subject, CONDITION_TIME);
	assert_false(question_reads_event(&list.sources[1].question));
}

TEST(a_system_call_has_one_purpose, NULL, clear)
{
	const char *word = "span:syscalls:sys_enter_read..syscalls:sys_exit_read";

	assert_int_equal(source_list_add(&list, word, 0, &error), 0);
	assert_int_equal(source_list_add(&list, "syscalls:sys_exit_read", 0, &error), -EBUSY);
	assert_int_equal(source_list_add(&list, "syscalls:sys_exit_write", 0, &error), 0);
	assert_int_equal(list.count, 3);
}

TEST(samples_are_no_ends, NULL, clear)
{
	assert_int_equal(
		source_list_add(&list, "span:cpu-clock..syscalls:sys_exit_read", 99, &error),
		-EINVAL);
	assert_non_null(strstr(error.message, "cpu-clock is none of them"));
	assert_int_equal(list.count, 0);
}
