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
