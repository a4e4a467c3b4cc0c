/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One symbol table for the kernel, read at creation, and one for each mapping, read when the first
 * of its frames is asked for. A file that cannot be opened, is not the one that was mapped, or is
 * no sound ELF leaves an empty table: it is tried once.
 *
 * Files are read, not mapped into memory, so one that shrinks meanwhile gives an error and not
 * SIGBUS.
 */
#include "symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"
#include "elf_symbols.h"
#include "error.h"
#include "kallsyms.h"
#include "mapped_file.h"
#include "symbol_table.h"
#include "vdso.h"

struct image {
	struct mapping_record record;
	char *path;
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 build_id_bytes;
	struct symbol_table *symbols; /* NULL until asked for */
};

struct symbolizer {
	struct symbol_table *kernel;
	struct image *images[MAPPINGS_MAX]; /* by mapping number */
};

static void image_free(struct image **image)
{
	if (!*image)
		return;
	symbol_table_free(&(*image)->symbols);
	free((*image)->path);
	free(*image);
	*image = NULL;
}

static int image_create(struct image **out, const struct trace_mapping *mapping,
			const struct mapping_record *record)
{
	struct image *image = calloc(1, sizeof(*image));

	if (image)
		image->path = strdup(mapping->path);
	if (!image || !image->path) {
		free(image);
		return -ENOMEM;
	}
	image->record = *record;
	image->build_id_bytes = mapping->build_id_bytes;
	memcpy(image->build_id, mapping->build_id, sizeof(image->build_id));
	*out = image;
	return 0;
}

static bool has_build_id(Elf *elf, const struct image *image)
{
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 bytes = build_id_from_elf(elf, build_id);

	return bytes == image->build_id_bytes && !memcmp(build_id, image->build_id, bytes);
}

static void add_symbols(const struct image *image, Elf *elf)
{
	if (!elf)
		return;
	if (elf_kind(elf) == ELF_K_ELF && has_build_id(elf, image))
		elf_symbols_add(elf, image->symbols);
	elf_end(elf);
}

static void add_file(const struct image *image)
{
	int fd = mapped_file_open(&image->record, image->path);

	if (fd < 0)
		return;
	if (elf_version(EV_CURRENT) != EV_NONE)
		add_symbols(image, elf_begin(fd, ELF_C_READ, NULL));
	close(fd);
}

static int image_load(struct image *image)
{
	int err = symbol_table_create(&image->symbols);

	if (err)
		return err;
	if (image->record.key.kind == MAPPING_FILE)
		add_file(image);
	else if (image->record.key.kind == MAPPING_VDSO && image->build_id_bytes)
		add_symbols(image, vdso_open());
	return 0;
}

/* Without kallsyms the kernel's frames have no names; user frames still do. */
static int load_kernel(struct symbolizer *symbolizer)
{
	int err = symbol_table_create(&symbolizer->kernel);

	if (!err)
		err = kallsyms_read(symbolizer->kernel);
	return err == -ENOENT || err == -EACCES ? 0 : err;
}

int symbolizer_create(struct symbolizer **out, struct stackmap_error *error)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int err = symbolizer ? load_kernel(symbolizer) : -ENOMEM;

	if (err) {
		symbolizer_free(&symbolizer);
		return error_set(error, -err, "kernel symbols: %s", strerror(-err));
	}
	*out = symbolizer;
	return 0;
}

void symbolizer_free(struct symbolizer **symbolizer)
{
	if (!*symbolizer)
		return;
	for (u32 i = 0; i < MAPPINGS_MAX; i++)
		image_free(&(*symbolizer)->images[i]);
	symbol_table_free(&(*symbolizer)->kernel);
	free(*symbolizer);
	*symbolizer = NULL;
}

int symbolizer_mapping(struct symbolizer *symbolizer, const struct trace_mapping *mapping,
		       const struct mapping_record *record)
{
	if (mapping->number == MAPPING_NONE || mapping->number >= MAPPINGS_MAX ||
	    mapping->build_id_bytes > TRACE_BUILD_ID_MAX)
		return -EINVAL;
	if (symbolizer->images[mapping->number])
		return -EEXIST;
	return image_create(&symbolizer->images[mapping->number], mapping, record);
}

static struct symbol_table *table_of(struct symbolizer *symbolizer, u32 mapping)
{
	struct image *image = mapping < MAPPINGS_MAX ? symbolizer->images[mapping] : NULL;

	if (!image || (!image->symbols && image_load(image)))
		return NULL;
	return image->symbols;
}

int symbolizer_find(struct symbolizer *symbolizer, u64 frame, bool return_address,
		    struct trace_symbol *symbol)
{
	bool kernel = FRAME_IS_KERNEL(frame);
	u32 mapping = kernel ? 0 : FRAME_MAPPING(frame);
	u64 address = kernel ? frame : FRAME_OFFSET(frame);
	const struct symbol_table *table =
		kernel ? symbolizer->kernel : table_of(symbolizer, mapping);
	struct symbol found;

	if (return_address && !address--)
		return -ENOENT;
	if (!table || !symbol_table_find(table, address, &found))
		return -ENOENT;
	*symbol = (struct trace_symbol){
		.mapping = mapping,
		.start = found.start,
		.size = found.size,
		.name = found.name,
	};
	return 0;
}
