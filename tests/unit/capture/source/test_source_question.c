/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of sources: their parsing, and their meaning for a source with known numbers. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/source/source.h"
#include "capture/source/source_question.h"
#include "condition.h"

#include "unit_test.h"

static char text[512];
static struct question_words words;
static struct source source;
static struct stackmap_error error;

static int parse(const char *question)
{
	strncpy(text, question, sizeof(text) - 1);
	return question_parse(text, "-e it", &words, &error);
}

/* Finds numbers of events that have a signed byte at 1, an unsigned word of 32 bits at 4, and a
 * long at 8. */
static int find(void *arg, const char *name, struct source_number *out, struct stackmap_error *why)
{
	static const struct {
		const char *name;
		struct source_number number;
	} numbers[] = {
		{"tiny", {{.offset = 1, .bytes = 1, .is_signed = 1}, false}},
		{"size_bytes", {{.offset = 4, .bytes = 4}, false}},
		{"pid", {{.offset = 8, .bytes = 8, .is_signed = 1}, false}},
		{"place", {{.offset = 16, .bytes = 7}, true}},
		{"far", {{.bytes = 8, .place = NUMBER_IN_USER_MEMORY, .steps = 1}, false}},
	};

	(void)arg;
	for (u32 i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(numbers[i].name, name)) {
			*out = numbers[i].number;
			return 0;
		}
	(void)why;
	return -ENOENT;
}

static int resolve_question_of_test_event(const char *question)
{
	source = (struct source){.name = (char *)"it"};
	return parse(question) ?: question_resolve(&words, "-e it", find, NULL, &source, &error);
}

TEST(a_number_may_be_a_member_behind_pointers)
{
	assert_int_equal(parse("value=file->f_inode->i_size:s32:bytes,if=a->b>=3 && c->d.e->f<-1"),
			 0);
	assert_string_equal(words.name, "file->f_inode->i_size");
	assert_int_equal(words.type.bytes, 4);
	assert_string_equal(words.unit, "bytes");
	assert_int_equal(words.count, 2);
	assert_string_equal(words.conditions[0].name, "a->b");
	assert_int_equal(words.conditions[0].accepts, COMPARED_GREATER | COMPARED_EQUAL);
	assert_string_equal(words.conditions[1].name, "c->d.e->f");
	assert_int_equal(words.conditions[1].accepts, COMPARED_LESS);
	assert_true(words.conditions[1].is_negative);
	assert_int_equal(parse("value=a-b"), -EINVAL);
}

TEST(a_counter_is_a_perf_event_with_modes_and_a_unit)
{
	static const struct {
		const char *text, *counter, *unit;
		u32 conditions;
	} cases[] = {
		{"value=+page-faults", "page-faults", NULL, 0},
		{"value=+page-faults:pages", "page-faults", "pages", 0},
		{"value=+cycles:u", "cycles:u", NULL, 0},
		{"value=+cycles:uk:c", "cycles:uk", "c", 0},
		{"value=+r01c2:k", "r01c2:k", NULL, 0},
		{"value=+page-faults,if=pid==1", "page-faults", NULL, 1},
		{"if=pid==1,value=+page-faults", "page-faults", NULL, 1},
		{"value=+cpu/event=0xc2,umask=1/", "cpu/event=0xc2,umask=1/", NULL, 0},
		{"value=+cpu/event=0xc2,umask=1/u:n,if=pid==1", "cpu/event=0xc2,umask=1/u", "n", 1},
		{"value=+cpu/event=0xc2,umask=1/:k:n", "cpu/event=0xc2,umask=1/:k", "n", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse(cases[i].text), 0);
		assert_string_equal(words.counter, cases[i].counter);
		assert_null(words.name);
		assert_int_equal(!words.unit, !cases[i].unit);
		if (words.unit)
			assert_string_equal(words.unit, cases[i].unit);
		assert_int_equal(words.count, cases[i].conditions);
	}
}

