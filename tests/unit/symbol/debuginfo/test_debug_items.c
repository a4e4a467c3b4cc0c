/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An answer is taken as a whole or refused: each case changes one part of a valid answer. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/debuginfo/debug_items.h"
#include "symbol/debuginfo/debug_service.h"
#include "unit_test.h"

#define PLACE 0x1000
#define TEXTS "\0symbol\0inner\0outer\0file"
#define SYMBOL 1
#define INNER 8
#define OUTER 14
#define FILE_NAME 20

struct items {
	char texts[sizeof(TEXTS)];
	struct debug_item item;
	struct debug_function functions[2]; /* packed behind the texts */
} __attribute__((packed));

static const struct items truth = {
	.texts = TEXTS,
	.item = {.functions = 2, .symbol = SYMBOL, .symbol_start = PLACE, .symbol_size = 1},
	.functions = {{.inlined = 1, .name = INNER}, {.name = OUTER, .file = FILE_NAME, .line = 3}},
};

static int take_bytes(const struct items *items, size_t bytes, u32 text_bytes, bool is_kernel,
		      struct debug_names **names)
{
	const struct debug_answer answer = {.items = 1, .text_bytes = text_bytes, .bytes = bytes};
	const u64 place = PLACE;
	char *data = malloc(bytes);
	int result;

	memcpy(data, items, bytes);
	result = debug_items_parse_answer(data, &answer, &place, 1, is_kernel, names);
	if (result)
		free(data);
	return result;
}

static int take(const struct items *items)
{
	struct debug_names *names = NULL;
	int result = take_bytes(items, sizeof(*items), sizeof(items->texts), false, &names);

	debug_names_free(&names);
	return result;
}

TEST(a_valid_answer_is_accepted)
{
	const struct debug_name *name;
	struct debug_names *names;

	assert_int_equal(take_bytes(&truth, sizeof(truth), sizeof(truth.texts), false, &names), 0);
	name = debug_names_at(names, PLACE);
	assert_string_equal(name->symbol, "symbol");
	assert_int_equal(name->count, 2);
	assert_string_equal(name->functions[0].function, "inner");
	assert_null(name->functions[0].file);
	assert_string_equal(name->functions[1].function, "outer");
	assert_string_equal(name->functions[1].file, "file");
	debug_names_free(&names);
}

TEST(a_text_is_one_from_its_begin_on)
{
	const u32 wrong[] = {SYMBOL + 1, INNER - 1, sizeof(TEXTS) - 1, sizeof(TEXTS), UINT32_MAX};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct items symbol = truth, name = truth, file = truth;

		symbol.item.symbol = wrong[i];
		name.functions[0].name = wrong[i];
		file.functions[1].file = wrong[i];
		assert_int_equal(take(&symbol), -EBADMSG);
		assert_int_equal(take(&name), -EBADMSG);
		assert_int_equal(take(&file), -EBADMSG);
	}
}

TEST(texts_end_and_are_none_but_the_first_empty)
{
	struct items open_end = truth, two_empty = truth, none_empty = truth;

	open_end.texts[sizeof(TEXTS) - 1] = 'x';
	two_empty.texts[SYMBOL] = two_empty.texts[SYMBOL + 1] = 0;
	none_empty.texts[0] = 'x';
	assert_int_equal(take(&open_end), -EBADMSG);
	assert_int_equal(take(&two_empty), -EBADMSG);
	assert_int_equal(take(&none_empty), -EBADMSG);
}

TEST(a_text_may_not_be_too_long)
{
	const size_t text_bytes = DEBUG_TEXT_BYTES_MAX + 2;
	const struct debug_item item = {.symbol = 1, .symbol_start = PLACE, .symbol_size = 1};

	for (u32 less = 0; less < 2; less++) {
		const struct debug_answer answer = {.items = 1,
						    .text_bytes = text_bytes - less,
						    .bytes = text_bytes - less + sizeof(item)};
		char *data = malloc(answer.bytes);
		struct debug_names *names = NULL;
		const u64 place = PLACE;

		memset(data, 'x', answer.text_bytes);
		data[0] = data[answer.text_bytes - 1] = 0;
		memcpy(data + answer.text_bytes, &item, sizeof(item));
		assert_int_equal(debug_items_parse_answer(data, &answer, &place, 1, false, &names),
				 less ? 0 : -EBADMSG);
		if (!less)
			free(data);
		debug_names_free(&names);
	}
}

TEST(sizes_fit)
{
	struct debug_names *names = NULL;
	const size_t text_bytes[] = {0, sizeof(TEXTS) - 1, sizeof(TEXTS) + 1, sizeof(truth),
				     UINT32_MAX};

	for (size_t i = 0; i < sizeof(text_bytes) / sizeof(text_bytes[0]); i++)
		assert_int_equal(take_bytes(&truth, sizeof(truth), text_bytes[i], false, &names),
				 -EBADMSG);
	for (size_t bytes = 0; bytes < sizeof(truth); bytes++)
		assert_int_equal(take_bytes(&truth, bytes, sizeof(truth.texts), false, &names),
				 -EBADMSG);
}

TEST(answers_for_other_places_are_refused)
{
	struct items place = truth, start = truth, size = truth;
	struct debug_names *names = NULL;

	place.item.place = 1;
	start.item.symbol_start = PLACE + 1;
	size.item.symbol_size = 0;
	assert_int_equal(take(&place), -EBADMSG);
	assert_int_equal(take(&start), -EBADMSG);
	assert_int_equal(take(&size), -EBADMSG);
	assert_int_equal(take_bytes(&truth, sizeof(truth), sizeof(truth.texts), true, &names),
			 -EBADMSG);
}

TEST(the_outermost_alone_was_not_inlined)
{
	struct items inner = truth, outer = truth, many = truth;

	inner.functions[0].inlined = 0;
	outer.functions[1].inlined = 1;
	many.item.functions = CODE_PLACES_MAX + 1;
	assert_int_equal(take(&inner), -EBADMSG);
	assert_int_equal(take(&outer), -EBADMSG);
	assert_int_equal(take(&many), -EBADMSG);
}
