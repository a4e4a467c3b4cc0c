/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The modules and mappings that the frames of a recording refer to, as text. */
#include "export_format.h"
#include "format/mappings_text.h"

static int mappings_write(struct trace_reader *reader, const struct export_options *options,
			  FILE *to, struct stackmap_error *error)
{
	const struct trace_module *modules;
	const struct trace_mapping *mappings;
	u32 module_count = trace_reader_modules(reader, &modules);
	u32 mapping_count = trace_reader_mappings(reader, &mappings);

	(void)options;
	(void)error;
	for (u32 i = 0; i < module_count; i++) {
		struct trace_module module = modules[i];

		if (!trace_reader_info(reader)->address_shown)
			module.start = module.end = 0;
		mappings_put_module(&module, to);
		fputc('\n', to);
	}
	for (u32 i = 0; i < mapping_count; i++) {
		mappings_put_mapping(&mappings[i], to);
		fputc('\n', to);
	}
	return 0;
}

const struct export_format mappings_format = {
	.name = "mappings",
	.write = mappings_write,
};