TEST(a_counter_has_a_number_of_perf)
{
	assert_int_equal(resolve_question_of_test_event("value=+faults:u"), 0);
	assert_true(source.counter.is_given && source.counter.no_kernel);
	assert_false(source.counter.no_user);
	assert_int_equal(source.counter.perf_type, PERF_TYPE_SOFTWARE);
	assert_int_equal(source.counter.perf_config[0], PERF_COUNT_SW_PAGE_FAULTS);
	assert_string_equal(source.unit, "page-faults");
	assert_false(question_reads_event(&source.question));
	assert_int_equal(resolve_question_of_test_event("value=+task-clock"), 0);
	assert_string_equal(source.unit, "ns");
	assert_int_equal(resolve_question_of_test_event("value=+task-clock:time"), 0);
	assert_string_equal(source.unit, "time");
	if (!access("/sys/bus/event_source/devices/msr/events/tsc", F_OK)) {
		assert_int_equal(resolve_question_of_test_event("value=+msr/tsc/"), 0);
		assert_string_equal(source.unit, "counts");
	}
	assert_int_equal(resolve_question_of_test_event("value=+task-clok"), -ENOENT);
	assert_non_null(strstr(error.message, "did you mean +task-clock?"));
	if (resolve_question_of_test_event("value=+cycles") == -ENOENT)
		assert_non_null(strstr(error.message, "did you mean +cpu-clock?"));
	assert_int_equal(resolve_question_of_test_event("value=+page-faults/7"), -EINVAL);
	assert_int_equal(resolve_question_of_test_event("value=+page-faults:p"), -EINVAL);
	assert_int_equal(resolve_question_of_test_event("value=+page-*"), -EINVAL);
	assert_int_equal(resolve_question_of_test_event("value=+k:f"), -ENOENT);
}

TEST(a_value_has_a_type_and_a_unit)
{
	assert_int_equal(parse("value=arg1"), 0);
	assert_string_equal(words.name, "arg1");
	assert_null(words.unit);
	assert_int_equal(words.type.bytes, 0);

	assert_int_equal(parse("value=ret:s32:errors"), 0);
	assert_string_equal(words.unit, "errors");
	assert_int_equal(words.type.bytes, 4);
	assert_true(words.type.is_signed);

	assert_int_equal(parse("value=ret:u8"), 0);
	assert_null(words.unit);
	assert_int_equal(words.type.bytes, 1);
	assert_false(words.type.is_signed);
}

TEST(an_event_has_two_values)
{
	assert_int_equal(parse("values=arg1:s32:errors,arg2*arg3:bytes,if=arg1>1"), 0);
	assert_string_equal(words.name, "arg1");
	assert_string_equal(words.unit, "errors");
	assert_string_equal(words.further.name, "arg2");
	assert_string_equal(words.further.factor, "arg3");
	assert_string_equal(words.further.unit, "bytes");
	assert_int_equal(words.count, 1);
	assert_int_equal(parse("values=arg1"), -EINVAL);
	assert_non_null(strstr(error.message, "two of them"));
	assert_int_equal(parse("values=arg1,if=arg1>1"), -EINVAL);
	assert_int_equal(parse("values=arg1,arg2,arg3"), -EINVAL);
	assert_int_equal(parse("value=arg1,arg2"), -EINVAL);
	assert_int_equal(parse("value=arg1,values=arg1,arg2"), -EINVAL);
}

TEST(both_values_are_found_with_their_units)
{
	assert_int_equal(resolve_question_of_test_event("values=size_bytes,pid"), 0);
	assert_int_equal(source.question.value.offset, 4);
	assert_int_equal(source.question.further.offset, 8);
	assert_string_equal(source.unit, "bytes");
	assert_string_equal(source.further_unit, "pid");
	assert_string_equal(source.value_name, "size_bytes");
	assert_string_equal(source.further_name, "pid");
	assert_int_equal(resolve_question_of_test_event("values=size_bytes,none"), -ENOENT);
	assert_int_equal(resolve_question_of_test_event("values=size_bytes*pid,args.pid"), 0);
	assert_null(source.value_name);
	assert_string_equal(source.further_name, "pid");
	assert_int_equal(resolve_question_of_test_event("value=size_bytes"), 0);
	assert_null(source.further_unit);
	assert_null(source.further_name);
}

