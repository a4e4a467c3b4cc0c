/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pmu_event.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "error.h"
#include "number_list.h"
#include "symbol/file/whole_file.h"
#include "text_list.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define HEX_DIGITS "0123456789abcdefABCDEF"

const char *pmu_event_end(const char *word)
{
	size_t name = strspn(word, NAME_CHARACTERS);
	const char *terms = word + name + 1, *slash;

	if (!isalpha((unsigned char)word[0]) || word[name] != '/' || !*terms || *terms == ',' ||
	    !strncmp(terms, "if=", 3) || !strncmp(terms, "value=", 6) ||
	    !terms[strcspn(terms, "=/")] || isdigit((unsigned char)terms[0]))
		return NULL;
	slash = strchr(terms, '/');
	return slash ? slash + 1 : terms + strlen(terms);
}

bool pmu_event_is_raw(const char *word)
{
	size_t digits = word[0] == 'r' ? strspn(word + 1, HEX_DIGITS) : 0;

	return digits && (!word[1 + digits] || word[1 + digits] == ':');
}

struct parser {
	const char *folders, *pmu, *subject;
	struct pmu_event *event;
	struct stackmap_error *error;
	bool is_named; /* true: the terms that are being parsed are the definition of an event's
			  name, so they cannot contain names of events */
};

/* Reads the first line of a file in the PMU's folder; the caller frees it. NULL: no such file, or
 * the name has a slash or begins with a dot. */
static char *read_first_line_of_pmu_file(const struct parser *parser, const char *folder,
					 const char *file)
{
	char path[PATH_MAX], *text;
	size_t bytes;

	if (strchr(file, '/') || file[0] == '.')
		return NULL;
	snprintf(path, sizeof(path), "%s/%s/%s%s", parser->folders, parser->pmu, folder, file);
	if (whole_file_read(path, &text, &bytes))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* Writes a number into the bits of a field. `format`: the bits as the kernel describes them, for
 * example "config:0-7,32-35"; the lowest bits of the number go to the first range. */
static int set_bits_of_perf_config(const struct parser *parser, const char *field, char *format,
				   u64 number)
{
	static const char *const words[PMU_WORDS] = {"config", "config1", "config2"};
	char *ranges = strchr(format, ':'), *range;
	u64 rest = number, *config = NULL;
	u32 bits = 0, first, last;

	if (ranges)
		*ranges++ = '\0';
	for (u32 i = 0; i < PMU_WORDS && ranges; i++)
		if (!strcmp(format, words[i]))
			config = &parser->event->config[i];
	if (!config)
		return error_set(parser->error, EOPNOTSUPP,
				 "%s: %s lies in the word %s of the PMU %s", parser->subject, field,
				 format, parser->pmu);
	while ((range = strsep(&ranges, ","))) {
		int found = sscanf(range, "%u-%u", &first, &last);

		if (found == 1)
			last = first;
		if (found < 1 || last < first || last > 63)
			return error_set(parser->error, EINVAL, "%s: the kernel describes %s badly",
					 parser->subject, field);
		for (u32 bit = first; bit <= last; bit++, bits++, rest >>= 1)
			*config = (*config & ~(1ULL << bit)) | (rest & 1) << bit;
	}
	if (!rest)
		return 0;
	return error_set(parser->error, ERANGE,
			 "%s: %s has %u bits, so its largest number is %#llx", parser->subject,
			 field, bits, (1ULL << bits) - 1);
}

/* Returns the variable for the number of a term that every PMU has (config, period...). NULL:
 * another term. */
static u64 *find_term_of_every_pmu(const struct parser *parser, const char *name)
{
	struct pmu_event *event = parser->event;
	const struct {
		const char *name;
		u64 *number;
	} general[] = {
		{"config", &event->config[0]},	{"config1", &event->config[1]},
		{"config2", &event->config[2]}, {"period", &event->period},
		{"freq", &event->frequency},
	};

	for (size_t i = 0; i < sizeof(general) / sizeof(*general); i++)
		if (!strcmp(name, general[i].name))
			return general[i].number;
	return NULL;
}

/* Adds the names in a folder of the PMU to a list of words. */
static void list_names_in_folder(const struct parser *parser, const char *folder, char *names,
				 size_t bytes)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/%s/%s", parser->folders, parser->pmu, folder);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.'))
			word_list_add_word(names, bytes, entry->d_name);
	if (directory)
		closedir(directory);
}

static int set_unknown_term_error(const struct parser *parser, const char *name)
{
	char names[512] = "";

	list_names_in_folder(parser, "format", names, sizeof(names));
	list_names_in_folder(parser, "events", names, sizeof(names));
	return error_set(parser->error, ENOENT, "%s: the PMU %s has no %s; it has %s%sconfig",
			 parser->subject, parser->pmu, name, names, names[0] ? ", " : "");
}

static int parse_terms(struct parser *parser, char *terms);

