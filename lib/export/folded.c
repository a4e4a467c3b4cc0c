/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks, the input of flame graph tools: one line for each stack,
 * `comm;outermost;...;innermost WEIGHT`. User frames come first, kernel frames follow and end in
 * `_[k]`, inlined functions end in `_[i]`. Where the outer end of a stack is missing, a marker such
 * as [truncated] stands for it. With several event sources the second frame names the source, since
 * their weights do not add up.
 */
#include <string.h>

#include "error.h"
#include "export_format.h"
#include "format/printable.h"
#include "report/profile/profile.h"

/* `;` separates frames, so `;` in a name becomes `:`. */
static void put_printable(const char *name, size_t length, FILE *to)
{
	for (const char *end = name + length; name < end;)
		name += printable_put_next(*name == ';' ? ":" : name, to);
}

static void put_name(const char *name, FILE *to)
{
	put_printable(name, strlen(name), to);
}

static void write_frames_of_folded_path(const struct profile *profile,
					const struct profile_path *path, const char *suffix,
					FILE *to)
{
	const char *marker = profile_path_marker(path);

	if (marker)
		fprintf(to, ";%s%s", marker, suffix);
	for (u32 i = path->depth; i-- > 0;) {
		const char *label = frame_names_label(profile->names, path->labels[i]);
		size_t length = strlen(label), mark = strlen(FRAME_INLINED_MARK);
		bool is_inlined =
			length > mark && strcmp(&label[length - mark], FRAME_INLINED_MARK) == 0;

		/* The mark of an inlined function becomes the suffix _[i], also in the kernel. */
		fputc(';', to);
		put_printable(label, is_inlined ? length - mark : length, to);
		fputs(is_inlined ? "_[i]" : suffix, to);
	}
}

static int folded_write(struct trace_reader *reader, const struct export_options *options, FILE *to,
			struct stackmap_error *error)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	struct profile_weights weights;
	struct profile *profile;
	int err = profile_create(reader, &options->filter, &options->naming, &profile, error);

	if (err)
		return err;
	err = profile_weigh(profile, sources, count, options->by, &weights);
	if (!err) {
		bool many = false;

		for (u32 i = 1; i < profile->row_count; i++)
			many |= profile->rows[i]->kind != profile->rows[0]->kind;
		for (u32 i = 0; i < profile->row_count && !ferror(to); i++) {
			const struct profile_row *row = profile->rows[i];
			const char *source = many ? sources[row->kind].name : NULL;
			u64 weight = profile_row_weight(row, weights.by[row->kind]);

			put_name(row->comm[0] ? row->comm : "[unknown]", to);
			if (source) {
				fputc(';', to);
				put_name(source, to);
			}
			write_frames_of_folded_path(profile, row->user, "", to);
			write_frames_of_folded_path(profile, row->kernel, "_[k]", to);
			fprintf(to, " %llu\n", (unsigned long long)weight);
		}
		profile_weights_clear(&weights);
	} else {
		error_set(error, -err, "folded: %s", strerror(-err));
	}
	profile_free(&profile);
	return err;
}

const struct export_format folded_format = {
	.name = "folded",
	.weighed = true,
	.write = folded_write,
};
