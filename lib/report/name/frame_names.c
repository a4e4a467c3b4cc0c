/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Three hash tables: from frames to their names, from labels to their ids, and from lists of labels
 * to their ids. Nearly every sampled pc is a distinct frame, so the table of frames may have a
 * million entries.
 */
#include "frame_names.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"
#include "intern.h"
#include "order.h"
#include "script.h"
#include "symbol/demangle/demangler.h"
#include "symbol/kernel/kernel_names.h"

/* --- debug information: all frames are looked up in one pass, so each file is read once --- */

/*
 * The code addresses to look up come from the stacks, which the reader has in a table, and from the
 * sampled pcs of the events, which are read once for this. The address to look up is that of the
 * frame, or the byte before a return address. Addresses are collected with repetitions. Whenever
 * the array is full it is sorted and made unique; a small cache skips addresses that were just
 * collected.
 *
 * A user frame has the number of its mapping in the upper bits, so sorted addresses are grouped by
 * file.
 */

/* The reader has the symbols sorted by mapping and start. A recording may come from an attacker:
 * symbols whose addresses would wrap are left out. */

void code_layout_find(const struct trace_reader *reader, u32 mapping, struct elf_segments *layout)
{
	const struct trace_symbol *symbols;
	u32 count = trace_reader_symbols(reader, &symbols);
	u32 first = bisect(count, i, symbols[i].mapping < mapping);

	layout->count = 0;
	for (u32 i = first; i < count && symbols[i].mapping == mapping; i++) {
		const struct trace_symbol *symbol = &symbols[i];
		struct elf_segment *last =
			layout->count ? &layout->segment[layout->count - 1] : NULL;
		u64 reach;

		if (!symbol->address || symbol->size >= UINT64_MAX - symbol->start ||
		    symbol->size >= UINT64_MAX - symbol->address)
			continue;
		if (last && last->address - last->offset == symbol->address - symbol->start) {
			reach = symbol->start + symbol->size - last->offset;
			last->bytes = reach > last->bytes ? reach : last->bytes;
		} else if (layout->count < ELF_SEGMENTS_MAX) {
			layout->segment[layout->count++] =
				(struct elf_segment){symbol->address, symbol->start, symbol->size};
		}
	}
}

#define RECENT_BITS 14

struct lookup_addresses {
	u64 *address;
	size_t count, room;
	u64 recent[1 << RECENT_BITS]; /* a cache by hash value: the address that was collected last
				       */
};

struct found {
	u32 mapping; /* number of the mapping; 0: the kernel */
	struct debug_names *names;
};

struct frame_debug {
	struct found *found; /* debug information by mapping, sorted by mapping */
	u32 count, room;
};

static void remove_duplicate_addresses(struct lookup_addresses *addresses)
{
	size_t kept = 0;

	if (addresses->count)
		qsort(addresses->address, addresses->count, sizeof(u64), compare_u64);
	for (size_t i = 0; i < addresses->count; i++)
		if (!kept || addresses->address[kept - 1] != addresses->address[i])
			addresses->address[kept++] = addresses->address[i];
	addresses->count = kept;
}

static u64 address_to_look_up(u64 frame, bool return_address)
{
	u64 offset = FRAME_IS_KERNEL(frame) ? frame : FRAME_OFFSET(frame);

	return frame - (return_address && offset);
}

static int add_lookup_address(struct lookup_addresses *addresses, u64 address)
{
	u64 *recent = &addresses->recent[address * 0x9e3779b97f4a7c15ULL >> (64 - RECENT_BITS)];

	if (*recent == address)
		return 0;
	/* Duplicate addresses are dropped first. The array grows if fewer than half of the
	 * addresses were duplicates. */
	if (addresses->count == addresses->room) {
		remove_duplicate_addresses(addresses);
		if (addresses->count >= addresses->room / 2 &&
		    array_make_room(addresses->address, addresses->room, addresses->room))
			return -ENOMEM;
	}
	*recent = address;
	addresses->address[addresses->count++] = address;
	return 0;
}

static int add_leaf_address(void *arg, const struct trace_event *event)
{
	return event->leaf ? add_lookup_address(arg, event->leaf) : 0;
}

/* Damaged events end the collection without an error: the later pass that shows the events reports
 * the damage. */
