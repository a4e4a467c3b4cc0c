/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages of process contexts: attributes of all kinds, and bytes that are no message. */
#include "report/name/process_attributes.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/bytes/byte_buffer.h"
#include "unit_test.h"

/* Appends a field of bytes, whose number is below 16. */
static void put_field(struct byte_buffer *to, u32 number, const void *data, size_t bytes)
{
	byte_buffer_varint(to, number << 3 | 2);
	byte_buffer_varint(to, bytes);
	byte_buffer_append(to, data, bytes);
}

/* Appends an attribute to a resource; `value` is the encoded AnyValue. */
static void put_attribute(struct byte_buffer *resource, const char *key, const void *value,
			  size_t bytes)
{
	struct byte_buffer message = {};

	put_field(&message, 1, key, strlen(key));
	put_field(&message, 2, value, bytes);
	put_field(resource, 1, message.data, message.used);
	byte_buffer_free(&message);
}

static void put_text(struct byte_buffer *resource, const char *key, const char *text)
{
	struct byte_buffer value = {};

	put_field(&value, 1, text, strlen(text));
	put_attribute(resource, key, value.data, value.used);
	byte_buffer_free(&value);
}

/* Makes the whole message of a resource, which is freed. */
static struct byte_buffer message_of(struct byte_buffer *resource)
{
	struct byte_buffer message = {};

	put_field(&message, 1, resource->data, resource->used);
	byte_buffer_free(resource);
	return message;
}

/* Reads a message from memory that ends with it. */
static void read_message(const struct byte_buffer *message, size_t bytes,
			 struct process_attributes *out)
{
	struct trace_process process = {.bytes = (u32)bytes};
	u8 *copy = malloc(bytes + 1);

	assert_non_null(copy);
	if (bytes)
		memcpy(copy, message->data, bytes);
	process.message = copy;
	assert_int_equal(process_attributes_read(&process, out), 0);
	free(copy);
}

static void expect(const struct process_attributes *attributes, u32 index, const char *key,
		   const char *value)
{
	assert_true(index < attributes->count);
	assert_string_equal(attributes->items[index].key, key);
	assert_string_equal(attributes->items[index].value, value);
}

