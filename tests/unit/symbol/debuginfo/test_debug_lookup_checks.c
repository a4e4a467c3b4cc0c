/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sandbox sends false answers or fails: the file has no names, a note says why, and the next
 * file is requested as usual.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "privilege/message.h"
#include "symbol/debuginfo/debug_lookup.h"
#include "symbol/debuginfo/debug_service.h"
#include "unit_test.h"

#define PLACE 0x1000
#define TEXTS "\0true"

static const u8 build_id[20] = {1, 2, 3};

/* The answer of the next sandbox that is started. */
static struct debug_answer lie;
static char notes[1024];

static void send_link(int socket)
{
	struct debug_answer answer = {.link = {.has_dwarf = true, .build_id_bytes = 20}};

	memcpy(answer.link.build_id, build_id, sizeof(build_id));
	message_send(socket, &answer, sizeof(answer), MESSAGE_NO_DEADLINE);
}

static void send_names(int socket)
{
	static const struct debug_item item = {
		.symbol_start = PLACE, .symbol_size = 1, .symbol = 1};

	message_send(socket, &lie, sizeof(lie), MESSAGE_NO_DEADLINE);
	message_send(socket, TEXTS, sizeof(TEXTS), MESSAGE_NO_DEADLINE);
	message_send(socket, &item, sizeof(item), MESSAGE_NO_DEADLINE);
}

void debug_serve(int socket)
{
	struct debug_request request;
	int files[MESSAGE_FILES_MAX];
	u64 places[4];

	while (!message_receive_files(socket, &request, sizeof(request), files,
				      MESSAGE_NO_DEADLINE)) {
		for (u32 i = 0; i < MESSAGE_FILES_MAX; i++)
			if (files[i] >= 0)
				close(files[i]);
		message_receive(socket, places, request.count * sizeof(u64), MESSAGE_NO_DEADLINE);
		if (request.what == DEBUG_LINK)
			send_link(socket);
		else
			send_names(socket);
	}
}

static void keep_note(void *arg, const char *file, const char *why)
{
	(void)arg;
	snprintf(notes, sizeof(notes), "%s: %s", file, why);
}

/* Requests names of a new file. Returns 0 or -ENOENT. */
static int ask(const struct debug_answer *claimed)
{
	static const struct debug_choice choice = {.note = keep_note};
	struct trace_mapping mapping = {.number = 1,
					.kind = MAPPING_FILE,
					.tgid = getpid(),
					.path = "/proc/self/exe",
					.build_id_bytes = 20};
	const struct debug_code code = {.mapping = &mapping};
	char path[1024];
	ssize_t bytes = readlink(mapping.path, path, sizeof(path) - 1);
	struct debug_lookup *lookup;
	struct debug_names *names;
	const u64 place = PLACE;
	int result;

	assert_true(bytes > 0);
	path[bytes] = 0;
	mapping.path = path;
	memcpy(mapping.build_id, build_id, sizeof(build_id));
	lie = *claimed;
	notes[0] = 0;
	assert_int_equal(debug_lookup_create(&choice, &lookup), 0);
	result = debug_lookup_find_names(lookup, &code, &place, 1, &names);
	if (!result) {
		assert_string_equal(debug_names_at(names, PLACE)->symbol, "true");
		debug_names_free(&names);
	}
	debug_lookup_free(&lookup);
	return result;
}

#define TRUTH                                                                                      \
	{                                                                                          \
		.items = 1, .text_bytes = sizeof(TEXTS),                                           \
		.bytes = sizeof(TEXTS) + sizeof(struct debug_item)                                 \
	}

static void expect_note(const struct debug_answer *claimed, const char *why)
{
	assert_int_equal(ask(claimed), -ENOENT);
	assert_non_null(strstr(notes, why));
	assert_non_null(strstr(notes, "test_symbol_debug_lookup_checks: "));
}

TEST(valid_answers_are_accepted)
{
	const struct debug_answer truth = TRUTH;

	assert_int_equal(ask(&truth), 0);
	assert_string_equal(notes, "");
}

/* The sandbox has its own memory, so the report goes on. */
TEST(a_file_that_takes_all_memory)
{
	expect_note(&(struct debug_answer){.result = -ENOMEM}, "too much memory");
}

TEST(a_file_that_cannot_be_read)
{
	expect_note(&(struct debug_answer){.result = -ENOEXEC}, "Exec format error");
}

/* The valid part of the file is used. */
TEST(a_file_that_is_damaged)
{
	struct debug_answer claimed = TRUTH;

	claimed.is_damaged = 1;
	assert_int_equal(ask(&claimed), 0);
	assert_non_null(strstr(notes, "it is damaged"));
}

TEST(senseless_answers_are_refused)
{
	struct debug_answer claimed[] = {TRUTH, TRUTH, TRUTH, TRUTH, TRUTH, TRUTH, TRUTH};

	claimed[0].result = 1;
	claimed[1].bytes = 1ULL << 60;
	claimed[2].items = 2;
	claimed[3].bytes--;
	claimed[4].text_bytes--;
	claimed[5].text_bytes = 0;
	claimed[6].text_bytes = UINT32_MAX;
	for (size_t i = 0; i < sizeof(claimed) / sizeof(claimed[0]); i++)
		expect_note(&claimed[i], "its reader failed on it");
}