static int collect_lookup_addresses(struct trace_reader *reader, struct lookup_addresses *addresses)
{
	const struct trace_stack *stacks;
	const struct trace_source *sources;
	u32 count = trace_reader_stacks(reader, &stacks);
	u32 source_count = trace_reader_sources(reader, &sources);
	bool has_leaves = false; /* events have the pc of the sample apart from their stack */
	struct stackmap_error error;
	int result = 0;

	for (u32 i = 0; i < source_count; i++)
		has_leaves |= sources[i].extras & TRACE_EXTRA_LEAF;
	for (u32 i = 0; i < count && !result; i++) {
		result = stacks[i].depth ? add_lookup_address(addresses, stacks[i].frames[0]) : 0;
		for (u32 j = 0; j < stacks[i].depth && !result; j++)
			result = add_lookup_address(addresses,
						    address_to_look_up(stacks[i].frames[j], true));
	}
	if (!result && has_leaves &&
	    trace_reader_events(reader, add_leaf_address, addresses, &error) == -ENOMEM)
		result = -ENOMEM;
	remove_duplicate_addresses(addresses);
	return result;
}

static u32 mapping_number_of_frame(u64 address)
{
	return FRAME_IS_KERNEL(address) ? 0 : FRAME_MAPPING(address);
}

/* Looks up addresses of one mapping, or of the kernel, in debug information. */
static int find_debug_names(struct trace_reader *reader, struct debug_lookup *lookup,
			    u64 *addresses, u32 count, struct debug_names **names)
{
	u32 mapping = mapping_number_of_frame(addresses[0]);
	struct debug_code code = {.release = trace_reader_info(reader)->kernel};

	if (mapping) {
		code.mapping = trace_reader_mapping(reader, mapping);
		code_layout_find(reader, mapping, &code.layout);
		for (u32 i = 0; i < count; i++)
			addresses[i] = FRAME_OFFSET(addresses[i]);
	} else {
		u32 kept = 0;

		/* Keeps the addresses of the kernel image, without those of modules; keeps all if
		 * the range of the image is unknown. */
		code.module = trace_reader_kernel(reader);
		for (u32 i = 0; code.module && i < count; i++)
			if (!code.module->start ||
			    (addresses[i] >= code.module->start && addresses[i] < code.module->end))
				addresses[kept++] = addresses[i];
		count = kept;
	}
	if ((!code.mapping && !code.module) || !count)
		return -ENOENT;
	return debug_lookup_find_names(lookup, &code, addresses, count, names);
}

static int find_all_debug_names(struct trace_reader *reader, struct debug_lookup *lookup,
				struct lookup_addresses *addresses, struct frame_debug *debug)
{
	for (size_t first = 0, end; first < addresses->count; first = end) {
		u32 mapping = mapping_number_of_frame(addresses->address[first]);
		struct debug_names *names;
		int result;

		end = first;
		while (end < addresses->count &&
		       mapping_number_of_frame(addresses->address[end]) == mapping)
			end++;
		result = find_debug_names(reader, lookup, &addresses->address[first], end - first,
					  &names);
		if (!result && array_make_room(debug->found, debug->count, debug->room)) {
			debug_names_free(&names);
			result = -ENOMEM;
		}
		if (result == -ENOMEM)
			return result;
		if (!result)
			debug->found[debug->count++] =
				(struct found){.mapping = mapping, .names = names};
	}
	return 0;
}

static int compare_mappings(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	return (a->mapping > b->mapping) - (a->mapping < b->mapping);
}

static void frame_debug_free(struct frame_debug **debug)
{
	if (!*debug)
		return;
	for (u32 i = 0; i < (*debug)->count; i++)
		debug_names_free(&(*debug)->found[i].names);
	free((*debug)->found);
	free(*debug);
	*debug = NULL;
}

/* Looks all frames of the recording up in debug information. -ENOMEM. */
static int frame_debug_create(struct trace_reader *reader, struct debug_lookup *lookup,
			      struct frame_debug **out)
{
	struct frame_debug *debug = calloc(1, sizeof(*debug));
	struct lookup_addresses *addresses = calloc(1, sizeof(*addresses));
	int result = debug && addresses ? collect_lookup_addresses(reader, addresses) : -ENOMEM;