TEST(a_comma_between_values_belongs_to_the_word)
{
	const char *word = "u:a/b:f/values=arg1,arg2,if=arg1>1/,k:g";
	const char *first = strchr(word, ','), *last = strrchr(word, ',');

	assert_true(is_comma_in_question_list(word, first));
	assert_true(is_comma_in_question_list(word, strchr(first + 1, ',')));
	assert_false(is_comma_in_question_list(word, last));
}

TEST(conditions_are_alternatives_of_conjunctions)
{
	assert_int_equal(parse("if=a>1&&b<=-2||comm!~x*y && c!=0x10"), 0);
	assert_int_equal(words.count, 4);
	assert_string_equal(words.conditions[0].name, "a");
	assert_int_equal(words.conditions[0].accepts, COMPARED_GREATER);
	assert_int_equal(words.conditions[1].accepts, COMPARED_LESS | COMPARED_EQUAL);
	assert_true(words.conditions[1].is_negative);
	assert_int_equal(words.conditions[1].magnitude, 2);
	assert_false(words.conditions[1].begins_alternative);
	assert_true(words.conditions[2].begins_alternative);
	assert_string_equal(words.conditions[2].pattern, "x*y");
	assert_string_equal(words.conditions[3].name, "c");
	assert_int_equal(words.conditions[3].magnitude, 16);
}

static bool does_question_refuse_early(const char *question, enum span_role role)
{
	source = (struct source){.name = (char *)"it"};
	assert_int_equal(parse(question), 0);
	words.role = role;
	assert_int_equal(question_resolve(&words, "-e it", find, NULL, &source, &error), 0);
	return source.question.refuses_early;
}

/* A condition that reads memory of the task comes after the filters, which may refuse the task. */
TEST(a_first_condition_that_must_be_met_refuses_early)
{
	assert_true(does_question_refuse_early("if=tiny==1", SPAN_NONE));
	assert_true(does_question_refuse_early("if=comm~x* && far==1", SPAN_NONE));
	assert_false(does_question_refuse_early("if=far==1 && tiny==1", SPAN_NONE));
	assert_false(does_question_refuse_early("if=tiny==1 || pid==1", SPAN_NONE));
	assert_false(does_question_refuse_early("value=size_bytes", SPAN_NONE));
	assert_false(does_question_refuse_early("if=tiny==1", SPAN_END));
	assert_false(does_question_refuse_early("if=tiny==1", ALIVE_CALL));
}

TEST(numbers_have_suffixes)
{
	static const struct {
		const char *text;
		u64 number;
	} cases[] = {
		{"if=a>10ms", 10000000},  {"if=a>2us", 2000}, {"if=a>3s", 3000000000},
		{"if=a>7ns", 7},	  {"if=a>=4K", 4096}, {"if=a>=1M", 1 << 20},
		{"if=a>=2G", 2ULL << 30}, {"if=a==0x1f", 31},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse(cases[i].text), 0);
		assert_int_equal(words.conditions[0].magnitude, cases[i].number);
	}
}

