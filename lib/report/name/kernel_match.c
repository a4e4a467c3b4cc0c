/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * KASLR gives a kernel one of some hundred places, and without it all are at the same one. So the
 * symbols that the recording has of the kernel must be in the copy as well, and begin where they do
 * there; those of modules need not be, which come and go.
 */
#include "kernel_match.h"

static bool has_symbol(const struct kernel_names *names, u64 start)
{
	struct symbol symbol;

	return kernel_names_find(names, start + 1, &symbol) && symbol.start == start;
}

/* All that are recorded. */
static bool has_symbols(const struct kernel_names *names, const struct trace_reader *reader,
			const struct trace_module *kernel)
{
	const struct trace_symbol *symbols;
	u32 count = trace_reader_symbols(reader, &symbols);

	for (u32 i = 0; i < count; i++)
		if (!symbols[i].mapping && symbols[i].start >= kernel->start &&
		    symbols[i].start < kernel->end && !has_symbol(names, symbols[i].start))
			return false;
	return true;
}

static bool is_same(const struct trace_reader *reader, const struct trace_module *kernel,
		    const struct kernel_names *names)
{
	return kernel->start == kernel_names_stext(names) && has_symbols(names, reader, kernel);
}

const char *kernel_mismatch(const struct trace_reader *reader, const struct kernel_names *names,
			    bool many_boots)
{
	const struct trace_module *kernel = trace_reader_kernel(reader);
	bool is_hidden = !kernel || !kernel->start;

	if (is_hidden && many_boots)
		return "it is of one boot, the recordings are of several, and this one does not "
		       "tell where its kernel lay: show them one by one";
	if (!is_hidden && !is_same(reader, kernel, names))
		return "it is of another boot or kernel; a copy of the same is needed";
	return NULL;
}
