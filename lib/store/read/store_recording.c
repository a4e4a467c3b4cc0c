/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account of all hosts is read first: if a shard has repeated rows, its events are read with
 * FINAL.
 */
#include "store/read/store_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "report/event/stack_end.h"
#include "report/event/stack_hash.h"
#include "report/name/frame_names.h"
#include "store/read/code.h"
#include "symbol/demangle/demangler.h"
#include "text_list.h"
#include "trace/write/memory_recording.h"
#include "trace/write/writer.h"

#define NS_PER_SECOND 1000000000ULL
#define TEXT_BYTES 512
#define REPEATS_MAX UINT32_MAX

/* --- code of a store in a recording --- */

/*
 * Addresses for the code of a store in a recording: user objects get mapping numbers, kernel
 * objects get addresses that no kernel uses. A frame that the store identifies by a kernel address
 * keeps this address.
 *
 *   user     mapping number of the object, offset
 *   kernel   1 << 63 | number << 40 | offset from where it was loaded
 *
 * Inlined functions are separate frames, as in reports: each inlined name of an object has an
 * address in one additional mapping of the object.
 */

/*
 * An offset has up to 64 bits in the store and 40 bits in a recording, so each range of 2^40 bytes
 * that an object uses becomes a region with a number of its own. The store identifies a frame by
 * the offset that is looked up in tables of functions. A return address in the recording is one
 * byte more, because readers look up the byte before a return address.
 *
 * Each frame with a name gets a symbol. If several symbols start at one address, the writer keeps
 * one of them.
 */

struct located_code;

/* A stack, in the form in which events of the recording refer to it. */
struct located_stack {
	bool is_made;
	u64 leaf;
	u32 kernel, user; /* index of the kernel stack and of the user stack in the recording, or
			     TRACE_NO_STACK */
	u32 kernel_flags, user_flags;
	u8 kernel_reason, user_reason;
	u8 user_stop; /* stop reason of the user stack, if the stack has frames */
};

#define REGIONS_MAX (1U << 22)
#define INLINED_REGION UINT64_MAX /* value of `part` for the region of inlined names */
#define PATH_REST "[rest]"
#define PATH_NOT_STORED "[not_stored]"
#define INLINED_BYTES 2 /* number of addresses that each inlined name gets */

struct region {
	/* object, and `part`: the upper bits of the offset, or INLINED_REGION */
	struct intern_key key;
	u32 number; /* number of the region, from 1: its mapping number, or its number in kernel
		       addresses */
	u32 names;  /* number of inlined names that have an address in this region */
};

struct inlined {
	struct intern_key key; /* object, and address of the text of the inlined function's name */
	u64 place;	       /* address of the name in the recording; 0: not assigned yet */
};

struct located_code {
	const struct store_code *code;
	struct trace_writer *writer;
	struct demangler *demangler; /* demangler of names; NULL: inlined functions are left out */
	/* stacks of the recording; index: number of the stack in the answer */
	struct located_stack *stacks;
	struct located_stack not_stored;
	u64 *places; /* address of each frame in the recording; index: frame number; 0: not assigned
			yet */
	struct intern regions, inlined;
	struct text_set names;
	u32 region_count;
	u64 frames[STACK_WORDS_MAX]; /* frames of the kernel or user stack that is being written */
	u32 depth;
};

static void located_code_free(struct located_code **located)
{
	struct located_code *old = *located;

	*located = NULL;
	if (!old)
		return;
	demangler_free(&old->demangler);
	intern_clear(&old->regions);
	intern_clear(&old->inlined);
	text_set_clear(&old->names);
	free(old->stacks);
	free(old->places);
	free(old);
}

static int located_code_create(const struct store_code *code, bool no_inlined,
			       struct trace_writer *writer, struct located_code **out)
{
	struct located_code *located = calloc(1, sizeof(*located));
	int err = located ? 0 : -ENOMEM;

