/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * USDT probes of a file. A probe at several places, as in a function that was inlined, is a source
 * for each place, since the arguments lie elsewhere in each.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "program_file.h"
#include "source_ops.h"
#include "usdt_probe.h"

struct search {
	struct source_query *query;
	source_visit visit;
	void *arg;
	const char *path;
	const struct program_file *file;
	const char *arguments; /* text of the current probe's arguments */
	struct stackmap_error *error;
	u32 probes; /* number of probes that the file has */
};

static int find_argument_number(void *arg, const char *name, struct source_number *out,
				struct stackmap_error *error)
{
	const struct search *search = arg;
	const char *subject = search->query->subject;
	char *end;
	unsigned long number = strncmp(name, "arg", 3) ? 0 : strtoul(name + 3, &end, 10);
	int err = -ENOENT;

	if (!search->file->is_64_bit)
		return error_set(error, EOPNOTSUPP,
				 "%s: arguments are known of 64-bit programs only", subject);
	if (number && number <= UINT_MAX && !*end)
		err = usdt_argument_find(search->arguments, number, &out->number);
	if (err == -ENOENT)
		return error_set(
			error, ENOENT,
			"%s: no number %s; the arguments of the probe are arg1, arg2...: %s",
			subject, name, search->arguments[0] ? search->arguments : "none");
	if (err)
		return error_set(error, -err,
				 "%s: %s is of a form that is not read; the arguments of the probe "
				 "are %s",
				 subject, name, search->arguments);
	return 0;
}

static int visit_matching_probe(void *arg, const struct usdt_probe *probe)
{
	struct search *search = arg;
	const struct source_query *query = search->query;
	struct source source = {
		.type = SOURCE_USER,
		.target = (char *)search->path,
		.offset = probe->offset,
		.semaphore = probe->semaphore,
	};
	char *name;
	int err;

	search->probes++;
	search->arguments = probe->arguments;
	if (asprintf(&name, "%s:%s", probe->provider, probe->name) < 0)
		return -ENOMEM;
	if (!name_match_compare_name(&search->query->match,
				     query->has_any_provider ? probe->name : name)) {
		free(name);
		return 0;
	}
	err = asprintf(&source.name, "usdt:%s:%s", search->path, name) < 0 ? -ENOMEM : 0;
	free(name);
	if (err)
		return err;
	err = question_resolve(&query->asks, query->subject, find_argument_number, search, &source,
			       search->error)
		      ?: search->visit(search->arg, &source);
	free(source.name);
	return err;
}

static int find_usdt_probes(struct source_query *query, source_visit visit, void *arg,
			    struct stackmap_error *error)
{
	struct program_file file;
	char path[PATH_MAX];
	struct search search = {
		.query = query,
		.visit = visit,
		.arg = arg,
		.path = path,
		.file = &file,
		.error = error,
	};
	int err = program_file_find(query->file, path) ?: program_file_open(path, &file);

	if (err)
		return error_set(error, -err, "%s: %s: %s", query->subject, query->file,
				 err == -ENOEXEC ? "not an ELF file" : strerror(-err));
	err = program_file_check_probes_can_run(&file, query->subject, error)
		      ?: usdt_probe_each(file.fd, visit_matching_probe, &search);
	close(file.fd);
	if (!err && !search.probes)
		query->hint = "; the file has no USDT probes";
	return err;
}

const struct source_ops source_usdt_ops = {
	.group = "USDT probe",
	.find = find_usdt_probes,
};
