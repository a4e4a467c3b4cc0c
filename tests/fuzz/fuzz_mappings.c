/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libFuzzer target of the reader of `mappings` files: any bytes give mappings, or an error with an
 * offset within them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/mappings_text.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

static void read_all_of_mappings(const struct mappings *mappings)
{
	for (u32 number = 0; number < 16; number++) {
		const struct trace_mapping *line = mappings_find(mappings, number);

		if (line && (!*line->path || line->build_id_bytes > TRACE_BUILD_ID_MAX))
			abort();
	}
	mappings_kernel_start(mappings);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct stackmap_error error;
	struct mappings *mappings;
	FILE *from;
	int err;

	if (!bytes)
		return 0;
	from = fmemopen((void *)data, bytes, "r");
	if (!from)
		abort();
	err = mappings_read(from, &mappings, &error);
	fclose(from);
	if (!err) {
		read_all_of_mappings(mappings);
		mappings_free(&mappings);
	} else if (err != -EBADMSG || error.offset >= bytes) {
		abort();
	}
	return 0;
}