	if (err)
		return err;
	located->code = code;
	located->writer = writer;
	located->regions = INTERN(struct region);
	located->inlined = INTERN(struct inlined);
	located->names = TEXT_SET;
	located->stacks = calloc(code->stack_count + 1UL, sizeof(*located->stacks));
	located->places = calloc(code->frames.count + 1UL, sizeof(*located->places));
	if (!located->stacks || !located->places ||
	    (!no_inlined && demangler_create(&located->demangler)))
		located_code_free(&located);
	else
		*out = located;
	return located ? 0 : -ENOMEM;
}

/* --- regions --- */

static int write_mapping(struct located_code *located, const struct store_object *object,
			 const struct region *region)
{
	u64 part = region->key.word[1];
	bool is_generated = object->kind == FRAME_BY_NAME ||
			    (object->kind == FRAME_BY_HOST && object->path[0] == '[' &&
			     strcmp(object->path, "[vdso]") != 0);
	struct trace_mapping mapping = {
		.number = region->number,
		.kind = is_generated ? MAPPING_ANON : MAPPING_FILE,
		.build_id_bytes = object->build_id_bytes,
		.path = object->path,
	};

	memcpy(mapping.build_id, object->build_id, object->build_id_bytes);
	if (mapping.kind == MAPPING_ANON && part != INLINED_REGION)
		mapping.base = part << FRAME_OFFSET_BITS;
	return trace_writer_mapping(located->writer, &mapping);
}

static u64 kernel_region_start(const struct region *region)
{
	return 1ULL << 63 | (u64)region->number << FRAME_OFFSET_BITS;
}

/*
 * Writes the name of a kernel module without brackets: "MODULE" for "[MODULE]", and "vmlinux" for
 * "[kernel.kallsyms]".
 */
static int write_module(struct located_code *located, const struct store_object *object,
			const struct region *region)
{
	size_t length = strlen(object->path);
	struct trace_module module = {
		.start = kernel_region_start(region),
		.end = kernel_region_start(region) + (1ULL << FRAME_OFFSET_BITS),
		.build_id_bytes = object->build_id_bytes,
	};
	char *name;
	int err;

	if (object->kind == FRAME_BY_NAME || length < 3)
		return 0;
	name = strcmp(object->path, "[kernel.kallsyms]") ? strndup(object->path + 1, length - 2)
							 : strdup("vmlinux");
	if (!name)
		return -ENOMEM;
	module.name = name;
	memcpy(module.build_id, object->build_id, object->build_id_bytes);
	err = trace_writer_module(located->writer, &module);
	free(name);
	return err;
}

/*
 * Finds or adds the region of an object. NULL if memory is short, or with more than REGIONS_MAX
 * regions.
 */
static struct region *find_or_add_region(struct located_code *located,
					 const struct store_object *object, u64 part)
{
	const struct intern_key key = {.word = {object->number, part}};
	struct region *region = intern_find_or_add_entry(&located->regions, &key);
	int err;

	if (!region || region->number)
		return region;
	if (located->region_count == REGIONS_MAX)
		return NULL;
	region->number = ++located->region_count;
	err = object->is_kernel ? write_module(located, object, region)
				: write_mapping(located, object, region);
	return err ? NULL : region;
}

static u64 recording_address_in_region(const struct store_object *object,
				       const struct region *region, u64 offset)
{
	if (object->is_kernel)
		return kernel_region_start(region) | (offset & FRAME_OFFSET_MASK);
	return FRAME_USER(region->number, offset);
}

/* Returns the address that an object's offset gets in the recording; 0 without memory. */
static u64 assign_recording_address(struct located_code *located, const struct store_object *object,
				    u64 offset)
{
	const struct region *region;

	if (object->is_known && object->kind == FRAMES_OMITTED && offset)
		return FRAME_OMITTED(offset & FRAME_OFFSET_MASK);
	if (!object->is_known || object->kind == FRAME_UNKNOWN)
		return FRAME_USER(MAPPING_UNKNOWN, offset);
	if (object->is_kernel && FRAME_IS_KERNEL(offset))
		return offset;
	region = find_or_add_region(located, object, offset >> FRAME_OFFSET_BITS);
	return region ? recording_address_in_region(object, region, offset) : 0;
}