TEST(malformed_questions_are_refused)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{"", -EINVAL},
		{"value=", -EINVAL},
		{"value=1", -EINVAL},
		{"value=.x", -EINVAL},
		{"value=x.", -EINVAL},
		{"value=x->", -EINVAL},
		{"value=->x", -EINVAL},
		{"value=x..y", -EINVAL},
		{"if=.x>1", -EINVAL},
		{"by=x.", -EINVAL},
		{"value=a b", -EINVAL},
		{"value=a:", -EINVAL},
		{"value=:bytes", -EINVAL},
		{"value=+", -EINVAL},
		{"value=+:bytes", -EINVAL},
		{"value=+a:b:c", -EINVAL},
		{"value=+a:u:", -EINVAL},
		{"value=+a,value=b", -EINVAL},
		{"value=a,value=+b", -EINVAL},
		{"value=a:u32:", -EINVAL},
		{"value=a:b:c", -EINVAL},
		{"value=a:u32:b:c", -EINVAL},
		{"value=a,value=b", -EINVAL},
		{"if=a>1,if=b>1", -EINVAL},
		{"if=", -EINVAL},
		{"if=a", -EINVAL},
		{"if=a=1", -EINVAL},
		{"if=>1", -EINVAL},
		{"if=a>", -EINVAL},
		{"if=a>b", -EINVAL},
		{"if=a>1x", -EINVAL},
		{"if=a>1&&", -EINVAL},
		{"if=||a>1", -EINVAL},
		{"if=a:b>1", -EINVAL},
		{"if=a~x", -EINVAL},
		{"if=comm==x", -EINVAL},
		{"if=comm~", -EINVAL},
		{"if=comm:u8~x", -EINVAL},
		{"if=a>99999999999999999999", -ERANGE},
		{"if=a>99999999999G", -ERANGE},
		{"if=a>-9223372036854775809", -ERANGE},
		{"if=a>1&&a>1&&a>1&&a>1&&a>1&&a>1&&a>1&&a>1&&a>1", -E2BIG},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse(cases[i].text), cases[i].err);
		assert_memory_equal(error.message, "-e it: ", strlen("-e it: "));
	}
	assert_int_equal(parse("if=a>1&&a>1&&a>1&&a>1&&a>1&&a>1&&a>1&&a>1"), 0);
}

TEST(a_value_is_a_number_of_the_event)
{
	assert_int_equal(resolve_question_of_test_event("value=size_bytes"), 0);
	assert_string_equal(source.unit, "bytes");
	assert_int_equal(source.question.value.offset, 4);
	assert_int_equal(resolve_question_of_test_event("value=tiny"), 0);
	assert_string_equal(source.unit, "tiny");
	assert_int_equal(resolve_question_of_test_event("value=place"), 0);
	assert_string_equal(source.unit, "address");
	assert_int_equal(resolve_question_of_test_event("value=size_bytes:u16:cm"), 0);
	assert_int_equal(source.question.value.bytes, 2);
	assert_int_equal(resolve_question_of_test_event("value=tiny:s32"), -EINVAL);
	assert_int_equal(resolve_question_of_test_event("value=nothing"), -ENOENT);
}

TEST(pid_is_the_task_unless_it_is_an_argument)
{
	assert_int_equal(
		resolve_question_of_test_event("value=pid,if=pid==7&&args.pid!=7&&tid>1&&uid==0"),
		0);
	assert_int_equal(source.question.value.offset, 8);
	assert_int_equal(source.question.conditions[0].subject, CONDITION_PID);
	assert_int_equal(source.question.conditions[1].subject, CONDITION_NUMBER);
	assert_int_equal(source.question.conditions[1].number.offset, 8);
	assert_int_equal(source.question.conditions[2].subject, CONDITION_TID);
	assert_int_equal(source.question.conditions[3].subject, CONDITION_UID);
	assert_true(question_reads_event(&source.question));
	assert_int_equal(resolve_question_of_test_event("if=cgroup==0x1000000ab"), 0);
	assert_int_equal(source.question.conditions[0].subject, CONDITION_CGROUP);
	assert_int_equal(source.question.conditions[0].number.bytes, 8);
	assert_false(question_reads_event(&source.question));
	assert_int_equal(resolve_question_of_test_event("if=pid==7&&comm~x"), 0);
	assert_string_equal(source.patterns[1], "x");
	assert_false(question_reads_event(&source.question));
}

TEST(an_address_is_compared_whole)
{
	assert_int_equal(resolve_question_of_test_event("value=place,if=place>=0xffff800000000000"),
			 0);
	assert_int_equal(source.question.value.bytes, 7);
	assert_int_equal(source.question.conditions[0].number.bytes, 8);
}

