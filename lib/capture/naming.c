/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of all frames of a file, and the build ids of the files that they are in: known when
 * the last event is in it.
 */
#include "capture/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/instance.h"
#include "error.h"
#include "symbol/mapped_file.h"
#include "symbol/symbolizer.h"

#define PATH_BYTES_MAX 4096

/* Every mapping in the file becomes known to the symbolizer. */
static int add_mappings(struct capture *capture, struct symbolizer *symbolizer)
{
	u32 number;

	for (number = 1; number < MAPPINGS_MAX; number++) {
		struct mapping_record *record = capture_mapping(capture, number);
		struct trace_mapping mapping = {};
		char path[PATH_BYTES_MAX];
		int result;

		if (!capture->mapping_written[number])
			continue;
		mapped_file_identify(number, record, &mapping, path, sizeof(path));
		result = symbolizer_mapping(symbolizer, &mapping, record);
		if (result)
			return result;
	}
	return 0;
}

struct naming {
	struct symbolizer *symbolizer;
	struct trace_symbol *symbols;
	u32 count;
	u32 room;
};

static int name_frame(void *arg, u64 frame, bool return_address)
{
	struct naming *naming = arg;
	struct trace_symbol symbol;

	if (symbolizer_find(naming->symbolizer, frame, return_address, &symbol))
		return 0;
	if (naming->count == naming->room) {
		u32 room = naming->room ? 2 * naming->room : 1024;
		void *grown = reallocarray(naming->symbols, room, sizeof(symbol));

		if (!grown)
			return -ENOMEM;
		naming->symbols = grown;
		naming->room = room;
	}
	naming->symbols[naming->count++] = symbol;
	return 0;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct trace_symbol *a = left, *b = right;

	if (a->mapping != b->mapping)
		return a->mapping < b->mapping ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static int write_symbols(struct naming *naming, struct trace_writer *writer)
{
	u32 i;
	int result = 0;

	qsort(naming->symbols, naming->count, sizeof(*naming->symbols), compare_symbols);
	for (i = 0; i < naming->count && !result; i++)
		if (!i || compare_symbols(&naming->symbols[i - 1], &naming->symbols[i]))
			result = trace_writer_symbol(writer, &naming->symbols[i]);
	return result;
}

int capture_name_frames(struct capture *capture, struct trace_writer *writer,
			struct stackmap_error *error)
{
	struct naming naming = {};
	int result = symbolizer_create(&naming.symbolizer, error);

	if (result)
		return result;
	result = add_mappings(capture, naming.symbolizer);
	result = result ?: trace_writer_frames(writer, name_frame, &naming);
	result = result ?: write_symbols(&naming, writer);
	free(naming.symbols);
	symbolizer_free(&naming.symbolizer);
	if (result)
		error_set(error, -result, "names of frames: %s", strerror(-result));
	return result;
}
