/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that cannot be used costs names only: a note on standard error names it. */
#include "view/symbolize_servers.h"

#include <stdio.h>
#include <string.h>

#include "store/wire/schema.h"
#include "terminal/message.h"
#include "view/fetch_progress.h"

static void note(void *arg, const char *path, const char *why)
{
	(void)arg;
	message("%s: its debug information is not used: %s", path, why);
}

static int begin(struct symbolizer *symbolizer, const struct symbolize_values *values)
{
	const struct debug_choice choice = {
		.sysroot = values->debug_dir,
		.servers = values->debuginfod ? DEBUG_SERVERS_ALL : DEBUG_SERVERS_NONE,
		.watch = fetch_progress,
		.note = note,
	};
	int err;

	if (values->debuginfod && !debug_fetch_has_servers()) {
		message("--debuginfod: DEBUGINFOD_URLS names no servers");
		return EXIT_USAGE;
	}
	err = debug_lookup_create(&choice, &symbolizer->lookup);
	if (err) {
		message("symbolize: the reader of debug information does not start: %s",
			strerror(-err));
		return EXIT_FAILED;
	}
	err = values->debug_dir ? debug_folder_create(values->debug_dir, symbolizer->lookup,
						      &symbolizer->files)
				: 0;
	if (err)
		message("--debug-dir %s: %s", values->debug_dir, strerror(-err));
	return err ? EXIT_FAILED : EXIT_DONE;
}

int symbolize_server(struct symbolizer *symbolizer, const struct symbolize_values *values,
		     struct clickhouse *server)
{
	struct symbolize_request request = {.days = values->days};
	struct stackmap_error error;
	int status = symbolizer->lookup ? EXIT_DONE : begin(symbolizer, values);

	if (status)
		return status;
	request.lookup = symbolizer->lookup;
	request.files = symbolizer->files;
	if (!schema_check(server, NULL, &error) &&
	    !store_symbolize(server, &request, &symbolizer->counts, &error))
		return EXIT_DONE;
	message_error(&error);
	return EXIT_FAILED;
}

int symbolize_end(struct symbolizer *symbolizer)
{
	const struct symbolize_counts *counts = &symbolizer->counts;

	printf("%llu of %llu frames named, in %llu of %llu files\n",
	       (unsigned long long)counts->named, (unsigned long long)counts->frames,
	       (unsigned long long)counts->named_objects, (unsigned long long)counts->objects);
	debug_folder_free(&symbolizer->files);
	debug_lookup_free(&symbolizer->lookup);
	return EXIT_DONE;
}