/* Parses the terms that the name of an event stands for. */
static int parse_terms_of_event_name(struct parser *parser, const char *name, char *terms)
{
	int err;

	if (strstr(terms, "=?"))
		return error_set(parser->error, EOPNOTSUPP,
				 "%s: the event %s needs numbers; write its terms yourself: %s",
				 parser->subject, name, terms);
	parser->is_named = true;
	err = parse_terms(parser, terms);
	parser->is_named = false;
	return err;
}

static int parse_term(struct parser *parser, char *name)
{
	char *text = strchr(name, '='), *line;
	u64 number = 1, *general;
	int err = 0;

	if (text)
		*text++ = '\0';
	if (text && number_parse(text, false, &number))
		return error_set(parser->error, EINVAL, "%s: %s is no number from 0 to 2^64 - 1",
				 parser->subject, text);
	if (!text && !parser->is_named &&
	    (line = read_first_line_of_pmu_file(parser, "events/", name))) {
		err = parse_terms_of_event_name(parser, name, line);
		free(line);
		return err;
	}
	general = find_term_of_every_pmu(parser, name);
	if (general) {
		*general = number;
		return 0;
	}
	line = read_first_line_of_pmu_file(parser, "format/", name);
	err = line ? set_bits_of_perf_config(parser, name, line, number)
		   : set_unknown_term_error(parser, name);
	free(line);
	return err;
}

static int parse_terms(struct parser *parser, char *terms)
{
	char *term;
	int err = 0;

	while (!err && (term = strsep(&terms, ",")))
		err = term[0] ? parse_term(parser, term)
			      : error_set(parser->error, EINVAL, "%s: a term is missing at a comma",
					  parser->subject);
	return err;
}

/* True if the PMU counts for several CPUs together, like that of a memory controller: the kernel
 * then has a file `cpumask` with the CPU that reads the counts, and the PMU interrupts no CPU. */
static bool counts_for_several_cpus(const struct parser *parser)
{
	char *cpus = read_first_line_of_pmu_file(parser, "", "cpumask");

	free(cpus);
	return cpus;
}

static int set_unknown_pmu_error(const struct parser *parser)
{
	char names[512] = "";
	const struct parser all = {.folders = parser->folders, .pmu = "."};

	list_names_in_folder(&all, "", names, sizeof(names));
	return error_set(parser->error, ENOENT, "%s: this machine has no PMU %s; it has %s",
			 parser->subject, parser->pmu, names[0] ? names : "none");
}

int pmu_event_parse(const char *folders, const char *word, const char *subject,
		    struct pmu_event *out, struct stackmap_error *error)
{
	struct pmu_event event = {};
	char *copy = strdup(word), *terms = copy, *type;
	struct parser parser = {folders, copy, subject, &event, error, false};
	int err = 0;

	if (!copy)
		return error_set(error, ENOMEM, "%s: out of memory", subject);
	if (pmu_event_is_raw(word)) {
		errno = 0;
		event.type = PERF_TYPE_RAW;
		event.config[0] = strtoull(word + 1, NULL, 16);
		if (errno)
			err = error_set(error, ERANGE, "%s: the number has more than 64 bits",
					subject);
	} else {
		strsep(&terms, "/");
		terms[strcspn(terms, "/")] = '\0';
		type = read_first_line_of_pmu_file(&parser, "", "type");
		if (!type || sscanf(type, "%u", &event.type) != 1)
			err = set_unknown_pmu_error(&parser);
		else if (counts_for_several_cpus(&parser))
			err = error_set(
				error, EOPNOTSUPP,
				"%s: the PMU %s counts for several CPUs together and takes no "
				"samples; 'perf stat' reads its counts",
				subject, parser.pmu);
		free(type);
		err = err ?: parse_terms(&parser, terms);
	}
	if (!err && event.period && event.frequency)
		err = error_set(error, EINVAL, "%s: period or freq, not both", subject);
	if (!err)
		*out = event;
	free(copy);
	return err;
}

static int each_event_of_pmu(const struct parser *parser, int (*each)(void *arg, const char *word),
			     void *arg)
{
	char path[PATH_MAX], word[2 * NAME_MAX + 3];
	struct dirent *entry;
	DIR *directory;
	int err = 0;

	snprintf(path, sizeof(path), "%s/%s/events", parser->folders, parser->pmu);
	directory = counts_for_several_cpus(parser) ? NULL : opendir(path);
	while (directory && !err && (entry = readdir(directory)))
		/* A file with a dot in its name has the unit or the scale of an event. */
		if (!strchr(entry->d_name, '.')) {
			snprintf(word, sizeof(word), "%s/%s/", parser->pmu, entry->d_name);
			err = each(arg, word);
		}
	if (directory)
		closedir(directory);
	return err;
}

int pmu_event_each(const char *folders, int (*each)(void *arg, const char *word), void *arg)
{
	DIR *directory = opendir(folders);
	struct dirent *entry;
	int err = 0;

	while (directory && !err && (entry = readdir(directory))) {
		const struct parser parser = {.folders = folders, .pmu = entry->d_name};

		if (entry->d_name[0] != '.')
			err = each_event_of_pmu(&parser, each, arg);
	}
	if (directory)
		closedir(directory);
	return err;
}
