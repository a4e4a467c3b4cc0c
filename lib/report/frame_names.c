/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two search trees (tsearch(3)): frames to their names, label texts to their ids. A recording has
 * some ten thousand distinct frames however many events it has, so the trees stay small.
 */
#include "frame_names.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"

struct label {
	u32 id;
	const char *object; /* or NULL */
	char text[];
};

struct named_frame {
	struct frame_name name; /* first: a frame_name finds its named_frame */
	char *owned_function;
	char *owned_object;
};

struct frame_names {
	struct trace_reader *reader;
	struct frame_naming naming;
	void *frames;
	void *labels;
	struct label **by_id;
	u32 count, room;
};

static int compare_frames(const void *a, const void *b)
{
	const struct frame_name *left = a, *right = b;

	if (left->frame != right->frame)
		return left->frame < right->frame ? -1 : 1;
	return left->return_address - right->return_address;
}

static int compare_labels(const void *a, const void *b)
{
	const struct label *left = a, *right = b;
	int order = strcmp(left->text, right->text);

	return order ? order : strcmp(left->object ?: "", right->object ?: "");
}

static int make_room(struct frame_names *names)
{
	u32 room = names->room ? 2 * names->room : 256;
	struct label **by_id;

	if (names->count < names->room)
		return 0;
	by_id = reallocarray(names->by_id, room, sizeof(struct label *));
	if (!by_id)
		return -ENOMEM;
	names->by_id = by_id;
	names->room = room;
	return 0;
}

static struct label *label_create(const char *text, const char *object)
{
	size_t bytes = strlen(text) + 1;
	struct label *label = malloc(sizeof(*label) + bytes);

	if (!label)
		return NULL;
	label->object = object;
	memcpy(label->text, text, bytes);
	return label;
}

static u32 intern(struct frame_names *names, const char *text, const char *object)
{
	struct label *label = label_create(text, object);
	struct label **found;

	if (!label || make_room(names))
		goto fail;
	found = tsearch(label, &names->labels, compare_labels);
	if (!found)
		goto fail;
	if (*found == label) {
		label->id = names->count++;
		names->by_id[label->id] = label;
	} else {
		free(label);
	}
	return (*found)->id;
fail:
	free(label);
	return UINT32_MAX;
}

u32 frame_names_intern(struct frame_names *names, const char *text)
{
	return intern(names, text, NULL);
}

const char *frame_names_label(const struct frame_names *names, u32 label)
{
	return names->by_id[label]->text;
}

const char *frame_names_label_object(const struct frame_names *names, u32 label)
{
	return names->by_id[label]->object;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const struct trace_module *module_of(const struct trace_reader *reader, u64 address)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(reader, &modules);

	for (u32 i = 0; i < count; i++)
		if (address >= modules[i].start && address < modules[i].end)
			return &modules[i];
	return NULL;
}

static int locate_kernel(const struct trace_reader *reader, struct named_frame *named)
{
	const struct trace_module *module = module_of(reader, named->name.frame);

	named->name.address = named->name.frame;
	named->name.object = "[kernel.kallsyms]";
	if (!module || strcmp(module->name, "vmlinux") == 0)
		return 0;
	if (asprintf(&named->owned_object, "[%s]", module->name) < 0)
		return -ENOMEM;
	named->name.object = named->owned_object;
	return 0;
}

static void locate_user(const struct trace_reader *reader, struct frame_name *name)
{
	const struct trace_mapping *mapping =
		trace_reader_mapping(reader, FRAME_MAPPING(name->frame));

	name->address = FRAME_OFFSET(name->frame);
	name->object = "[unknown]";
	if (!mapping)
		return;
	name->object = mapping->path;
	if (mapping->kind == MAPPING_ANON)
		name->address += mapping->base;
}

static void set_function(const struct frame_names *names, struct named_frame *named)
{
	struct frame_name *name = &named->name;
	const struct trace_symbol *symbol =
		trace_reader_symbol(names->reader, name->frame, name->return_address);
	u64 place = FRAME_IS_KERNEL(name->frame) ? name->frame : FRAME_OFFSET(name->frame);

	if (!symbol)
		return;
	if (!names->naming.mangled)
		named->owned_function = demangle(symbol->name);
	name->function = named->owned_function ? named->owned_function : symbol->name;
	name->offset = place - symbol->start;
	name->size = symbol->size;
}

static u32 label_of(struct frame_names *names, const struct frame_name *name)
{
	const struct trace_mapping *mapping;
	char text[320];

	if (name->function)
		return intern(names, name->function, name->object);
	mapping = trace_reader_mapping(names->reader, FRAME_MAPPING(name->frame));
	if (FRAME_IS_KERNEL(name->frame) || (mapping && mapping->kind == MAPPING_ANON))
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)name->address);
	else if (mapping)
		snprintf(text, sizeof(text), "%.255s+0x%llx", base_name(mapping->path),
			 (unsigned long long)name->address);
	else
		snprintf(text, sizeof(text), "[unknown]");
	return intern(names, text, name->object);
}

static void named_frame_free(void *node)
{
	struct named_frame *named = node;

	free(named->owned_function);
	free(named->owned_object);
	free(named);
}

static int name_frame(struct frame_names *names, struct named_frame *named)
{
	struct frame_name *name = &named->name;

	if (!FRAME_IS_KERNEL(name->frame))
		locate_user(names->reader, name);
	else if (locate_kernel(names->reader, named))
		return -ENOMEM;
	set_function(names, named);
	name->label = label_of(names, name);
	return name->label == UINT32_MAX ? -ENOMEM : 0;
}

static const struct frame_name *add_frame(struct frame_names *names, const struct frame_name *key)
{
	struct named_frame *named = calloc(1, sizeof(*named));

	if (!named)
		return NULL;
	named->name = *key;
	if (name_frame(names, named) || !tsearch(named, &names->frames, compare_frames)) {
		named_frame_free(named);
		return NULL;
	}
	return &named->name;
}

const struct frame_name *frame_names_find(struct frame_names *names, u64 frame, bool return_address)
{
	struct frame_name key = {.frame = frame, .return_address = return_address};
	struct frame_name **found = tfind(&key, &names->frames, compare_frames);

	return found ? *found : add_frame(names, &key);
}

int frame_names_create(struct trace_reader *reader, const struct frame_naming *naming,
		       struct frame_names **out)
{
	struct frame_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->reader = reader;
	names->naming = *naming;
	*out = names;
	return 0;
}

void frame_names_free(struct frame_names **names)
{
	if (!*names)
		return;
	tdestroy((*names)->frames, named_frame_free);
	tdestroy((*names)->labels, free);
	free((*names)->by_id);
	free(*names);
	*names = NULL;
}