/* --- symbols and names of inlined functions --- */

static int write_symbol(struct located_code *located, u64 place, u64 size, const char *name)
{
	struct trace_symbol symbol = {.start = place, .size = size, .name = name};

	if (!FRAME_IS_KERNEL(place)) {
		symbol.mapping = FRAME_MAPPING(place);
		symbol.start = FRAME_OFFSET(place);
	}
	return trace_writer_symbol(located->writer, &symbol);
}

/* Writes the frame's symbol. Function bounds that do not contain the frame are ignored. */
static int write_frame_symbol(struct located_code *located, const struct store_frame *frame,
			      u64 place)
{
	u64 offset = frame->key.word[2], before = offset - frame->start;
	bool is_bounded = frame->size && frame->start <= offset && before < frame->size &&
			  before <= (place & FRAME_OFFSET_MASK) && frame->size <= FRAME_OFFSET_MASK;
	u32 count = frame->function_count;
	const char *name = count ? frame->functions[count - 1] : "";

	if (!count && !is_bounded)
		return 0;
	return write_symbol(located, is_bounded ? place - before : place,
			    is_bounded ? frame->size : 1, name);
}

/* The address that an inlined function's name gets in the recording; 0 without memory. */
static u64 assign_inlined_address(struct located_code *located, const struct store_object *object,
				  const char *mangled)
{
	char *plain = demangler_demangle_name(located->demangler, mangled), *text;
	struct intern_key key = {.word = {object->number}};
	struct inlined *inlined = NULL;
	const char *name = NULL;
	struct region *region;

	if (asprintf(&text, "%s" FRAME_INLINED_MARK,
		     plain
			     ?: *mangled ? mangled
					 : "[unknown]") >= 0) {
		name = text_set_intern(&located->names, text);
		free(text);
	}
	free(plain);
	if (name) {
		key.word[1] = intern_word_of_address(name);
		inlined = intern_find_or_add_entry(&located->inlined, &key);
	}
	if (!inlined || inlined->place)
		return inlined ? inlined->place : 0;
	region = find_or_add_region(located, object, INLINED_REGION);
	if (!region)
		return 0;
	inlined->place =
		recording_address_in_region(object, region, ++region->names * INLINED_BYTES);
	return write_symbol(located, inlined->place, INLINED_BYTES, name) ? 0 : inlined->place;
}

/* --- stacks --- */

/*
 * Adds a frame to `frames`. Frames beyond STACK_WORDS_MAX are dropped, and write_stack() marks the
 * stack as truncated.
 */
static int append_frame_address(struct located_code *located, u64 place, bool is_first)
{
	if (!place)
		return -ENOMEM;
	if (located->depth < STACK_WORDS_MAX)
		located->frames[located->depth++] = is_first ? place : place + 1;
	return 0;
}

/*
 * The address that a frame gets in the recording. It is assigned and named once; 0 without memory.
 */
static u64 assign_frame_address(struct located_code *located, const struct store_frame *frame)
{
	u64 *known = &located->places[frame->number - 1], place;

	if (*known)
		return *known;
	place = assign_recording_address(located, frame->object, frame->key.word[2]);
	if (!place || write_frame_symbol(located, frame, place))
		return 0;
	*known = place;
	return place;
}

/*
 * Adds a frame and the functions inlined at it. Only the innermost of these functions may have the
 * frame's program counter; all others are stored as return addresses.
 */
static int append_frame_with_inlined(struct located_code *located, const struct store_place *at,
				     bool with_inlined)
{
	const struct store_frame *frame = at->frame;
	u64 place = assign_frame_address(located, frame);
	bool is_first = at->is_executed;
	int err = place ? 0 : -ENOMEM;

	for (u32 i = 0; with_inlined && i + 1 < frame->function_count && !err; i++) {
		err = append_frame_address(
			located,
			assign_inlined_address(located, frame->object, frame->functions[i]),
			is_first);
		is_first = false;
	}
	return err ?: append_frame_address(located, place, is_first);
}

