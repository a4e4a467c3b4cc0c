/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A name of any bytes breaks no format; pprof and OTLP can have any number of samples. */
#include "export/export_format.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export/otlp.pb-c.h"
#include "export/perfetto.pb-c.h"
#include "export/profile.pb-c.h"
#include "odd_recording.h"
#include "unit_test.h"

#define SAMPLES_MANY 150000 /* more than the table of pprof.c holds */
#define PROFILE_BYTES_MAX (64U << 20)

static const struct export_options all = {};

struct text {
	char *bytes;
	size_t length;
};

static struct text export_of(struct trace_reader *reader, const char *name)
{
	const struct export_format *format = export_format_find(name);
	struct text text = {};
	FILE *to = open_memstream(&text.bytes, &text.length);

	assert_non_null(format);
	assert_int_equal(format->write(reader, &all, to, NULL), 0);
	assert_int_equal(fclose(to), 0);
	return text;
}

static struct text odd_export(const char *name)
{
	struct trace_reader *reader;
	struct text text;

	assert_int_equal(open_recording_with_odd_names(&reader), 0);
	text = export_of(reader, name);
	trace_reader_close(&reader);
	return text;
}

static json_t *odd_json(const char *name)
{
	struct text text = odd_export(name);
	json_t *whole = json_loadb(text.bytes, text.length, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(whole);
	free(text.bytes);
	return whole;
}

TEST(json)
{
	json_t *whole = odd_json("json");

	assert_int_equal(json_array_size(json_object_get(whole, "stacks")), ODD_EVENTS);
	json_decref(whole);
}

/* Checks that each text is UTF-8, the only encoding that json_string() accepts. */
static void check_utf8(const char *text)
{
	json_t *string = json_string(text);

	assert_non_null(string);
	json_decref(string);
}

TEST(perfetto)
{
	struct text text = odd_export("perfetto");
	Perfetto__Trace *trace =
		perfetto__trace__unpack(NULL, text.length, (const uint8_t *)text.bytes);
	u32 events = 0, stacks = 0, threads = 0;

	assert_non_null(trace);
	for (size_t i = 0; i < trace->n_packet; i++) {
		const Perfetto__TracePacket *packet = trace->packet[i];

		if (packet->track_descriptor && packet->track_descriptor->thread) {
			check_utf8(packet->track_descriptor->thread->thread_name);
			threads++;
		}
		if (packet->interned_data)
			stacks += packet->interned_data->n_callstacks;
		if (!packet->track_event)
			continue;
		check_utf8(packet->track_event->name);
		check_utf8(packet->track_event->categories[0]);
		events++;
	}
	assert_int_equal(events, ODD_EVENTS);
	assert_int_equal(threads, ODD_EVENTS);
	assert_int_equal(stacks, 1); /* all events have the same stack */
	perfetto__trace__free_unpacked(trace, NULL);
	free(text.bytes);
}

TEST(speedscope)
{
	json_t *whole = odd_json("speedscope");
	json_t *profile = json_array_get(json_object_get(whole, "profiles"), 0);

	assert_int_equal(json_array_size(json_object_get(profile, "samples")), ODD_EVENTS);
	assert_int_equal(json_array_size(json_object_get(profile, "weights")), ODD_EVENTS);
	json_decref(whole);
}

TEST(chrome)
{
	json_t *whole = odd_json("chrome");

	/* each event has two names before it: of the process and of the thread */
	assert_int_equal(json_array_size(json_object_get(whole, "traceEvents")), 3 * ODD_EVENTS);
	assert_int_equal(json_object_size(json_object_get(whole, "stackFrames")), ODD_FRAMES);
	json_decref(whole);
}

/* Slices of a thread nest or follow each other; a wait that would overlap is shown as an instant.
 */
TEST(slices_of_chrome_do_not_overlap)
{
	static const char *const phases[] = {"X", "i", "X"};
	struct trace_reader *reader;
	struct text text;
	json_t *whole, *event;
	size_t i, count = 0;

	assert_int_equal(open_recording_with_overlapping_waits(&reader), 0);
	text = export_of(reader, "chrome");
	whole = json_loadb(text.bytes, text.length, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(whole);
	json_array_foreach(json_object_get(whole, "traceEvents"), i, event)
	{
		const char *phase = json_string_value(json_object_get(event, "ph"));

		if (!strcmp(phase, "M"))
			continue;
		assert_true(count < 3);
		assert_string_equal(phase, phases[count++]);
	}
	assert_int_equal(count, 3);
	json_decref(whole);
	free(text.bytes);
	trace_reader_close(&reader);
}

static u32 count_lines(const struct text *text)
{
	u32 lines = 0;

	for (size_t i = 0; i < text->length; i++) {
		unsigned char c = (unsigned char)text->bytes[i];

		lines += c == '\n';
		assert_true(c == '\n' || c == '\t' || (c >= ' ' && c != 0x7f));
	}
	return lines;
}

static u32 count_bytes(const char *text, char byte)
{
	u32 count = 0;

	for (; *text; text++)
		count += *text == byte;
	return count;
}

TEST(folded)
{
	struct text text = odd_export("folded");
	char *rest = text.bytes;

	assert_int_equal(count_lines(&text), ODD_EVENTS);
	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		assert_int_equal(count_bytes(line, ';'), ODD_FRAMES);
		assert_string_equal(strrchr(line, ' '), " 1");
	}
	free(text.bytes);
}

/* Checks for "TASK PID/TID [CPU] ..." and frames in parentheses without spaces, which readers of
 * the format need. */
static void check_perf_line(const char *line)
{
	const char *object = strrchr(line, '(');

	if (line[0] == '\t') {
		assert_non_null(object);
		assert_null(strchr(object, ' '));
		return;
	}
	assert_false(isspace((unsigned char)line[0]));
	line = strchr(line, ' ');
	assert_non_null(line);
	assert_true(isdigit((unsigned char)line[1]));
}

TEST(perf_script)
{
	struct text text = odd_export("perf-script");
	char *rest = text.bytes;

	assert_int_equal(count_lines(&text), ODD_EVENTS * (1 + ODD_FRAMES + 1));
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			check_perf_line(line);
	free(text.bytes);
}

static Pprof__Profile *read_pprof(struct text text)
{
	unsigned char *plain = malloc(PROFILE_BYTES_MAX);
	z_stream inflater = {.next_in = (unsigned char *)text.bytes,
			     .avail_in = (uInt)text.length,
			     .next_out = plain,
			     .avail_out = PROFILE_BYTES_MAX};
	Pprof__Profile *profile;

	assert_non_null(plain);
	assert_int_equal(inflateInit2(&inflater, 15 + 16), Z_OK);
	assert_int_equal(inflate(&inflater, Z_FINISH), Z_STREAM_END);
	profile = pprof__profile__unpack(NULL, inflater.total_out, plain);
	assert_non_null(profile);
	inflateEnd(&inflater);
	free(plain);
	free(text.bytes);
	return profile;
}

/* Checks for UTF-8, the only encoding that jansson accepts. */
static void check_is_utf8(const char *text)
{
	json_t *string = json_string(text);

	assert_non_null(string);
	json_decref(string);
}

TEST(pprof)
{
	Pprof__Profile *profile = read_pprof(odd_export("pprof"));

	assert_int_equal(profile->n_sample, ODD_EVENTS);
	assert_int_equal(profile->n_location, ODD_FRAMES);
	assert_int_equal(profile->n_function, 1);
	for (size_t i = 0; i < profile->n_string_table; i++)
		check_is_utf8(profile->string_table[i]);
	pprof__profile__free_unpacked(profile, NULL);
}

TEST(pprof_of_many_samples)
{
	struct trace_reader *reader;
	Pprof__Profile *profile;
	s64 sum = 0;

	assert_int_equal(open_recording_with_many_tasks(SAMPLES_MANY, &reader), 0);
	profile = read_pprof(export_of(reader, "pprof"));
	assert_true(profile->n_sample >
		    SAMPLES_MANY); /* some samples are repeated after the table was full */
	for (size_t i = 0; i < profile->n_sample; i++) {
		assert_int_equal(profile->sample[i]->n_value, 1);
		sum += profile->sample[i]->value[0];
	}
	assert_int_equal(sum, 2 * SAMPLES_MANY);
	pprof__profile__free_unpacked(profile, NULL);
	trace_reader_close(&reader);
}

/* pprof takes the first mapping for the main program. */
TEST(pprof_tells_the_main_program)
{
	const Pprof__Mapping *first;
	struct trace_reader *reader;
	Pprof__Profile *profile;

	assert_int_equal(open_recording_with_wakers(&reader), 0);
	profile = read_pprof(export_of(reader, "pprof"));
	assert_int_equal(profile->n_mapping, 3);
	first = profile->mapping[0];
	assert_string_equal(profile->string_table[first->filename], ODD_PROGRAM);
	pprof__profile__free_unpacked(profile, NULL);
	trace_reader_close(&reader);
}

static Otlp__Dictionary *read_dictionary(const Otlp__Request *request)
{
	Otlp__Dictionary *dictionary =
		otlp__dictionary__unpack(NULL, request->dictionary.len, request->dictionary.data);

	assert_non_null(dictionary);
	return dictionary;
}

/* Reads the only profile of the request. */
static Otlp__Profile *read_profile(const Otlp__Request *request)
{
	Otlp__ResourceProfiles *resource = otlp__resource_profiles__unpack(
		NULL, request->resource_profiles[0].len, request->resource_profiles[0].data);
	Otlp__ScopeProfiles *scope = otlp__scope_profiles__unpack(
		NULL, resource->scope_profiles.len, resource->scope_profiles.data);
	Otlp__Profile *profile;

	assert_int_equal(scope->n_profiles, 1);
	profile = otlp__profile__unpack(NULL, scope->profiles[0].len, scope->profiles[0].data);
	assert_non_null(profile);
	otlp__scope_profiles__free_unpacked(scope, NULL);
	otlp__resource_profiles__free_unpacked(resource, NULL);
	return profile;
}

TEST(otlp)
{
	struct text text = odd_export("otlp");
	Otlp__Request *request = otlp__request__unpack(NULL, text.length, (const u8 *)text.bytes);
	Otlp__Dictionary *dictionary = read_dictionary(request);
	Otlp__Profile *profile = read_profile(request);

	assert_int_equal(profile->n_samples, ODD_EVENTS);
	assert_int_equal(dictionary->n_location_table, 1 + ODD_FRAMES);
	assert_int_equal(dictionary->n_function_table, 1 + 1);
	assert_int_equal(dictionary->n_stack_table, 1 + 1);
	for (size_t i = 0; i < dictionary->n_string_table; i++)
		check_is_utf8(dictionary->string_table[i]);
	otlp__profile__free_unpacked(profile, NULL);
	otlp__dictionary__free_unpacked(dictionary, NULL);
	otlp__request__free_unpacked(request, NULL);
	free(text.bytes);
}

TEST(otlp_of_many_samples)
{
	struct trace_reader *reader;
	struct text text;
	Otlp__Request *request;
	Otlp__Profile *profile;
	s64 sum = 0;

	assert_int_equal(open_recording_with_many_tasks(SAMPLES_MANY, &reader), 0);
	text = export_of(reader, "otlp");
	request = otlp__request__unpack(NULL, text.length, (const u8 *)text.bytes);
	profile = read_profile(request);
	assert_true(profile->n_samples > SAMPLES_MANY); /* as in pprof */
	for (size_t i = 0; i < profile->n_samples; i++)
		sum += profile->samples[i]->values[0];
	assert_int_equal(sum, 2 * SAMPLES_MANY);
	otlp__profile__free_unpacked(profile, NULL);
	otlp__request__free_unpacked(request, NULL);
	free(text.bytes);
	trace_reader_close(&reader);
}

#define THREADS_MANY 100000
#define ATTRIBUTES_PUBLISHED 6 /* of a thread without a cgroup: its own 5, and the service */

/* Reading the message once takes 3,000 texts; reading it for each sample, longer than a test may
 * run. */
TEST(otlp_reads_a_message_of_a_process_once)
{
	struct trace_reader *reader;
	struct text text;
	Otlp__Request *request;
	Otlp__Profile *profile;

	assert_int_equal(open_recording_with_published_attributes(THREADS_MANY, &reader), 0);
	text = export_of(reader, "otlp");
	assert_non_null(memmem(text.bytes, text.length, ODD_SERVICE, strlen(ODD_SERVICE)));
	request = otlp__request__unpack(NULL, text.length, (const u8 *)text.bytes);
	profile = read_profile(request);
	assert_int_equal(profile->n_samples, THREADS_MANY);
	for (size_t i = 0; i < profile->n_samples; i++)
		assert_int_equal(profile->samples[i]->n_attribute_indices, ATTRIBUTES_PUBLISHED);
	otlp__profile__free_unpacked(profile, NULL);
	otlp__request__free_unpacked(request, NULL);
	free(text.bytes);
	trace_reader_close(&reader);
}

TEST(formats_are_found_by_name)
{
	char words[256] = "";

	for (const struct export_format *const *format = export_formats; *format; format++) {
		assert_ptr_equal(export_format_find((*format)->name), *format);
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s",
			 words[0] ? ", " : "", (*format)->name);
	}
	assert_string_equal(words, EXPORT_FORMATS);
	assert_null(export_format_find("pproff"));
	assert_null(export_format_find(""));
}