	result = result ?: find_all_debug_names(reader, lookup, addresses, debug);
	if (addresses)
		free(addresses->address);
	free(addresses);
	if (result) {
		frame_debug_free(&debug);
		return result;
	}
	if (debug->count)
		qsort(debug->found, debug->count, sizeof(*debug->found), compare_mappings);
	*out = debug;
	return 0;
}

/* The debug information of a frame's code; NULL: unknown. A return address is looked up by the byte
 * before it. */
static const struct debug_name *frame_debug_find(const struct frame_debug *debug, u64 frame,
						 bool return_address)
{
	u64 address = address_to_look_up(frame, return_address);
	const struct found key = {.mapping = mapping_number_of_frame(address)};
	const struct found *found = debug->count ? bsearch(&key, debug->found, debug->count,
							   sizeof(key), compare_mappings)
						 : NULL;

	if (!found)
		return NULL;
	return debug_names_at(found->names, key.mapping ? FRAME_OFFSET(address) : address);
}

/* --- demangled names --- */

struct demangle_cache {
	struct demangler *demangler;
	struct text_set mangled;
	char **plain; /* demangled name of each entry; NULL: the name cannot be demangled */
	u32 room;
};

const char *demangle_cache_find(struct demangle_cache *cache, const char *mangled)
{
	u32 count = cache->mangled.count, number;

	if (!demangle_is_mangled(mangled))
		return mangled;
	if (array_make_room(cache->plain, count, cache->room))
		return mangled;
	number = text_set_find_or_add_number(&cache->mangled, mangled);
	if (number == HASH_INDEX_NONE)
		return mangled;
	if (number == count)
		cache->plain[number] = demangler_demangle_name(cache->demangler, mangled);
	return cache->plain[number] ?: mangled;
}

struct demangle_failures demangle_cache_failures(const struct demangle_cache *cache)
{
	return demangler_failures(cache->demangler);
}

int demangle_cache_create(struct demangle_cache **out)
{
	struct demangle_cache *cache = calloc(1, sizeof(*cache));
	int result = cache ? demangler_create(&cache->demangler) : -ENOMEM;

	if (result) {
		free(cache);
		return result;
	}
	cache->mangled = TEXT_SET;
	*out = cache;
	return 0;
}

void demangle_cache_free(struct demangle_cache **cache)
{
	struct demangle_cache *old = *cache;

	if (!old)
		return;
	for (u32 i = 0; i < old->mangled.count; i++)
		free(old->plain[i]);
	free(old->plain);
	text_set_clear(&old->mangled);
	demangler_free(&old->demangler);
	free(old);
	*cache = NULL;
}

/* --- names --- */

#define ENTRY_BYTES 48 /* array slot, hash index and allocator overhead of an entry */

struct label {
	const char *object; /* object that has the code; NULL: the label is not of code */
	char text[];
};

struct named_frame {
	struct frame_name name; /* first member: a frame_name is converted to its named_frame */
	char *owned_object;
	struct frame_function *functions;
};

struct chain {
	u32 first, count; /* position of the list in chain_labels */
};

struct frame_names {
	struct trace_reader *reader;
	struct frame_naming naming;
	struct frame_debug *debug; /* debug information of the frames; NULL: none is read */
	struct demangle_cache *demangle_cache;
	struct hash_index frame_index, label_index, chain_index;
	struct named_frame **frames;
	struct label **labels; /* labels; index: id of the label */
	struct chain *chains;  /* lists of labels; index: id of the list */
	u32 *chain_labels;
	u32 frame_room, label_room, chain_room, chain_label_room, chain_label_count;
};

static bool is_same_frame(const void *frames, u32 index, const void *key)
{
	const struct frame_name *name = &((struct named_frame *const *)frames)[index]->name;
	const struct frame_name *wanted = key;

	return name->frame == wanted->frame && name->return_address == wanted->return_address;
}

static bool is_same_label(const void *labels, u32 index, const void *key)
{
	const struct label *label = ((struct label *const *)labels)[index], *wanted = key;

	return strcmp(label->text, wanted->text) == 0 &&
	       strcmp(label->object ?: "", wanted->object ?: "") == 0;
}