/* The reason why a stack has no frames, by the name that the store has for the stack's end. */
static u8 reason_by_name(const char *end)
{
	for (u32 i = 0; i < REASON_COUNT; i++)
		if (!strcmp(stack_end_of_reason(i)->name, end))
			return i;
	return REASON_UNREADABLE;
}

/* The stop reason of a stack with frames, by the name that the store has for the stack's end. */
static enum stop_reason stop_reason_by_name(const char *end)
{
	if (!strcmp(end, "truncated"))
		return STOP_DEPTH;
	for (u32 i = 0; i < STOP_COUNT; i++)
		if (!strcmp(stack_end_of_stop(i)->name, end))
			return i;
	return STOP_ROOT;
}

struct side {
	const struct store_place *places;
	u32 count;
	bool has_leaf; /* true: the first frame of the part is the stack's leaf */
	const char *end;
	u32 flags; /* flags of the part's stack: STACK_USER or 0 */
};

static int write_stack(struct located_code *located, u32 from, u32 flags, u32 *index)
{
	const struct trace_stack stack = {
		.flags = flags | (located->depth == STACK_WORDS_MAX ? STACK_TRUNCATED : 0),
		.depth = located->depth - from,
		.frames = located->frames + from,
	};

	return stack.depth ? trace_writer_stack(located->writer, &stack, index) : 0;
}

/*
 * Writes the frames of the kernel or user part of a stack. If the part has no stack but a leaf, the
 * leaf is one frame, so functions inlined at it are left out.
 */
static int write_stack_part(struct located_code *located, const struct side *side, u64 *leaf,
			    u32 *index, u32 *flags)
{
	bool is_there = side->count > side->has_leaf;
	int err = 0;

	located->depth = 0;
	for (u32 i = 0; i < side->count && !err; i++)
		err = append_frame_with_inlined(located, &side->places[i],
						located->demangler && is_there);
	if (err)
		return err;
	if (side->has_leaf)
		*leaf = located->frames[0];
	*index = TRACE_NO_STACK;
	*flags = side->flags | (stack_flags_of_stop(stop_reason_by_name(side->end)) & ~STACK_USER);
	return is_there ? write_stack(located, side->has_leaf, *flags, index) : 0;
}

/*
 * Makes a stack of one frame with the given name. It stands for all stacks that are not in the
 * answer.
 */
static int make_stack_of_one_named_frame(struct located_code *located, const char *name,
					 struct located_stack *to)
{
	const struct trace_mapping mapping = {
		.number = located->region_count + 1, .kind = MAPPING_FILE, .path = name};
	u64 place = FRAME_USER(mapping.number, INLINED_BYTES);

	located->region_count++;
	*to = (struct located_stack){.kernel = TRACE_NO_STACK,
				     .kernel_reason = REASON_NO_FRAMES,
				     .user_flags = STACK_USER,
				     .user_stop = STOP_ROOT};
	located->depth = 0;
	return trace_writer_mapping(located->writer, &mapping)
		       ?: write_symbol(located, place, INLINED_BYTES, name)
		       ?: append_frame_address(located, place, false)
		       ?: write_stack(located, 0, STACK_USER, &to->user);
}

