/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Backends make labels of what a resource has, so it has only what tells machines and services
 * apart, by the names of OpenTelemetry.
 */
#include "otlp_resource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "export/otlp.pb-c.h"
#include "format/json_text.h"
#include "otlp_tables.h"

struct resource {
	Otlp__KeyValue **attributes; /* all that they point to is theirs */
	size_t count;
	u32 room;
	bool failed;
};

/* Bytes that are not UTF-8 become `?`. NULL without memory. */
static char *plain_copy(const char *text, size_t length)
{
	char *copy = strndup(text, length);
	json_t *plain = copy ? json_text(copy) : NULL;

	free(copy);
	copy = plain ? strdup(json_string_value(plain)) : NULL;
	json_decref(plain);
	return copy;
}

static void free_attribute(Otlp__KeyValue *attribute)
{
	if (attribute->value)
		free(attribute->value->string_value);
	free(attribute->value);
	free(attribute->key);
	free(attribute);
}

static Otlp__KeyValue *make_attribute(const char *key, size_t key_length, const char *text)
{
	Otlp__KeyValue *attribute = malloc(sizeof(*attribute));

	if (!attribute)
		return NULL;
	otlp__key_value__init(attribute);
	attribute->key = plain_copy(key, key_length);
	attribute->value = malloc(sizeof(*attribute->value));
	if (attribute->value) {
		otlp__any_value__init(attribute->value);
		attribute->value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		attribute->value->string_value = plain_copy(text, strlen(text));
	}
	if (attribute->key && attribute->value && attribute->value->string_value)
		return attribute;
	free_attribute(attribute);
	return NULL;
}

static void add(struct resource *resource, const char *key, size_t key_length, const char *text)
{
	Otlp__KeyValue *attribute = make_attribute(key, key_length, text);

	if (attribute && !array_make_room(resource->attributes, resource->count, resource->room)) {
		resource->attributes[resource->count++] = attribute;
		return;
	}
	if (attribute)
		free_attribute(attribute);
	resource->failed = true;
}

static void add_text(struct resource *resource, const char *key, const char *text)
{
	if (text && text[0])
		add(resource, key, strlen(key), text);
}

static const char *architecture(const char *machine)
{
	if (strcmp(machine, "x86_64") == 0)
		return "amd64";
	return strcmp(machine, "aarch64") == 0 ? "arm64" : machine;
}

static void describe(struct resource *resource, const struct trace_info *info,
		     const struct export_identity *identity)
{
	add_text(resource, "host.name", identity->host ?: info->hostname);
	add_text(resource, "host.arch", architecture(info->machine));
	add_text(resource, "os.type", "linux");
	add_text(resource, "os.version", info->kernel);
	add_text(resource, "service.name", identity->service);
	add_text(resource, "service.version", identity->version);
	for (size_t i = 0; i < identity->labels.count; i++) {
		const char *label = identity->labels.items[i];
		size_t key = strcspn(label, "=");

		add(resource, label, key, label[key] ? &label[key + 1] : "");
	}
}

static void clear(struct resource *resource)
{
	for (size_t i = 0; i < resource->count; i++)
		free_attribute(resource->attributes[i]);
	free(resource->attributes);
}

/* Scope and profiles. The buffer's profiles stay where they are. */
static int encode_scope(const struct byte_buffer *profiles, const char *version,
			struct byte_buffer *to)
{
	struct byte_cursor cursor = {profiles->data, profiles->data + profiles->used, false};
	Otlp__ScopeProfiles message = OTLP__SCOPE_PROFILES__INIT;
	Otlp__Scope scope = OTLP__SCOPE__INIT;
	u32 room = 0;

	while (byte_cursor_left(&cursor)) {
		size_t bytes = byte_cursor_varint(&cursor);
		const u8 *profile = byte_cursor_take(&cursor, bytes);

		if (!profile || array_make_room(message.profiles, message.n_profiles, room))
			break;
		message.profiles[message.n_profiles++] =
			(ProtobufCBinaryData){bytes, (u8 *)profile};
	}
	scope.name = (char *)"stackmap";
	scope.version = (char *)version;
	message.scope = &scope;
	if (!byte_cursor_left(&cursor) && !cursor.bad)
		otlp_encode(to, &message.base);
	else
		to->failed = true;
	free(message.profiles);
	return to->failed ? -ENOMEM : 0;
}

static int encode_resource(const struct trace_info *info, const struct export_identity *identity,
			   const struct byte_buffer *scope, struct byte_buffer *to)
{
	Otlp__ResourceProfiles message = OTLP__RESOURCE_PROFILES__INIT;
	Otlp__Resource attributes = OTLP__RESOURCE__INIT;
	struct resource resource = {};

	describe(&resource, info, identity);
	attributes.attributes = resource.attributes;
	attributes.n_attributes = resource.count;
	message.resource = &attributes;
	message.scope_profiles = (ProtobufCBinaryData){scope->used, scope->data};
	otlp_encode(to, &message.base);
	clear(&resource);
	return resource.failed || to->failed ? -ENOMEM : 0;
}

struct file_append {
	ProtobufCBuffer base; /* first */
	FILE *to;
};

static void append(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	fwrite(data, 1, bytes, ((struct file_append *)buffer)->to);
}

/* Without profiles there is no resource either: what is empty has nothing to say. */
static void write_request(const struct byte_buffer *resource, const struct byte_buffer *dictionary,
			  FILE *to)
{
	Otlp__Request message = OTLP__REQUEST__INIT;
	ProtobufCBinaryData encoded = {resource->used, resource->data};
	struct file_append file = {.base.append = append, .to = to};

	message.resource_profiles = &encoded;
	message.n_resource_profiles = resource->used ? 1 : 0;
	message.dictionary = (ProtobufCBinaryData){dictionary->used, dictionary->data};
	protobuf_c_message_pack_to_buffer(&message.base, &file.base);
}

int otlp_request_write(const struct trace_reader *reader, const struct export_identity *identity,
		       const struct byte_buffer *profiles, const struct byte_buffer *dictionary,
		       FILE *to)
{
	const struct trace_info *info = trace_reader_info(reader);
	struct byte_buffer scope = {}, resource = {};
	int err = profiles->failed || dictionary->failed ? -ENOMEM : 0;

	if (!err && profiles->used)
		err = encode_scope(profiles, info->version, &scope)
			      ?: encode_resource(info, identity, &scope, &resource);
	if (!err)
		write_request(&resource, dictionary, to);
	byte_buffer_free(&resource);
	byte_buffer_free(&scope);
	return err;
}