/* Returns the id of a label, which is added if it is new. UINT32_MAX: out of memory. */
static u32 intern_label(struct frame_names *names, const char *text, const char *object)
{
	size_t length = strlen(text);
	struct label *label = malloc(sizeof(*label) + length + 1);
	u32 hash = hash_text(text), id;

	if (!label)
		return UINT32_MAX;
	label->object = object;
	memcpy(label->text, text, length + 1);
	id = hash_index_find(&names->label_index, hash, is_same_label, names->labels, label);
	if (id != HASH_INDEX_NONE) {
		free(label);
		return id;
	}
	id = names->label_index.count;
	if (trace_reader_count_memory(names->reader, sizeof(*label) + length + ENTRY_BYTES) ||
	    array_make_room(names->labels, id, names->label_room) ||
	    hash_index_add(&names->label_index, hash, id)) {
		free(label);
		return UINT32_MAX;
	}
	names->labels[id] = label;
	return id;
}

u32 frame_names_intern_text(struct frame_names *names, const char *text)
{
	return intern_label(names, text, NULL);
}

u32 frame_names_label_count(const struct frame_names *names)
{
	return names->label_index.count;
}

const char *frame_names_label(const struct frame_names *names, u32 label)
{
	return names->labels[label]->text;
}

const char *frame_names_label_object(const struct frame_names *names, u32 label)
{
	return names->labels[label]->object;
}

/* The path of a mapped file that is under no mount is empty. */
static const char *mapping_path_or_unknown(const struct trace_mapping *mapping)
{
	return mapping->path[0] ? mapping->path : "[unknown]";
}

const char *frame_names_base_name(const char *object)
{
	const char *slash = strrchr(object, '/');

	return slash && slash[1] ? slash + 1 : object;
}

/* Sets address and object of a kernel frame. An address that kptr_restrict hid from the recorder is
 * hidden from all readers of the recording. */
static int locate_kernel_frame(const struct trace_reader *reader, struct named_frame *named)
{
	const struct trace_module *module = trace_reader_module_of(reader, named->name.frame);
	bool shown = trace_reader_info(reader)->address_shown;

	named->name.address = shown ? named->name.frame : 0;
	named->name.object = "[kernel.kallsyms]";
	if (!module || strcmp(module->name, "vmlinux") == 0)
		return 0;
	if (asprintf(&named->owned_object, "[%s]", module->name) < 0)
		return -ENOMEM;
	named->name.object = named->owned_object;
	return 0;
}

static void locate_user_frame(const struct trace_reader *reader, struct frame_name *name)
{
	const struct trace_mapping *mapping =
		trace_reader_mapping(reader, FRAME_MAPPING(name->frame));

	name->address = FRAME_OFFSET(name->frame);
	name->object = "[unknown]";
	if (!mapping)
		return;
	name->object = mapping_path_or_unknown(mapping);
	if (mapping->kind == MAPPING_ANON)
		name->address += mapping->base;
}

/* Names a kernel frame by the copy of kallsyms, for a kernel that hid its names from the
 * recorder. */
static const char *find_kernel_symbol(const struct frame_names *names, struct frame_name *name)
{
	u64 address = name->frame + !name->return_address;
	struct symbol symbol;

	if (!FRAME_IS_KERNEL(name->frame) || !names->naming.kernel ||
	    !kernel_names_find(names->naming.kernel, address, &symbol))
		return NULL;
	name->offset = name->frame - symbol.start;
	name->size = symbol.size;
	return symbol.name;
}

static void set_function_offset_and_size(struct frame_name *name, u64 start, u64 size)
{
	u64 position = FRAME_IS_KERNEL(name->frame) ? name->frame : FRAME_OFFSET(name->frame);

	name->offset = position - start;
	name->size = size;
}

/* The symbol of the recording or of the debug file, whichever starts nearer to the frame. */
static const char *find_symbol_nearest_to_frame(const struct frame_names *names,
						const struct debug_name *debug,
						struct frame_name *name)
{
	const struct trace_symbol *symbol =
		trace_reader_symbol(names->reader, name->frame, name->return_address);
	bool is_named = symbol && symbol->name[0];
	const char *function;

