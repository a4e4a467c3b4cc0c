/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A message of Protocol Buffers is a sequence of fields. A field begins with a varint, number << 3
 * | form; the form says how long the field is. Fields with other numbers are skipped.
 *
 *   ProcessContext  1: Resource  2: KeyValue, repeated
 *   Resource        1: KeyValue, repeated
 *   KeyValue        1: key   2: AnyValue
 *   AnyValue        1: text  2: truth value  3: whole number  4: number (double)  5: ArrayValue
 *   ArrayValue      1: AnyValue, repeated
 *
 * The KeyValues of the ProcessContext itself are no attributes, but say how to read the records of
 * threads. One of them is the list of keys.
 */
#include "report/name/process_attributes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum field_form { FORM_VARINT = 0, FORM_8_BYTES = 1, FORM_BYTES = 2, FORM_4_BYTES = 5 };

struct field {
	u32 number;
	enum field_form form;
	u64 value;		  /* value in FORM_VARINT, FORM_8_BYTES or FORM_4_BYTES */
	struct byte_cursor bytes; /* contents of a field in FORM_BYTES */
};

/* Reads the next field. False: the message has ended, or is damaged (message->bad). */
static bool next_field(struct byte_cursor *message, struct field *field)
{
	u64 head, length = 0;
	const u8 *bytes = NULL;

	if (message->bad || !byte_cursor_left(message))
		return false;
	head = byte_cursor_varint(message);
	*field = (struct field){.number = (u32)(head >> 3), .form = head & 7};
	if (field->form == FORM_VARINT) {
		field->value = byte_cursor_varint(message);
		return !message->bad;
	}
	if (field->form == FORM_BYTES)
		length = byte_cursor_varint(message);
	else if (field->form == FORM_8_BYTES)
		length = 8;
	else if (field->form == FORM_4_BYTES)
		length = 4;
	else
		message->bad = true;
	if (!message->bad)
		bytes = byte_cursor_read_bytes(message, length);
	if (!bytes) {
		message->bad = true;
		return false;
	}
	if (field->form == FORM_BYTES)
		field->bytes = (struct byte_cursor){bytes, bytes + length, false};
	else
		memcpy(&field->value, bytes, length); /* little-endian, as the recording is */
	return true;
}

/* True if the bytes are text that can be shown. */
static bool is_showable_text(const struct byte_cursor *bytes)
{
	size_t length = byte_cursor_left(bytes);
	json_t *text;

	if (length > PROCESS_TEXT_MAX)
		return false;
	for (const u8 *at = bytes->at; at < bytes->end; at++)
		if (*at < 0x20 || *at == 0x7f)
			return false;
	text = json_stringn((const char *)bytes->at, length); /* NULL: not UTF-8 */
	json_decref(text);
	return text;
}

static char *copy_text(const struct byte_cursor *bytes)
{
	return strndup((const char *)bytes->at, byte_cursor_left(bytes));
}

/* Sets *out to the text of a value. 0; -EINVAL: the value cannot be shown; -ENOMEM. */
static int read_attribute_value_as_text(struct byte_cursor value, char **out)
{
	struct field field = {}, next;
	double number;
	int length;

	/* If a value has several fields, the last field counts, as Protocol Buffers define. */
	while (next_field(&value, &next))
		field = next;
	if (value.bad)
		return -EINVAL;
	if (field.number == 1 && field.form == FORM_BYTES) {
		if (!is_showable_text(&field.bytes))
			return -EINVAL;
		*out = copy_text(&field.bytes);
		return *out ? 0 : -ENOMEM;
	}
	if (field.number == 2 && field.form == FORM_VARINT) {
		*out = strdup(field.value ? "true" : "false");
		return *out ? 0 : -ENOMEM;
	}
	memcpy(&number, &field.value, sizeof(number));
	if (field.number == 3 && field.form == FORM_VARINT)
		length = asprintf(out, "%" PRId64, (s64)field.value);
	else if (field.number == 4 && field.form == FORM_8_BYTES)
		length = asprintf(out, "%.15g", number);
	else
		return -EINVAL;
	return length < 0 ? -ENOMEM : 0;
}

