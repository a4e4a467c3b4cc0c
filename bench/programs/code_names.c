/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the functions at addresses of a file as `report` does: finds the debug information, asks
 * the sandbox, demangles. The output is that of `addr2line -a -i -f -C`. Standard input has the
 * addresses.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/name/frame_names.h"
#include "symbol/debuginfo/debug_lookup.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/file/mapped_file.h"

#define PLACES_MAX (1U << 20)

static struct elf_segments segments;
static u64 places[PLACES_MAX];
static struct demangle_cache *demangle_cache;

static int by_value(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return (a > b) - (a < b);
}

static u32 read_places(void)
{
	unsigned long long address;
	u32 count = 0;

	while (count < PLACES_MAX && scanf("%llx", &address) == 1) {
		const struct elf_segment *segment = elf_segment_of_address(&segments, address);

		if (segment)
			places[count++] = address - segment->address + segment->offset;
	}
	qsort(places, count, sizeof(*places), by_value);
	return count;
}

static bool identify(struct trace_mapping *mapping)
{
	int file = open(mapping->path, O_RDONLY | O_CLOEXEC), bytes;
	Elf *elf;

	if (file < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	elf = elf_begin(file, ELF_C_READ, NULL);
	elf_segments_read(elf, &segments);
	elf_end(elf);
	bytes = mapped_file_build_id(file, mapping->build_id);
	mapping->build_id_bytes = bytes > 0 ? bytes : 0;
	close(file);
	return bytes > 0;
}

static void print_name(const struct debug_name *name)
{
	const struct elf_segment *segment = elf_segment_at_offset(&segments, name->place);

	printf("0x%016llx\n",
	       (unsigned long long)(name->place - segment->offset + segment->address));
	for (u32 i = 0; i < name->count; i++) {
		const struct code_place *function = &name->functions[i];

		printf("%s\n%s:%u\n",
		       demangle_cache_find(demangle_cache, function->function ?: "??"),
		       function->file, function->line);
	}
}

int main(int argc, char **argv)
{
	struct trace_mapping mapping = {.kind = MAPPING_FILE, .tgid = getpid(), .path = argv[1]};
	const struct debug_choice choice = {};
	struct debug_lookup *lookup;
	struct debug_names *names;
	u32 count;

	if (argc != 2 || demangle_cache_create(&demangle_cache) ||
	    debug_lookup_create(&choice, &lookup) || !identify(&mapping))
		return EXIT_FAILURE;
	count = read_places();
	if (debug_lookup_find_names(lookup, &(struct debug_code){.mapping = &mapping}, places,
				    count, &names))
		return EXIT_FAILURE;
	for (u32 i = 0; i < count; i++)
		if (debug_names_at(names, places[i]))
			print_name(debug_names_at(names, places[i]));
	debug_names_free(&names);
	debug_lookup_free(&lookup);
	demangle_cache_free(&demangle_cache);
	return EXIT_SUCCESS;
}