/* Writes the parts of a stack that were not written before. 0, or -errno. */
static int located_code_write_stack(struct located_code *located, u32 number,
				    const struct located_stack **out)
{
	const struct store_stack *from = &located->code->stacks[number];
	struct located_stack *stack = &located->stacks[number];
	int err = 0;

	if (number != STORE_STACK_REST && !from->is_known)
		stack = &located->not_stored;
	if (!stack->is_made && number == STORE_STACK_REST)
		err = make_stack_of_one_named_frame(located, PATH_REST, stack);
	else if (!stack->is_made && !from->is_known)
		err = make_stack_of_one_named_frame(located, PATH_NOT_STORED, stack);
	else if (!stack->is_made) {
		const struct side kernel = {from->places, from->kernel_depth,
					    from->leaf == 1 && from->kernel_depth, from->kernel_end,
					    0};
		const struct side user = {from->places + from->kernel_depth,
					  from->depth - from->kernel_depth,
					  from->leaf == 2 && from->depth > from->kernel_depth,
					  from->user_end, STACK_USER};

		stack->kernel_reason = reason_by_name(from->kernel_end);
		stack->user_reason = reason_by_name(from->user_end);
		stack->user_stop = stop_reason_by_name(from->user_end);
		err = write_stack_part(located, &kernel, &stack->leaf, &stack->kernel,
				       &stack->kernel_flags)
			      ?: write_stack_part(located, &user, &stack->leaf, &stack->user,
						  &stack->user_flags);
	}
	if (err)
		return err;
	stack->is_made = true;
	*out = stack;
	return 0;
}

/* The rows that the store's queries for one question have returned. */
struct answer {
	struct selection selection;
	struct store_account account;
	struct store_counts counts;
	struct store_code code;
};

static void clear_answer(struct answer *answer)
{
	selection_clear(&answer->selection);
	store_account_clear(&answer->account);
	store_counts_clear(&answer->counts);
	store_code_clear(&answer->code);
}

static int query_shards_once(struct shards *shards, const struct store_question *question,
			     struct answer *answer, struct stackmap_error *error)
{
	return selection_make(shards, question, &answer->selection, error)
		       ?: store_account_read(shards, question, &answer->selection, &answer->account,
					     error)
		       ?: store_counts_read(shards, question, &answer->selection, &answer->counts,
					    error)
		       ?: store_code_read(shards, question, &answer->counts, &answer->code, error);
}

/*
 * Sends all queries. If a server does not answer one of them, all queries are repeated without this
 * server.
 */
static int query_shards_until_complete(struct shards *shards, const struct store_question *question,
				       struct answer *answer, struct stackmap_error *error)
{
	int err = query_shards_once(shards, question, answer, error);
	bool any_is_there = true;

	while (err == SHARD_WENT && any_is_there) {
		any_is_there = false;
		for (u32 i = 0; i < shards_count(shards); i++)
			any_is_there |= !reason_shard_is_missing(shards, i);
		if (any_is_there) {
			clear_answer(answer);
			err = query_shards_once(shards, question, answer, error);
		}
	}
	return err;
}

/* --- the recording of an answer --- */

struct writing {
	const struct answer *answer;
	struct trace_writer *writer;
	struct located_code *code;
	/* struct intern_number: maps a comm and cgroup to the tid that stands for them */
	struct intern threads;
	struct text_set *events; /* names of event sources; index: kind of the event in the
				    recording */
	u32 *kinds;   /* kind of each event name; index: number of the name in the answer */
	u32 *cgroups; /* number of each cgroup in the recording; index: number of the cgroup in the
			 answer; 0: not written yet */
	struct trace_ledger ledger;
};

/*
 * The store does not say which unit the values of an event have. The name of the event implies the
 * unit.
 */
static const char *guess_value_unit_by_event_name(const char *event, bool has_value)
{
	static const char *const in_ns[] = {"offcpu-", "sched:sched_stat_"};

	for (u32 i = 0; i < sizeof(in_ns) / sizeof(*in_ns); i++)
		if (!strncmp(event, in_ns[i], strlen(in_ns[i])))
			return "ns";
	return has_value ? "value" : "";
}

static int compare_event_names(const void *a, const void *b, void *names)
{
	const char *const *texts = names;

	return strcmp(texts[*(const u32 *)a], texts[*(const u32 *)b]);
}

/*
 * New event names are numbered in alphabetical order, so that equal answers make equal recordings.
 */