	if (debug && debug->symbol && (!is_named || debug->symbol_start > symbol->start)) {
		set_function_offset_and_size(name, debug->symbol_start, debug->symbol_size);
		return debug->symbol;
	}
	if (is_named) {
		set_function_offset_and_size(name, symbol->start, symbol->size);
		return symbol->name;
	}
	function = find_kernel_symbol(names, name);
	if (!function && debug && debug->count)
		function = debug->functions[debug->count - 1].function;
	if (!function && symbol)
		set_function_offset_and_size(name, symbol->start, symbol->size);
	return function;
}

/* Returns the demangled name, or `name` if mangled names are wanted. `name` may be NULL. */
static const char *demangle_if_wanted(struct frame_names *names, const char *name)
{
	return name && !names->naming.mangled ? demangle_cache_find(names->demangle_cache, name)
					      : name;
}

/* Writes the bounds of the function as a range in the file if they are known, else the offset of
 * the frame. */
static void format_code_position(const struct frame_name *name, const char *file, u64 file_start,
				 char *text, size_t bytes)
{
	unsigned long long start = name->address - name->offset - file_start;

	if (name->size)
		snprintf(text, bytes, "%.255s+0x%llx..0x%llx", file, start,
			 start + (unsigned long long)name->size);
	else
		snprintf(text, bytes, "%.255s+0x%llx", file, start);
}

/* Prefixes the name of a guessed frame with "? ", as the kernel marks unreliable frames. The
 * text belongs to the labels. */
static const char *prefix_guessed_name(struct frame_names *names, const struct frame_name *name,
				       const char *text)
{
	u32 label = UINT32_MAX;
	char *marked;

	if (!text || !FRAME_IS_GUESSED(name->frame))
		return text;
	if (asprintf(&marked, FRAME_GUESSED_MARK "%s", text) >= 0) {
		label = intern_label(names, marked, name->object);
		free(marked);
	}
	return label == UINT32_MAX ? text : frame_names_label(names, label);
}

/* The id of the label of an inlined function, whose name may be NULL. UINT32_MAX: no memory. */
static u32 intern_inlined_label(struct frame_names *names, const char *function, const char *object)
{
	u32 label;
	char *text;

	if (asprintf(&text, "%s" FRAME_INLINED_MARK, function ?: "[unknown]") < 0)
		return UINT32_MAX;
	label = intern_label(names, text, object);
	free(text);
	return label;
}

bool frame_name_is_of_inlined_function(const struct frame_name *name)
{
	enum script_runtime runtime =
		name->function && name->object ? script_runtime_by_name(name->object) : SCRIPT_NONE;

	return runtime == SCRIPT_JAVA_INLINED || runtime == SCRIPT_V8_INLINED;
}

/* Code without a name gets its position in its file as label, which is the same wherever the file
 * is loaded. */
static u32 intern_frame_label(struct frame_names *names, const struct frame_name *name)
{
	bool in_kernel = FRAME_IS_KERNEL(name->frame);
	const struct trace_module *module = NULL;
	const struct trace_mapping *mapping = NULL;
	char text[320] = "[unknown]";

	if (frame_name_is_of_inlined_function(name))
		return intern_inlined_label(names, name->function, name->object);
	if (name->function)
		return intern_label(names, name->function, name->object);
	if (in_kernel)
		module = trace_reader_module_of(names->reader, name->frame);
	else
		mapping = trace_reader_mapping(names->reader, FRAME_MAPPING(name->frame));
	if (in_kernel && name->address && module)
		format_code_position(name, module->name, module->start, text, sizeof(text));
	else if (mapping && mapping->kind != MAPPING_ANON)
		format_code_position(name, frame_names_base_name(mapping_path_or_unknown(mapping)),
				     0, text, sizeof(text));
	else if (mapping || (in_kernel && name->address))
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)name->address);
	return intern_label(names, prefix_guessed_name(names, name, text), name->object);
}

static void named_frame_free(struct named_frame *named)
{
	free(named->functions);
	free(named->owned_object);
	free(named);
}