TEST(a_condition_that_is_always_the_same_is_refused)
{
	assert_int_equal(resolve_question_of_test_event("if=tiny>=-128&&tiny<=127"), 0);
	assert_int_equal(resolve_question_of_test_event("if=tiny>127&&size_bytes<=4294967295"), 0);
	assert_int_equal(resolve_question_of_test_event("if=tiny>128"), -ERANGE);
	assert_int_equal(resolve_question_of_test_event("if=tiny<-129"), -ERANGE);
	assert_int_equal(resolve_question_of_test_event("if=size_bytes>-1"), -ERANGE);
	assert_int_equal(resolve_question_of_test_event("if=size_bytes>4294967296"), -ERANGE);
	assert_int_equal(resolve_question_of_test_event("if=args.pid<-9223372036854775808"), 0);
	assert_int_equal(resolve_question_of_test_event("if=args.pid>9223372036854775808"),
			 -ERANGE);
	assert_int_equal(resolve_question_of_test_event("if=comm~?a-name-of-sixteen"), -ERANGE);
}

TEST(registers_have_the_names_of_arguments)
{
	struct event_number number;

	assert_int_equal(question_find_register("arg1", false, &number), 0);
	assert_int_equal(number.offset, question_argument_offset(0));
	assert_int_equal(question_find_register("arg6", false, &number), 0);
	assert_int_equal(number.offset, question_argument_offset(5));
	assert_int_equal(question_find_register("ret", true, &number), 0);
	assert_int_equal(number.offset, question_result_offset());
	assert_int_equal(question_find_register("arg0", false, &number), -ENOENT);
	assert_int_equal(question_find_register("arg7", false, &number), -ENOENT);
	assert_int_equal(question_find_register("arg", false, &number), -ENOENT);
	assert_int_equal(question_find_register("", false, &number), -ENOENT);
	assert_int_equal(question_find_register("arg1", true, &number), -ENOENT);
	assert_int_equal(question_find_register("ret", false, &number), -ENOENT);
}

TEST(numbers_keep_their_sign)
{
	assert_int_equal(event_number_widen(0xff, 1, true), -1);
	assert_int_equal(event_number_widen(0xff, 1, false), 255);
	assert_int_equal(event_number_widen(0x7fffffff, 4, true), 0x7fffffff);
	assert_int_equal(event_number_widen(-5, 8, true), -5);
	assert_int_equal(compare_numbers(-1, 1, true), COMPARED_LESS);
	assert_int_equal(compare_numbers(-1, 1, false), COMPARED_GREATER);
	assert_int_equal(compare_numbers(-1, -1, true), COMPARED_EQUAL);
	assert_int_equal(compare_numbers(1ULL << 63, ~(1ULL << 63), true), COMPARED_LESS);
	assert_int_equal(compare_numbers(1ULL << 63, ~(1ULL << 63), false), COMPARED_GREATER);
}

static const char *cut_question_from_word(const char *word)
{
	strncpy(text, word, sizeof(text) - 1);
	return question_cut_from_word(text);
}

TEST(a_question_is_the_end_of_a_word)
{
	assert_string_equal(cut_question_from_word("a:b/value=c/"), "value=c");
	assert_string_equal(text, "a:b");
	assert_string_equal(cut_question_from_word("u:/if=1/x:f/if=comm~a/b/"), "if=comm~a/b");
	assert_string_equal(text, "u:/if=1/x:f");
	assert_null(cut_question_from_word("u:/if=1/x:f"));
	assert_null(cut_question_from_word("a:b/value=c"));
	assert_null(cut_question_from_word("cycles/100"));
	assert_null(cut_question_from_word("/"));
	assert_null(cut_question_from_word(""));
	assert_true(begins_with_question_key("if=a>1"));
	assert_false(begins_with_question_key("sched:sched_switch"));
}
