/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap list`: prints the words that -e accepts on this machine, one a line with its group, so
 * that the list can be searched. There are too many functions, so functions are listed only for a
 * pattern.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/source/source.h"
#include "command.h"
#include "error.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "intern.h"
#include "terminal/message.h"

#define NAME_COLUMNS 50

static int print_source_with_group(void *arg, const char *group, const char *name)
{
	int padding = NAME_COLUMNS - (int)strlen(name);

	(void)arg;
	printable_put(name, stdout);
	printf("%*s [%s]\n", padding > 0 ? padding : 0, "", group);
	return 0;
}

static int append_source_to_list(void *arg, const char *group, const char *name)
{
	json_t *sources = arg;
	json_t *source = json_pack("{s:o, s:s}", "name", json_text(name), "group", group);

	return json_array_append_new(sources, source) ? -ENOMEM : 0;
}

struct list_values {
	bool json;
	u64 pid; /* process whose probes are listed; 0: not given */
	const char *package;
};

typedef int (*list_each)(void *arg, const char *group, const char *name);

/* Lists the probes of one file. A file without such probes, or that cannot be read, has none. */
static int list_file_probes(const char *path, const char *pattern, list_each each, void *arg,
			    bool *found)
{
	struct stackmap_error ignored;
	char *word;
	int err;

	/* A path may have colons: the word has all its parts. */
	if (asprintf(&word, "usdt:%s:%s%s", path, strchr(pattern, ':') ? "" : "*:", pattern) < 0)
		return -ENOMEM;
	err = source_catalogue_each(word, each, arg, &ignored);
	free(word);
	*found |= !err;
	return err == -ENOMEM ? err : 0;
}

/* Lists the USDT probes of the files whose code a process has mapped. The path of a file in another
 * root directory begins with that of the directory. */
static int list_process_probes(u64 pid, const char *pattern, list_each each, void *arg,
			       struct stackmap_error *error)
{
	char *line = NULL, root[64], maps[64], *file, *path;
	struct text_set files = TEXT_SET;
	struct stat own, other;
	bool found = false;
	size_t room = 0;
	FILE *from;
	int err = 0;

	snprintf(root, sizeof(root), "/proc/%llu/root", (unsigned long long)pid);
	snprintf(maps, sizeof(maps), "/proc/%llu/maps", (unsigned long long)pid);
	from = fopen(maps, "re");
	if (!from || stat("/", &own) || stat(root, &other)) {
		err = error_set(error, errno, "-p %llu: %s", (unsigned long long)pid,
				errno == ENOENT ? "there is no such process" : strerror(errno));
		goto out;
	}
	if (own.st_dev == other.st_dev && own.st_ino == other.st_ino)
		root[0] = '\0';
	while (!err && getline(&line, &room, from) > 0) {
		path = strchr(line, '/');
		if (!path || !strstr(line, " r-xp "))
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (text_set_find(&files, path) != HASH_INDEX_NONE)
			continue;
		err = text_set_find_or_add_number(&files, path) == HASH_INDEX_NONE ? -ENOMEM : 0;
		if (err || asprintf(&file, "%s%s", root, path) < 0) {
			err = -ENOMEM;
			break;
		}
		err = list_file_probes(file, pattern, each, arg, &found);
		free(file);
	}
	if (!err && !found)
		err = error_set(error, ENOENT, "-p %llu: no USDT probe of its files matches %s",
				(unsigned long long)pid, pattern);
out:
	free(line);
	text_set_clear(&files);
	if (from)
		fclose(from);
	return err;
}

/* Lists the USDT probes of the files of a package that dpkg has installed. */
static int list_package_probes(const char *package, const char *pattern, list_each each, void *arg,
			       struct stackmap_error *error)
{
	char *line = NULL, path[PATH_MAX];
	bool found = false;
	struct stat file;
	size_t room = 0;
	glob_t lists;
	FILE *from;
	int err = 0;

	/* The name of the list has the architecture if packages of several may be installed. */
	snprintf(path, sizeof(path), "/var/lib/dpkg/info/%s{,:*}.list", package);
	if (package[strspn(package, "abcdefghijklmnopqrstuvwxyz0123456789+.-:")] ||
	    glob(path, GLOB_BRACE, NULL, &lists))
		return error_set(error, ENOENT, "--package %s: dpkg has no such package installed",
				 package);
	for (size_t i = 0; i < lists.gl_pathc && !err; i++) {
		from = fopen(lists.gl_pathv[i], "re");
		while (from && !err && getline(&line, &room, from) > 0) {
			line[strcspn(line, "\n")] = '\0';
			if (!stat(line, &file) && S_ISREG(file.st_mode))
				err = list_file_probes(line, pattern, each, arg, &found);
		}
		if (from)
			fclose(from);
	}
	globfree(&lists);
	free(line);
	if (!err && !found)
		err = error_set(error, ENOENT,
				"--package %s: no USDT probe of its files matches %s", package,
				pattern);
	return err;
}

static int list_run(const void *arg, int count, char **operands)
{
	const struct list_values *values = arg;
	const char *pattern = count ? operands[0] : NULL;
	struct stackmap_error error = {.offset = STACKMAP_NO_OFFSET};
	json_t *sources = values->json ? json_array() : NULL;
	list_each each = values->json ? append_source_to_list : print_source_with_group;
	int err = values->json && !sources ? -ENOMEM : 0;

	if (values->pid && values->package)
		err = error_set(&error, EINVAL, "-p and --package exclude each other");
	if (!err && values->pid)
		err = list_process_probes(values->pid, pattern ?: "*", each, sources, &error);
	else if (!err && values->package)
		err = list_package_probes(values->package, pattern ?: "*", each, sources, &error);
	else if (!err)
		err = source_catalogue_each(pattern, each, sources, &error);
	if (!err)
		return sources && json_put(sources, stdout) ? EXIT_FAILED : EXIT_DONE;
	json_decref(sources);
	if (error.message[0])
		print_error_message(&error);
	else
		message("list: %s", strerror(-err));
	return err == -EINVAL || err == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
}

static const struct option_row rows[] = {
	{.name = "pid",
	 .letter = 'p',
	 .type = OPTION_U64,
	 .argument = "PID",
	 .target = offsetof(struct list_values, pid),
	 .min = 1,
	 .max = INT32_MAX,
	 .group = "Sources",
	 .help = "the USDT probes of a process, PROVIDER:NAME as the PATTERN"},
	{.name = "package",
	 .type = OPTION_STRING,
	 .argument = "PACKAGE",
	 .target = offsetof(struct list_values, package),
	 .group = "Sources",
	 .help = "the USDT probes of the files of a Debian package, likewise"},
	{.name = "json",
	 .type = OPTION_FLAG,
	 .target = offsetof(struct list_values, json),
	 .group = "Output",
	 .help = "print a JSON list of {name, group}"},
	{.name = NULL},
};

const struct command list_command = {
	.name = "list",
	.operands = "[PATTERN]",
	.operands_max = 1,
	.summary = "show what can be recorded on this machine",
	.rows = rows,
	.values_bytes = sizeof(struct list_values),
	.run = list_run,
};