static bool has_attribute_with_key(const struct process_attributes *attributes,
				   const struct byte_cursor *key)
{
	size_t length = byte_cursor_left(key);

	for (u32 i = 0; i < attributes->count; i++)
		if (strlen(attributes->items[i].key) == length &&
		    !memcmp(attributes->items[i].key, key->at, length))
			return true;
	return false;
}

static int read_attribute(struct byte_cursor message, struct process_attributes *out)
{
	struct byte_cursor key = {}, value = {};
	struct process_attribute *item;
	struct field field;
	char *text;
	int err;

	if (out->count == PROCESS_ATTRIBUTES_MAX) {
		out->left_out++;
		return 0;
	}
	while (next_field(&message, &field)) {
		if (field.number == 1 && field.form == FORM_BYTES)
			key = field.bytes;
		if (field.number == 2 && field.form == FORM_BYTES)
			value = field.bytes;
	}
	if (message.bad || !byte_cursor_left(&key) || has_attribute_with_key(out, &key) ||
	    !is_showable_text(&key)) {
		out->left_out++;
		return 0;
	}
	err = read_attribute_value_as_text(value, &text);
	if (err) {
		out->left_out++;
		return err == -EINVAL ? 0 : err;
	}
	item = &out->items[out->count];
	item->key = copy_text(&key);
	item->value = text;
	out->count++;
	return item->key ? 0 : -ENOMEM;
}

static int read_resource(struct byte_cursor message, struct process_attributes *out)
{
	struct field field;
	int err = 0;

	while (!err && next_field(&message, &field))
		if (field.number == 1 && field.form == FORM_BYTES)
			err = read_attribute(field.bytes, out);
	out->is_damaged |= message.bad;
	return err;
}

int process_attributes_read(const struct trace_process *process, struct process_attributes *out)
{
	struct byte_cursor message = {process->message, process->message + process->bytes, false};
	struct field field;
	int err = 0;

	*out = (struct process_attributes){};
	while (!err && next_field(&message, &field))
		if (field.number == 1 && field.form == FORM_BYTES)
			err = read_resource(field.bytes, out);
	out->is_damaged |= message.bad;
	return err;
}

#define THREAD_KEYS "threadlocal.attribute_key_map"

/* Reads the list of keys if that is what the KeyValue is. The last list counts. */
static void read_thread_keys_of_pair(struct byte_cursor pair, struct thread_keys *keys)
{
	struct byte_cursor name = {}, value = {}, list = {};
	struct field field;

	while (next_field(&pair, &field)) {
		if (field.number == 1 && field.form == FORM_BYTES)
			name = field.bytes;
		if (field.number == 2 && field.form == FORM_BYTES)
			value = field.bytes;
	}
	if (pair.bad || byte_cursor_left(&name) != strlen(THREAD_KEYS) ||
	    memcmp(name.at, THREAD_KEYS, strlen(THREAD_KEYS)) != 0)
		return;
	keys->count = 0;
	while (next_field(&value, &field))
		if (field.number == 5 && field.form == FORM_BYTES)
			list = field.bytes;
	while (keys->count < sizeof(keys->key) / sizeof(*keys->key) && next_field(&list, &field)) {
		struct byte_cursor item = field.bytes;

		if (field.number != 1 || field.form != FORM_BYTES)
			continue;
		keys->key[keys->count] = (struct byte_cursor){};
		while (next_field(&item, &field))
			if (field.number == 1 && field.form == FORM_BYTES)
				keys->key[keys->count] = field.bytes;
		keys->count++;
	}
}

static void read_thread_keys(const struct trace_process *process, struct thread_keys *keys)
{
	struct byte_cursor message = {process->message, process->message + process->bytes, false};
	struct field field;

	while (next_field(&message, &field))
		if (field.number == 2 && field.form == FORM_BYTES)
			read_thread_keys_of_pair(field.bytes, keys);
}

/* Sets values[number] to the value of each key of a record. Bytes at the end that are no whole
 * attribute do not count. */
static void read_thread_values(const struct trace_attributes *attributes,
			       struct byte_cursor values[256])
{
	struct byte_cursor record = {attributes->data, attributes->data + attributes->bytes, false};