static int number_event_kinds(struct writing *writing)
{
	const struct text_set *events = &writing->answer->counts.events;
	u32 *sorted = calloc(events->count + 1UL, sizeof(*sorted));

	writing->kinds = calloc(events->count + 1UL, sizeof(*writing->kinds));
	if (!sorted || !writing->kinds) {
		free(sorted);
		return -ENOMEM;
	}
	for (u32 i = 0; i < events->count; i++)
		sorted[i] = i;
	qsort_r(sorted, events->count, sizeof(*sorted), compare_event_names, events->texts);
	for (u32 i = 0; i < events->count; i++)
		writing->kinds[sorted[i]] =
			text_set_find_or_add_number(writing->events, events->texts[sorted[i]]);
	free(sorted);
	return 0;
}

/* True if an event of this kind in the answer has a value. */
static bool has_event_values(const struct writing *writing, u32 kind)
{
	const struct store_counts *counts = &writing->answer->counts;

	for (u32 i = 0; i < counts->count; i++)
		if (writing->kinds[counts->counts[i].event] == kind && counts->counts[i].value)
			return true;
	return false;
}

static int write_sources(struct writing *writing)
{
	int err = number_event_kinds(writing);

	for (u32 i = 0; i < writing->events->count && !err; i++) {
		const char *name = writing->events->texts[i];
		const char *unit =
			guess_value_unit_by_event_name(name, has_event_values(writing, i));
		const struct trace_source source = {
			.name = name,
			.extras = TRACE_EXTRA_LEAF | (*unit ? TRACE_EXTRA_VALUE : 0),
			.value_unit = unit,
		};

		err = trace_writer_source(writing->writer, &source);
	}
	return err;
}

/* Sets *number to the cgroup's number in the recording; 0 for an unknown cgroup. */
static int write_cgroup(struct writing *writing, u32 cgroup, u32 *number)
{
	const char *path = writing->answer->counts.cgroups.count
				   ? writing->answer->counts.cgroups.texts[cgroup]
				   : "";
	const struct trace_cgroup record = {.path = path};
	int err;

	*number = 0;
	if (!*path)
		return 0;
	if (!writing->cgroups[cgroup]) {
		err = trace_writer_cgroup(writing->writer, &record, &writing->cgroups[cgroup]);
		if (err)
			return err;
	}
	*number = writing->cgroups[cgroup];
	return 0;
}

static int find_or_add_thread(struct writing *writing, const struct store_count *count, u32 *tid)
{
	const struct intern_key key = {.word = {count->comm, count->cgroup}};
	struct intern_number *thread = intern_find_or_add_entry(&writing->threads, &key);
	const char *comm = writing->answer->counts.comms.texts[count->comm];
	struct trace_task task = {};
	int err = 0;

	if (!thread)
		return -ENOMEM;
	if (!thread->number) {
		thread->number = writing->threads.count;
		task.tid = task.tgid = thread->number;
		snprintf(task.comm, sizeof(task.comm), "%s", comm);
		err = write_cgroup(writing, count->cgroup, &task.cgroup);
		if (!err && (*comm || task.cgroup))
			err = trace_writer_task(writing->writer, &task);
	}
	if (!err)
		*tid = thread->number;
	return err;
}

/*
 * A count is written as events that stand for up to 2^32 events each. The first of these written
 * events has the sum of all values.
 */