static int set_inlined_functions(struct frame_names *names, struct named_frame *named,
				 const struct debug_name *debug)
{
	for (u32 i = 0; i + 1 < named->name.function_count; i++) {
		struct frame_function *function = &named->functions[i];

		function->inlined = true;
		function->name = prefix_guessed_name(
			names, &named->name,
			demangle_if_wanted(names, debug->functions[i].function));
		function->label = intern_inlined_label(names, function->name, named->name.object);
		if (function->label == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}

static int set_frame_functions(struct frame_names *names, struct named_frame *named)
{
	struct frame_name *name = &named->name;
	const struct debug_name *debug =
		names->debug ? frame_debug_find(names->debug, name->frame, name->return_address)
			     : NULL;
	const char *symbol = FRAME_IS_OMITTED(name->frame)
				     ? FRAME_OMITTED_NAME
				     : find_symbol_nearest_to_frame(names, debug, name);
	u32 last = debug && debug->count && !names->naming.no_inline ? debug->count - 1 : 0;

	name->function_count = last + 1;
	name->functions = named->functions = calloc(last + 1UL, sizeof(*named->functions));
	if (!named->functions)
		return -ENOMEM;
	name->function = prefix_guessed_name(names, name, demangle_if_wanted(names, symbol));
	name->label = intern_frame_label(names, name);
	named->functions[last].name = name->function;
	named->functions[last].label = name->label;
	for (u32 i = 0; debug && i < debug->count && i <= last; i++) {
		named->functions[i].file = debug->functions[i].file;
		named->functions[i].line = debug->functions[i].line;
	}
	return name->label == UINT32_MAX ? -ENOMEM : set_inlined_functions(names, named, debug);
}

struct chain_key {
	const struct frame_names *names;
	const struct frame_name *name;
};

static bool are_label_chains_equal(const void *chains, u32 index, const void *arg)
{
	const struct chain *chain = &((const struct chain *)chains)[index];
	const struct chain_key *key = arg;

	if (chain->count != key->name->function_count)
		return false;
	for (u32 i = 0; i < chain->count; i++)
		if (key->names->chain_labels[chain->first + i] != key->name->functions[i].label)
			return false;
	return true;
}

static int intern_label_list_of_frame(struct frame_names *names, struct frame_name *name)
{
	struct chain_key key = {.names = names, .name = name};
	struct chain chain = {.first = names->chain_label_count, .count = name->function_count};
	u32 id = names->chain_index.count;
	u64 hash = 0;

	for (u32 i = 0; i < chain.count; i++)
		hash = hash_word(hash, name->functions[i].label);
	name->chain = hash_index_find(&names->chain_index, hash_end(hash), are_label_chains_equal,
				      names->chains, &key);
	if (name->chain != HASH_INDEX_NONE)
		return 0;
	name->chain = id;
	if (array_make_rooms(names->chain_labels, chain.first + chain.count,
			     names->chain_label_room) ||
	    array_make_room(names->chains, id, names->chain_room) ||
	    hash_index_add(&names->chain_index, hash_end(hash), id))
		return -ENOMEM;
	for (u32 i = 0; i < chain.count; i++)
		names->chain_labels[names->chain_label_count++] = name->functions[i].label;
	names->chains[id] = chain;
	return 0;
}

const u32 *frame_names_labels_of_chain(const struct frame_names *names, u32 chain, u32 *count)
{
	*count = names->chains[chain].count;
	return &names->chain_labels[names->chains[chain].first];
}

static const struct frame_name *add_named_frame(struct frame_names *names,
						const struct frame_name *key, u32 hash)
{
	struct named_frame *named = calloc(1, sizeof(*named));
	u64 bytes = sizeof(*named) + sizeof(struct frame_function) + ENTRY_BYTES;
	u32 index = names->frame_index.count;
	int err = 0;

	if (!named)
		return NULL;
	named->name = *key;
	if (FRAME_IS_KERNEL(key->frame))
		err = locate_kernel_frame(names->reader, named);
	else
		locate_user_frame(names->reader, &named->name);
	err = err ?: set_frame_functions(names, named);
	err = err ?: intern_label_list_of_frame(names, &named->name);
	if (err || trace_reader_count_memory(names->reader, bytes) ||
	    array_make_room(names->frames, index, names->frame_room) ||
	    hash_index_add(&names->frame_index, hash, index)) {
		named_frame_free(named);
		return NULL;
	}
	names->frames[index] = named;
	return &named->name;
}

const struct frame_name *frame_names_find(struct frame_names *names, u64 frame, bool return_address)
{
	struct frame_name key = {.frame = frame, .return_address = return_address};
	u32 hash = hash_end(hash_word(hash_word(0, frame), return_address));
	u32 index = hash_index_find(&names->frame_index, hash, is_same_frame, names->frames, &key);

	return index == HASH_INDEX_NONE ? add_named_frame(names, &key, hash)
					: &names->frames[index]->name;
}

int frame_names_each(const struct frame_names *names,
		     int (*each)(void *arg, const struct frame_name *name), void *arg)
{
	int result = 0;

	for (u32 i = 0; i < names->frame_index.count && !result; i++)
		result = each(arg, &names->frames[i]->name);
	return result;
}

/* --- kernel names from a copy of /proc/kallsyms --- */

/*
 * The reason why the copy of kallsyms is not of the boot of the recording, or NULL. Names of
 * another boot would be wrong, since the kernel has another address then. KASLR has only some
 * hundred addresses, and without KASLR all boots have the same address, so the recorded symbols of
 * the kernel image are compared, too. Symbols of modules are not compared, since modules come and
 * go. If the recorder could not see the address of the kernel, the copy is believed, unless the
 * recordings are of several boots.
 */
static const char *find_kernel_mismatch(const struct trace_reader *reader,
					const struct kernel_names *names, bool many_boots)
{
	static const char other[] = "it is of another boot or kernel; a copy of the same is needed";
	const struct trace_module *kernel = trace_reader_kernel(reader);
	const struct trace_symbol *symbols;
	u32 count = trace_reader_symbols(reader, &symbols);
	struct symbol found;

	if (!kernel || !kernel->start)
		return many_boots ? "it is of one boot, the recordings are of several, and this "
				    "one does "
				    "not tell where its kernel lay: show them one by one"
				  : NULL;
	if (kernel->start != kernel_names_stext(names))
		return other;
	for (u32 i = 0; i < count; i++)
		if (!symbols[i].mapping && symbols[i].start >= kernel->start &&
		    symbols[i].start < kernel->end &&
		    (!kernel_names_find(names, symbols[i].start + 1, &found) ||
		     found.start != symbols[i].start))
			return other;
	return NULL;
}

int frame_names_create(struct trace_reader *reader, const struct frame_naming *naming,
		       struct frame_names **out)
{
	struct frame_names *names = calloc(1, sizeof(*names));
	const struct trace_module *kernel = trace_reader_kernel(reader);
	const struct trace_symbol *symbols;
	const char *mismatch = NULL;

	if (!names)
		return -ENOMEM;
	names->reader = reader;
	names->naming = *naming;
	if (naming->kernel)
		mismatch = find_kernel_mismatch(reader, naming->kernel, naming->many_boots);
	if (mismatch) {
		names->naming.kernel = NULL;
		if (naming->note)
			naming->note(naming->arg, trace_reader_info(reader), mismatch);
	}
	if (naming->unfinished && !names->naming.kernel && kernel && kernel->start &&
	    !trace_reader_ledger(reader) && !trace_reader_symbols(reader, &symbols))
		naming->unfinished(trace_reader_info(reader));
	if (demangle_cache_create(&names->demangle_cache) ||
	    (naming->debug && frame_debug_create(reader, naming->debug, &names->debug))) {
		frame_names_free(&names);
		return -ENOMEM;
	}
	*out = names;
	return 0;
}

const struct frame_naming *frame_names_naming(const struct frame_names *names)
{
	return &names->naming;
}

bool frame_names_have_lines(const struct frame_names *names)
{
	return names->debug && names->debug->count > 0;
}

void frame_names_free(struct frame_names **names)
{
	struct frame_names *old = *names;
	struct demangle_failures failures = {};

	if (!old)
		return;
	if (old->demangle_cache)
		failures = demangle_cache_failures(old->demangle_cache);
	if (failures.count && old->naming.undemangled)
		old->naming.undemangled(failures.count, failures.reason);
	for (u32 i = 0; i < old->frame_index.count; i++)
		named_frame_free(old->frames[i]);
	for (u32 i = 0; i < old->label_index.count; i++)
		free(old->labels[i]);
	demangle_cache_free(&old->demangle_cache);
	hash_index_free(&old->frame_index);
	hash_index_free(&old->label_index);
	hash_index_free(&old->chain_index);
	frame_debug_free(&old->debug);
	free(old->chains);
	free(old->chain_labels);
	free(old->frames);
	free(old->labels);
	free(old);
	*names = NULL;
}
