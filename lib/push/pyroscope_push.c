/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /ingest of Pyroscope: a form with a pprof profile and the descriptions of its sample types. The
 * query has the name of the application, its labels and the time. (With format=pprof the body would
 * be the profile alone, without descriptions of its sample types. The server would then use the
 * first sample type that it does not know as the name of the profile.)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "error.h"
#include "format/json_text.h"
#include "push_kind.h"
#include "server_url.h"

#define SECOND 1000000000ULL
#define NAME "stackmap"

/* Writes a text as part of a name, in which "{", "}", "=" and "," are separators and therefore
 * replaced. */
static void put_text_as_name_part(FILE *to, const char *word)
{
	for (; *word; word++)
		fputc(strchr("{}=,\"\\ ", *word) || (u8)*word < 0x20 ? '_' : *word, to);
}

struct labels {
	FILE *to;
	bool others;
};

static int put_name_label(void *arg, const char *key, const char *value)
{
	struct labels *labels = arg;
	char *plain;

	/* The label "service" is left out: the name of the application is the service. */
	if (strcmp(key, "service") == 0)
		return 0;
	plain = push_label_key(key);
	if (!plain)
		return -ENOMEM;
	fprintf(labels->to, "%s%s=", labels->others ? "," : "", plain);
	put_text_as_name_part(labels->to, value);
	labels->others = true;
	free(plain);
	return 0;
}

/* Returns the application's name with labels: "SERVICE{host=HOST,KEY=VALUE}". NULL: no memory. */
static char *make_application_name(const struct push_profile *profile)
{
	char *name = NULL;
	size_t length;
	struct labels labels = {.to = open_memstream(&name, &length)};
	int err;

	if (!labels.to)
		return NULL;
	put_text_as_name_part(labels.to, profile->options->identity.service ?: NAME);
	fputc('{', labels.to);
	err = push_each_label(profile, put_name_label, &labels);
	fputc('}', labels.to);
	if (!fclose(labels.to) && !err)
		return name;
	free(name);
	return NULL;
}

/* The query has times in whole seconds; the end is at least one second after the start. */
static int make_query(const struct push_profile *profile, char **query)
{
	u64 from = profile->from / SECOND, until = (profile->until + SECOND - 1) / SECOND;
	u64 frequency = trace_reader_info(profile->reader)->frequency;
	char *name = make_application_name(profile);
	char code[3];
	size_t length;
	FILE *to = name ? open_memstream(query, &length) : NULL;

	if (!to) {
		free(name);
		return -ENOMEM;
	}
	fputs("?name=", to);
	for (const char *byte = name; *byte; byte++)
		fwrite(code, 1, server_url_percent_encode_byte(*byte, code), to);
	fprintf(to, "&from=%llu&until=%llu&spyName=" NAME, (unsigned long long)from,
		(unsigned long long)(until > from ? until : from + 1));
	if (frequency)
		fprintf(to, "&sampleRate=%llu", (unsigned long long)frequency);
	free(name);
	return fclose(to) ? -ENOMEM : 0;
}

/* Describes a sample type. The same display name for all types makes the server show them as one
 * profile. */
static int add_sample_type(json_t *types, const char *name, const char *suffix, const char *units)
{
	char *type;
	int err;

	if (asprintf(&type, "%s%s", name, suffix) < 0)
		return -ENOMEM;
	for (char *colon = type; (colon = strchr(colon, ':'));)
		*colon = '.';
	err = json_object_set_new(types, type,
				  json_pack("{s:s, s:s, s:s, s:b}", "units", units, "display-name",
					    NAME, "aggregation", "sum", "cumulative", 0));
	free(type);
	return err ? -ENOMEM : 0;
}

static char *make_sample_types(const struct push_profile *profile)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(profile->reader, &sources);
	json_t *types = json_object();
	int err = types ? 0 : -ENOMEM;
	char *text;

	for (u32 i = 0; i < count && !err; i++) {
		json_t *plain = json_text(sources[i].name);
		const char *name = plain ? json_string_value(plain) : NULL, *units = "objects";

		/* The units of values are names of units that Pyroscope formats. */
		err = name ? add_sample_type(types, name, "", "samples") : -ENOMEM;
		if (strcmp(sources[i].value_unit, "ns") == 0)
			units = "lock_nanoseconds";
		else if (strcmp(sources[i].value_unit, "bytes") == 0)
			units = "bytes";
		if (!err && sources[i].extras & TRACE_EXTRA_VALUE)
			err = add_sample_type(types, name, "_value", units);
		json_decref(plain);
	}
	text = err ? NULL : json_dumps(types, JSON_COMPACT);
	json_decref(types);
	return text;
}

/* Makes a multipart boundary that the profile does not contain. NULL: no memory. */
static char *make_boundary(const char *profile, size_t length)
{
	char *boundary = NULL;

	for (u32 i = 0; i == 0 || (boundary && memmem(profile, length, boundary, strlen(boundary)));
	     i++) {
		free(boundary);
		if (asprintf(&boundary, NAME "-%08x", i) < 0)
			boundary = NULL;
	}
	return boundary;
}

static void append_form_part(FILE *to, const char *boundary, const char *name, const char *bytes,
			     size_t length)
{
	fprintf(to,
		"--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
		"Content-Type: application/octet-stream\r\n\r\n",
		boundary, name, name);
	fwrite(bytes, 1, length, to);
	fputs("\r\n", to);
}

static int make_multipart_form(const char *profile, size_t length, const char *types,
			       struct push_message *message)
{
	char *boundary = make_boundary(profile, length);
	FILE *to = boundary ? open_memstream(&message->body, &message->length) : NULL;
	int err = to ? 0 : -ENOMEM;

	if (to) {
		append_form_part(to, boundary, "profile", profile, length);
		append_form_part(to, boundary, "sample_type_config", types, strlen(types));
		fprintf(to, "--%s--\r\n", boundary);
		err = fclose(to) ? -ENOMEM : 0;
	}
	if (!err && asprintf(&message->type, "Content-Type: multipart/form-data; boundary=%s",
			     boundary) < 0) {
		message->type = NULL;
		err = -ENOMEM;
	}
	message->headers[0] = message->type;
	free(boundary);
	return err;
}

static int make_request(const struct push_profile *profile, struct push_message *message,
			struct stackmap_error *error)
{
	char *bytes, *types;
	size_t length;
	int err = push_export_to_memory(profile, &pprof_format, &bytes, &length, error);

	if (err)
		return err;
	types = make_sample_types(profile);
	err = types ? make_query(profile, &message->query) : -ENOMEM;
	err = err ?: make_multipart_form(bytes, length, types, message);
	free(types);
	free(bytes);
	return err ? error_set(error, -err, "pyroscope: %s", strerror(-err)) : 0;
}

const struct push_kind pyroscope_push = {
	.name = "pyroscope",
	.port = 4040,
	.tls_port = 443,
	.path = "/ingest",
	.make = make_request,
};
