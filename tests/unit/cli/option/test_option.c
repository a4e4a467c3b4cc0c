/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The option parser on a table that has every type. The golden tests check the messages on standard
 * error. */
#include "option/option.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

struct values {
	bool flag;
	const char *string;
	u64 number;
	u64 size;
	struct string_list strings;
	struct number_list numbers;
};

static const struct option_row rows[] = {
	{"flag", 'f', OPTION_FLAG, NULL, offsetof(struct values, flag), "A", "help"},
	{"string", 's', OPTION_STRING, "S", offsetof(struct values, string), "A", "help"},
	{"bits", 'b', OPTION_U64, "N", offsetof(struct values, number), "B", "help", 10, 20},
	{"size", 0, OPTION_SIZE, "SIZE", offsetof(struct values, size), "B", "help", 4096, 1 << 30},
	{"each", 'e', OPTION_STRINGS, "E", offsetof(struct values, strings), "B", "help"},
	{"cpus", 'C', OPTION_NUMBERS, "CPUS", offsetof(struct values, numbers), "B", "help", 0, 9},
	{0},
};

static struct command command = {
	.name = "test",
	.operands = "[FILE]...",
	.operands_max = 2,
	.rows = rows,
	.values_bytes = sizeof(struct values),
};

static struct values values;
static int first;
static char *operands[16];

static enum option_result parse(const char *line)
{
	static char text[256];
	int argc = 0;

	option_clear(&command, &values);
	values = (struct values){.number = 14};
	strcpy(text, line);
	operands[argc++] = (char *)"test";
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		operands[argc++] = word;
	operands[argc] = NULL;
	return option_parse(&command, argc, operands, &values, &first);
}

TEST(defaults_stay)
{
	assert_int_equal(parse(""), OPTION_PARSED);
	assert_int_equal(values.number, 14);
	assert_false(values.flag);
	assert_null(operands[first]);
}

TEST(options_of_each_type_are_parsed)
{
	assert_int_equal(parse("-f --string=x -b 20 --size 8M"), OPTION_PARSED);
	assert_true(values.flag);
	assert_string_equal(values.string, "x");
	assert_int_equal(values.number, 20);
	assert_int_equal(values.size, 8 << 20);
}

TEST(a_repeated_option_makes_a_list)
{
	assert_int_equal(parse("-e one --each two -ethree"), OPTION_PARSED);
	assert_int_equal(values.strings.count, 3);
	assert_string_equal(values.strings.items[0], "one");
	assert_string_equal(values.strings.items[1], "two");
	assert_string_equal(values.strings.items[2], "three");
}

TEST(lists_of_numbers)
{
	assert_int_equal(parse("-C 0-3,8 --cpus 5"), OPTION_PARSED);
	for (u64 i = 0; i <= 9; i++)
		assert_int_equal(number_list_has(&values.numbers, i), i <= 3 || i == 5 || i == 8);
	assert_int_equal(parse("-C 0-10"), OPTION_WRONG);
	assert_int_equal(parse("-C 1,x"), OPTION_WRONG);
}

TEST(range_is_inclusive)
{
	assert_int_equal(parse("--bits 10"), OPTION_PARSED);
	assert_int_equal(parse("--bits 9"), OPTION_WRONG);
	assert_int_equal(parse("--bits 21"), OPTION_WRONG);
	assert_int_equal(parse("--size 4K"), OPTION_PARSED);
	assert_int_equal(parse("--size 4095"), OPTION_WRONG);
	assert_int_equal(parse("--size 1G"), OPTION_PARSED);
	assert_int_equal(parse("--size 1025M"), OPTION_WRONG);
}

TEST(a_wrong_value_leaves_the_default)
{
	assert_int_equal(parse("--bits 9"), OPTION_WRONG);
	assert_int_equal(values.number, 14);
}

TEST(operands_mix_with_options)
{
	assert_int_equal(parse("one -f two"), OPTION_PARSED);
	assert_true(values.flag);
	assert_string_equal(operands[first], "one");
	assert_string_equal(operands[first + 1], "two");
	assert_int_equal(parse("one two three"), OPTION_WRONG);
}

TEST(options_after_the_first_operand_belong_to_the_command)
{
	command.stops_at_operand = true;
	assert_int_equal(parse("-b 12 ls -f"), OPTION_PARSED);
	command.stops_at_operand = false;
	assert_false(values.flag);
	assert_int_equal(values.number, 12);
	assert_string_equal(operands[first], "ls");
	assert_string_equal(operands[first + 1], "-f");
}

TEST(words_after_a_double_dash_are_operands)
{
	assert_int_equal(parse("-- -f"), OPTION_PARSED);
	assert_false(values.flag);
	assert_string_equal(operands[first], "-f");
}

TEST(wrong_options_are_refused)
{
	assert_int_equal(parse("--none"), OPTION_WRONG);
	assert_int_equal(parse("-x"), OPTION_WRONG);
	assert_int_equal(parse("--flag=1"), OPTION_WRONG);
	assert_int_equal(parse("--string"), OPTION_WRONG);
	assert_int_equal(parse("-b"), OPTION_WRONG);
	assert_int_equal(parse("--s x"), OPTION_WRONG); /* --string or --size */
	assert_int_equal(parse("--st x"), OPTION_PARSED);
}

TEST(help_is_reported)
{
	assert_int_equal(parse("--help"), OPTION_HELP);
	assert_int_equal(parse("-h"), OPTION_HELP);
}

TEST(help_shows_every_row)
{
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	option_print_help(&command, to);
	fclose(to);
	for (const struct option_row *row = rows; row->name; row++)
		assert_non_null(strstr(text, row->name));
	assert_non_null(strstr(text, "--size SIZE"));
	assert_non_null(strstr(text, "-b, --bits N"));
	assert_non_null(strstr(text, "-h, --help"));
	free(text);
}

static int teardown(void **state)
{
	(void)state;
	option_clear(&command, &values);
	return 0;
}

TEST_GROUP(NULL, teardown)