	while (byte_cursor_left(&record) >= 2) {
		u8 number = record.at[0], length = record.at[1];

		record.at += 2;
		if (byte_cursor_left(&record) < length)
			return;
		values[number] = (struct byte_cursor){record.at, record.at + length, false};
		record.at += length;
	}
}

/* Removes the attribute with this key, if there is one. */
static void remove_attribute(struct process_attributes *attributes, const struct byte_cursor *key)
{
	size_t length = byte_cursor_left(key);

	for (u32 i = 0; i < attributes->count; i++) {
		struct process_attribute *item = &attributes->items[i];

		if (strlen(item->key) != length || memcmp(item->key, key->at, length) != 0)
			continue;
		free(item->key);
		free(item->value);
		memmove(item, item + 1, (--attributes->count - i) * sizeof(*item));
		return;
	}
}

/* `keys`: the list of the thread's program. */
static int add_thread_attributes(const struct thread_keys *keys,
				 const struct trace_attributes *attributes,
				 struct process_attributes *out)
{
	struct byte_cursor values[256] = {};
	u32 added = 0;

	read_thread_values(attributes, values);
	for (u32 number = 0; number < 256; number++) {
		const struct byte_cursor *key = &keys->key[number];
		struct process_attribute *item;

		if (!values[number].at)
			continue;
		if (number < keys->count)
			remove_attribute(out, key);
		if (number >= keys->count || !byte_cursor_left(key) || !is_showable_text(key) ||
		    !is_showable_text(&values[number]) || added == THREAD_ATTRIBUTES_MAX) {
			out->left_out++;
			continue;
		}
		item = &out->items[out->count++];
		item->key = copy_text(key);
		item->value = copy_text(&values[number]);
		added++;
		if (!item->key || !item->value)
			return -ENOMEM;
	}
	return 0;
}

/* Reads the message of a process, unless it is the one that was read last. */
static int keep_process(struct kept_process *kept, const struct trace_process *process)
{
	int err;

	if (kept->process == process)
		return 0;
	kept_process_clear(kept);
	err = process_attributes_read(process, &kept->attributes);
	if (err)
		return err;
	read_thread_keys(process, &kept->keys);
	kept->process = process;
	return 0;
}

static int copy_attributes(const struct process_attributes *from, struct process_attributes *out)
{
	out->left_out = from->left_out;
	out->is_damaged = from->is_damaged;
	for (; out->count < from->count; out->count++) {
		struct process_attribute *item = &out->items[out->count];

		item->key = strdup(from->items[out->count].key);
		item->value = strdup(from->items[out->count].value);
		if (!item->key || !item->value) {
			out->count++;
			return -ENOMEM;
		}
	}
	return 0;
}

int published_attributes_read(struct kept_process *kept, const struct trace_process *process,
			      const struct trace_attributes *thread, struct process_attributes *out)
{
	static const struct thread_keys none;
	bool has_keys = process && thread && process->program == thread->program;
	int err = 0;

	*out = (struct process_attributes){};
	if (process)
		err = keep_process(kept, process) ?: copy_attributes(&kept->attributes, out);
	if (thread && !err)
		err = add_thread_attributes(has_keys ? &kept->keys : &none, thread, out);
	return err;
}

int event_attributes_read(struct kept_process *kept, const struct trace_reader *reader,
			  struct attribute_numbers from, struct process_attributes *out)
{
	const struct trace_attributes *attributes;
	const struct trace_process *processes;

	trace_reader_attributes(reader, &attributes);
	trace_reader_processes(reader, &processes);
	return published_attributes_read(kept, from.process ? &processes[from.process - 1] : NULL,
					 from.thread ? &attributes[from.thread - 1] : NULL, out);
}

void kept_process_clear(struct kept_process *kept)
{
	process_attributes_clear(&kept->attributes);
	*kept = (struct kept_process){};
}

void process_attributes_clear(struct process_attributes *attributes)
{
	for (u32 i = 0; i < attributes->count; i++) {
		free(attributes->items[i].key);
		free(attributes->items[i].value);
	}
	attributes->count = 0;
}

const char *process_attributes_find(const struct process_attributes *attributes, const char *key)
{
	for (u32 i = 0; i < attributes->count; i++)
		if (!strcmp(attributes->items[i].key, key))
			return attributes->items[i].value;
	return NULL;
}