static int write_event(struct writing *writing, const struct store_count *count)
{
	struct trace_ledger *ledger = &writing->ledger;
	const struct located_stack *stack;
	struct trace_event event = {.kind = (u16)writing->kinds[count->event],
				    .time = count->time * NS_PER_SECOND,
				    .value = count->value};
	u64 left = count->count;
	int err = located_code_write_stack(writing->code, count->stack, &stack)
			  ?: find_or_add_thread(writing, count, &event.tid);

	if (err)
		return err;
	event.leaf = stack->leaf;
	event.kernel = stack->kernel;
	event.user = stack->user;
	event.kernel_reason = stack->kernel_reason;
	event.user_reason = stack->user_reason;
	if (stack->kernel == TRACE_NO_STACK)
		ledger->kernel_reasons[stack->kernel_reason] += left;
	if (stack->user == TRACE_NO_STACK)
		ledger->user_reasons[stack->user_reason] += left;
	else
		ledger->user_stops[stack->user_stop] += left;
	while (left && !err) {
		event.repeats = (u32)(left - 1 < REPEATS_MAX ? left - 1 : REPEATS_MAX);
		err = trace_writer_event(writing->writer, &event);
		left -= 1 + (u64)event.repeats;
		event.value = 0;
	}
	return err;
}

static int write_answer_as_recording(const struct answer *answer,
				     const struct store_recording_request *request,
				     struct trace_writer *writer)
{
	const struct store_account *account = &answer->account;
	struct text_set own = TEXT_SET;
	struct writing writing = {.answer = answer,
				  .writer = writer,
				  .threads = INTERN(struct intern_number),
				  .events = request->events ?: &own};
	int err = located_code_create(&answer->code, request->question.no_inlined, writer,
				      &writing.code);

	writing.cgroups = calloc(answer->counts.cgroups.count + 1UL, sizeof(*writing.cgroups));
	if (!err && !writing.cgroups)
		err = -ENOMEM;
	err = err ?: write_sources(&writing);
	for (u32 i = 0; i < answer->counts.count && !err; i++)
		err = write_event(&writing, &answer->counts.counts[i]);
	writing.ledger.produced = account->produced;
	writing.ledger.recorded = account->recorded;
	memcpy(writing.ledger.lost, account->lost, sizeof(account->lost));
	err = err ?: trace_writer_ledger(writer, &writing.ledger, NULL, 0);
	located_code_free(&writing.code);
	intern_clear(&writing.threads);
	free(writing.cgroups);
	free(writing.kinds);
	text_set_clear(&own);
	return err;
}

static int write_recording(const struct store_recording_request *request,
			   const struct answer *answer, struct trace_reader **reader,
			   struct stackmap_error *error)
{
	const struct store_account *account = &answer->account;
	char hosts[TEXT_BYTES] = "", kernel[TEXT_BYTES] = "", machine[TEXT_BYTES] = "";
	struct trace_info info = {
		.start_realtime = request->question.from * NS_PER_SECOND,
		.start_monotonic = request->question.from * NS_PER_SECOND,
		.bits = 64,
		.address_shown = 1,
		.is_summary = 1,
		.command = request->description,
		.version = request->version,
		.hostname = hosts,
		.kernel = kernel,
		.machine = machine,
	};
	struct memory_recording recording;
	int err;

	for (u32 i = 0; i < account->count; i++) {
		word_list_add_word(kernel, TEXT_BYTES, account->hosts[i].kernel ?: "");
		word_list_add_word(machine, TEXT_BYTES, account->hosts[i].machine ?: "");
		info.cpus += account->hosts[i].cpus;
	}
	if (account->count == 1)
		word_list_add_word(hosts, TEXT_BYTES, account->hosts[0].name);
	else
		snprintf(hosts, TEXT_BYTES, "%u hosts", account->count);
	err = memory_recording_begin(&recording, request->name, &info, error);
	if (err)
		return err;
	err = write_answer_as_recording(answer, request, recording.writer);
	if (!err)
		return memory_recording_end(&recording, reader, error);
	memory_recording_discard(&recording);
	return error_set_errno(error, -err, request->name);
}

int store_recording_open(struct shards *shards, const struct store_recording_request *request,
			 struct store_account *account, struct trace_reader **reader,
			 struct stackmap_error *error)
{
	struct answer answer = {};
	int err = query_shards_until_complete(shards, &request->question, &answer, error)
			  ?: write_recording(request, &answer, reader, error);

	if (!err) {
		*account = answer.account;
		answer.account = (struct store_account){};
	}
	clear_answer(&answer);
	return err;
}