TEST(values_of_each_kind_are_text)
{
	struct byte_buffer resource = {}, message;
	struct process_attributes attributes;

	put_text(&resource, "service.name", "shop \303\274");
	put_attribute(&resource, "is_primary", "\x10\x01", 2);
	put_attribute(&resource, "shard", "\x18\x85\x01", 3);
	put_attribute(&resource, "negative", "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	put_attribute(&resource, "share", "\x21\0\0\0\0\0\0\xe0\x3f", 9);
	put_text(&resource, "empty", "");
	message = message_of(&resource);
	put_field(&message, 2, "\x0a\x01k", 3); /* other attributes are not of the resource */
	read_message(&message, message.used, &attributes);
	expect(&attributes, 0, "service.name", "shop \303\274");
	expect(&attributes, 1, "is_primary", "true");
	expect(&attributes, 2, "shard", "133");
	expect(&attributes, 3, "negative", "-1");
	expect(&attributes, 4, "share", "0.5");
	expect(&attributes, 5, "empty", "");
	assert_int_equal(attributes.count, 6);
	assert_int_equal(attributes.left_out, 0);
	assert_false(attributes.is_damaged);
	process_attributes_clear(&attributes);
	byte_buffer_free(&message);
}

TEST(what_cannot_be_shown_is_counted)
{
	struct byte_buffer resource = {}, message;
	struct process_attributes attributes;
	char text[PROCESS_TEXT_MAX + 2];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	put_text(&resource, "long", text);
	put_text(&resource, "control", "a\033[31mb");
	put_text(&resource, "no_utf8", "\377");
	put_text(&resource, "", "no key");
	put_text(&resource, "bad\nkey", "x");
	put_attribute(&resource, "list", "\x2a\x04\x0a\x02\x0a\x00", 6);
	put_attribute(&resource, "none", "", 0);
	put_attribute(&resource, "cut", "\x0a\x05x", 3);
	put_text(&resource, "good", "first");
	put_text(&resource, "good", "second");
	message = message_of(&resource);
	read_message(&message, message.used, &attributes);
	expect(&attributes, 0, "good", "first");
	assert_int_equal(attributes.count, 1);
	assert_int_equal(attributes.left_out, 9);
	assert_false(attributes.is_damaged);
	process_attributes_clear(&attributes);
	byte_buffer_free(&message);
}

TEST(attributes_beyond_the_most_are_counted)
{
	struct byte_buffer resource = {}, message;
	struct process_attributes attributes;
	char key[16];

	for (int i = 0; i < PROCESS_ATTRIBUTES_MAX + 5; i++) {
		snprintf(key, sizeof(key), "key.%d", i);
		put_text(&resource, key, "value");
	}
	message = message_of(&resource);
	read_message(&message, message.used, &attributes);
	assert_int_equal(attributes.count, PROCESS_ATTRIBUTES_MAX);
	assert_int_equal(attributes.left_out, 5);
	process_attributes_clear(&attributes);
	byte_buffer_free(&message);
}

TEST(a_message_that_ends_early_is_damaged)
{
	struct byte_buffer resource = {}, message;
	struct process_attributes attributes;

	put_text(&resource, "service.name", "shop");
	put_text(&resource, "service.version", "1.2");
	message = message_of(&resource);
	for (size_t bytes = 0; bytes < message.used; bytes++) {
		read_message(&message, bytes, &attributes);
		assert_int_equal(attributes.is_damaged, bytes != 0);
		process_attributes_clear(&attributes);
	}
	byte_buffer_free(&message);
}

TEST(bytes_of_any_kind_are_read_without_a_crash)
{
	struct byte_buffer message = {};
	struct process_attributes attributes;
	u32 seed = 1;

	for (int turn = 0; turn < 20000; turn++) {
		u32 bytes = turn % 64;

		byte_buffer_clear(&message);
		for (u32 i = 0; i < bytes; i++) {
			seed = seed * 1664525 + 1013904223;
			/* many heads of fields that are read */
			byte_buffer_byte(&message, seed >> 31 ? 0x0a : (u8)(seed >> 16));
		}
		read_message(&message, bytes, &attributes);
		process_attributes_clear(&attributes);
	}
	byte_buffer_free(&message);
}

/* Makes the message of a process with an attribute of its own, a=process, and the list of keys. */
static struct byte_buffer message_with_keys(const char *const *keys, u32 count)
{
	struct byte_buffer resource = {}, list = {}, value = {}, pair = {}, message;

	for (u32 i = 0; i < count; i++) {
		struct byte_buffer item = {};

		put_field(&item, 1, keys[i], strlen(keys[i]));
		put_field(&list, 1, item.data, item.used);
		byte_buffer_free(&item);
	}
	put_field(&value, 5, list.data, list.used);
	put_field(&pair, 1, "threadlocal.attribute_key_map", 29);
	put_field(&pair, 2, value.data, value.used);
	put_text(&resource, "a", "process");
	message = message_of(&resource);
	put_field(&message, 2, pair.data, pair.used);
	byte_buffer_free(&list);
	byte_buffer_free(&value);
	byte_buffer_free(&pair);
	return message;
}

/* Reads a record of `bytes` bytes of a thread whose process has published the message. */
static void read_record(const struct byte_buffer *message, const char *record, u32 bytes,
			struct process_attributes *out)
{
	const struct trace_process process = {.message = message->data,
					      .bytes = (u32)message->used};
	struct kept_process kept = {};
	u8 *copy = malloc(bytes + 1);

	assert_non_null(copy);
	memcpy(copy, record, bytes);
	assert_int_equal(published_attributes_read(
				 &kept, &process,
				 &(struct trace_attributes){.bytes = (u16)bytes, .data = copy},
				 out),
			 0);
	kept_process_clear(&kept);
	free(copy);
}

static const char *const keys[] = {"b", "a", "c\n", ""};

TEST(the_last_value_of_a_thread_counts_more_than_that_of_its_process)
{
	struct byte_buffer message = message_with_keys(keys, 4);
	struct process_attributes attributes;

	read_record(&message,
		    "\0\1x"
		    "\1\3own"
		    "\0\0",
		    10, &attributes);
	assert_int_equal(attributes.count, 2);
	assert_int_equal(attributes.left_out, 0);
	expect(&attributes, 0, "b", "");
	expect(&attributes, 1, "a", "own");
	process_attributes_clear(&attributes);
	byte_buffer_free(&message);
}

TEST(what_a_thread_publishes_in_vain_is_counted_and_replaces_the_value_of_its_process)
{
	struct byte_buffer message = message_with_keys(keys, 4);
	struct process_attributes attributes;

	/* a control character, keys that cannot be shown, a number without key, no UTF-8 */
	read_record(&message,
		    "\1\1\t"
		    "\2\1x"
		    "\3\1x"
		    "\4\1x"
		    "\0\1\xff",
		    15, &attributes);
	assert_int_equal(attributes.count, 0);
	assert_int_equal(attributes.left_out, 5);
	process_attributes_clear(&attributes);
	byte_buffer_free(&message);
}

TEST(an_attribute_that_does_not_end_in_its_record_does_not_count)
{
	struct byte_buffer message = message_with_keys(keys, 4);
	static const char record[] = "\0\1x"
				     "\1\4own";

	for (u32 bytes = 0; bytes < sizeof(record); bytes++) {
		struct process_attributes attributes;

		read_record(&message, record, bytes, &attributes);
		expect(&attributes, 0, "a", "process");
		assert_int_equal(attributes.count, bytes < 3 ? 1 : 2);
		process_attributes_clear(&attributes);
	}
	byte_buffer_free(&message);
}

TEST(attributes_of_a_thread_without_the_list_of_its_program_have_no_names)
{
	struct process_attributes attributes;
	struct byte_buffer message = message_with_keys(keys, 4);
	const struct trace_process other = {
		.message = message.data, .bytes = (u32)message.used, .program = 2};
	const struct trace_attributes record = {3, 1, (const u8 *)"\0\1x"};
	struct kept_process kept = {};

	assert_int_equal(published_attributes_read(&kept, NULL, &record, &attributes), 0);
	assert_int_equal(attributes.count, 0);
	assert_int_equal(attributes.left_out, 1);
	process_attributes_clear(&attributes);
	assert_int_equal(published_attributes_read(&kept, &other, &record, &attributes), 0);
	expect(&attributes, 0, "a", "process");
	assert_int_equal(attributes.count, 1);
	assert_int_equal(attributes.left_out, 1);
	process_attributes_clear(&attributes);
	kept_process_clear(&kept);
	byte_buffer_free(&message);
}

/* A message takes long to read, and its process may have any number of records. */
TEST(the_message_of_a_process_is_read_once_for_all_records_of_its_threads)
{
	struct byte_buffer message = message_with_keys(keys, 4);
	const struct trace_process process = {.message = message.data, .bytes = (u32)message.used};
	const struct trace_attributes first = {3, 0, (const u8 *)"\0\1x"};
	const struct trace_attributes second = {3, 0, (const u8 *)"\0\1y"};
	const struct trace_process damaged = process;
	struct process_attributes attributes;
	struct kept_process kept = {};

	assert_int_equal(published_attributes_read(&kept, &process, &first, &attributes), 0);
	process_attributes_clear(&attributes);
	message.data[0] = 0xff;
	assert_int_equal(published_attributes_read(&kept, &process, &second, &attributes), 0);
	assert_false(attributes.is_damaged);
	assert_int_equal(attributes.count, 2);
	expect(&attributes, 0, "a", "process");
	expect(&attributes, 1, "b", "y");
	process_attributes_clear(&attributes);
	assert_int_equal(published_attributes_read(&kept, &damaged, &second, &attributes), 0);
	assert_true(attributes.is_damaged);
	assert_int_equal(attributes.count, 0);
	process_attributes_clear(&attributes);
	kept_process_clear(&kept);
	byte_buffer_free(&message);
}

TEST(further_attributes_of_a_thread_are_counted)
{
	struct process_attributes attributes;
	const char *many[256];
	char names[256][4], record[3 * 256];
	struct byte_buffer message;

	for (u32 i = 0; i < 256; i++) {
		snprintf(names[i], sizeof(names[i]), "%03u", i);
		many[i] = names[i];
		memcpy(&record[3 * i], (u8[]){(u8)i, 1, 'x'}, 3);
	}
	message = message_with_keys(many, 256);
	read_record(&message, record, 3 * 204, &attributes);
	assert_int_equal(attributes.count, 1 + THREAD_ATTRIBUTES_MAX);
	assert_int_equal(attributes.left_out, 204 - THREAD_ATTRIBUTES_MAX);
	expect(&attributes, 1, "000", "x");
	process_attributes_clear(&attributes);
	byte_buffer_free(&message);
}
