/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A drain uses placeholders for stacks that are not known yet. A flight snapshot is of one moment:
 * a stack that is in no ring then was overwritten, unless its task still waits.
 *
 * A drain keeps a raw stack that ends in code without a rule while the rules of that code's file
 * are being made, and unwinds it again when they are there. Its events have placeholders meanwhile.
 */
#include "capture/drain/deferred.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "capture/drain/event_stacks.h"
#include "capture/drain/file_ledger.h"
#include "capture/drain/symbols.h"
#include "capture/load/skeleton.h"
#include "deferral.h"
#include "error.h"
#include "privilege/memory_limit.h"
#include "symbol/symbolizer/symbolizers.h"
#include "symbol/symbolizer/table_publish.h"
#include "user_unwind/user_unwinder.h"

#define HELD_BYTES (16U << 20) /* raw stacks that wait for rules; beyond, they do not wait */
#define HELD_BYTES_LITTLE (4U << 20)
#define LITTLE_MEMORY (1ULL << 30) /* as in an agent at its defaults */

static const struct mapping_record *record_of(void *loaded, u32 number)
{
	return number < MAPPINGS_MAX ? loaded_mapping(loaded, number) : NULL;
}

static int chunk_of(void *argument, u64 key, struct file_table_chunk *chunk)
{
	struct loaded *loaded = argument;

	return table_map_get(bpf_map__fd(loaded_programs(loaded)->maps.file_tables), key, chunk);
}

/* Stores a stack in the form of a ring's slot: with leaves, the leaf is apart from its callers. A
 * peeked stack is not added to the map, but the same stack may be there. */
static int set_unwound(const struct recording *recording, const struct unwound_stack *unwound,
		       bool peeked, struct deferred_stack *stack)
{
	u32 leaf = recording->loaded->plan.config.leaf && unwound->depth > 1;
	u32 depth = unwound->depth - leaf;
	const u64 *frames = unwound->frame + leaf;

	stack->leaf = leaf ? unwound->frame[0] : 0;
	stack->reason = REASON_NO_FRAMES;
	if (!depth)
		return 0;
	stack->id = generation_stack_id(recording->loaded, frames, depth, unwound->flags, !peeked);
	return stack->id ? 0 : deferred_stack_set_frames(stack, frames, depth, unwound->flags);
}

/* Unwinds to deferred->unwound. */
static void unwind(const struct recording *recording, const struct raw_stack *raw)
{
	struct deferred *deferred = recording->deferred;

	deferred->unwound->depth = 0;
	if (user_unwinder_unwind(deferred->unwinder, raw, deferred->unwound))
		deferred->unwound->depth = 0;
}

/* Makes a stack of deferred->unwound. */
static int make_unwound(const struct recording *recording, const struct raw_stack *raw, bool peeked,
			struct deferred_stack **out)
{
	struct unwound_stack *unwound = recording->deferred->unwound;
	struct deferred_stack *stack = deferred_stack_new(raw->tid, raw->cookie);
	int result = 0;

	if (!stack)
		return -ENOMEM;
	stack->reason = REASON_UNREADABLE;
	stack->retained = loaded_is_flight(recording->loaded) && !peeked;
	if (unwound->depth)
		result = set_unwound(recording, unwound, peeked, stack);
	if (result)
		deferred_stack_free(&stack);
	else
		*out = stack;
	return result;
}

int deferred_unwind(const struct recording *recording, const struct raw_stack *raw, bool peeked,
		    struct deferred_stack **out)
{
	unwind(recording, raw);
	return make_unwound(recording, raw, peeked, out);
}

/* The mapping for whose rules the stack in deferred->unwound should wait, or 0. */
static u32 awaited_mapping(struct recording *recording)
{
	const struct unwound_stack *unwound = recording->deferred->unwound;
	const struct trace_stack stack = {
		.frames = unwound->frame, .depth = unwound->depth, .flags = unwound->flags};
	u32 number = event_stack_vain(&stack, STACK_STOP(unwound->flags));

	if (recording->mode != READ_DRAIN || loaded_is_flight(recording->loaded) || !number ||
	    number >= MAPPING_SCRIPT_FIRST)
		return 0;
	if (!recording->mapping_met[number])
		symbols_meet_mapping(recording, number);
	symbolizers_need(recording->symbolizers, number, 1);
	return symbolizers_await_table(recording->symbolizers, number) ? number : 0;
}

/* Keeps a raw stack, unwound in deferred->unwound, if rules are to come. */
static bool hold(struct recording *recording, const struct raw_stack *raw)
{
	u32 number = awaited_mapping(recording);

	return number && held_stacks_add(&recording->deferred->held, raw,
					 recording->deferred->unwound, number);
}

/* True for a frame in code that no file holds. */
static bool is_generated(void *loaded, u64 frame)
{
	const struct mapping_record *record = record_of(loaded, FRAME_MAPPING(frame));

	return !record || record->key.kind == MAPPING_ANON;
}

/* Unwinds a stack that was held. False: it waits for the rules of another file now. */
static bool unwind_again(struct recording *recording, struct held_stack *held, bool all,
			 int *result)
{
	struct deferred_stack *stack;

	unwind(recording, &held->raw);
	held_stack_settle(held, is_generated, recording->loaded, recording->deferred->unwound);
	held->number = all ? 0 : awaited_mapping(recording);
	if (held->number)
		return false;
	*result = first_error(*result, make_unwound(recording, &held->raw, false, &stack)
					       ?: deferred_join(recording, stack));
	return true;
}

bool deferred_are_held(const struct recording *recording)
{
	return recording->deferred->held.first;
}

int deferred_unwind_held(struct recording *recording, bool all)
{
	struct held_stacks *held = &recording->deferred->held;
	bool are_too_many = held_stacks_are_too_many(held), is_awaited = false;
	struct held_stack *stack = held_stacks_take(held), *next;
	u32 number = 0;
	int result = 0;

	for (; stack; stack = next) {
		next = stack->next;
		if (stack->number != number)
			is_awaited = symbolizers_await_table(recording->symbolizers, stack->number);
		number = stack->number;
		if (!(is_awaited && !all && !are_too_many) &&
		    unwind_again(recording, stack, all || are_too_many, &result))
			free(stack);
		else
			held_stacks_put(held, stack);
	}
	return result;
}

static const struct bpf_map *raw_map(const struct recording *recording)
{
	return loaded_programs(recording->loaded)->maps.raw_stacks;
}

/* 0: the round goes on. -EAGAIN: as many bytes as the ring buffer holds were read. */
static int round_end(const struct recording *recording)
{
	return recording->deferred->raw_bytes < bpf_map__max_entries(raw_map(recording)) ? 0
											 : -EAGAIN;
}

/* An error affects one event only, so the loop continues and returns the first error. A round reads
 * at most the size of the ring buffer, which covers all stacks that were there at its begin. */
static int take_raw(void *arg, void *data, size_t bytes)
{
	struct recording *recording = arg;
	struct deferred *deferred = recording->deferred;
	const struct raw_stack *raw = data;
	struct deferred_stack *stack;
	int result;

	if (bytes < RAW_STACK_SIZE(0) || bytes < RAW_STACK_SIZE((u64)raw->stack_bytes))
		return 0;
	deferred->raw_bytes += bytes;
	unwind(recording, raw);
	if (hold(recording, raw))
		return round_end(recording);
	result = make_unwound(recording, raw, recording->mode == READ_LIVE, &stack)
			 ?: deferred_join(recording, stack);
	deferred->result = first_error(deferred->result, result);
	return round_end(recording);
}

static int open_all(struct recording *recording, struct deferred *deferred)
{
	struct loaded *loaded = recording->loaded;
	struct user_unwinder_options options = {
		.mapping = record_of,
		.argument = loaded,
		.rules = loaded->rules.memory,
		.chunk = chunk_of,
		.max_depth = loaded->plan.config.max_user_depth,
		.is_foreign = loaded->foreign,
	};

	deferred->held.most = memory_limit() < LITTLE_MEMORY ? HELD_BYTES_LITTLE : HELD_BYTES;
	deferred->unwound = calloc(1, sizeof(*deferred->unwound));
	if (!deferred->unwound || deferred_stacks_create(&deferred->stacks))
		return -ENOMEM;
	if (loaded->plan.config.origins)
		deferred_stacks_keep(deferred->stacks);
	deferred->raw =
		ring_buffer__new(bpf_map__fd(raw_map(recording)), take_raw, recording, NULL);
	if (!deferred->raw)
		return -errno;
	return user_unwinder_create(&options, &deferred->unwinder);
}

int deferred_create(struct recording *recording)
{
	recording->deferred = calloc(1, sizeof(*recording->deferred));
	return recording->deferred ? open_all(recording, recording->deferred) : -ENOMEM;
}

void deferred_free(struct deferred **deferred)
{
	struct deferred *gone = *deferred;

	if (!gone)
		return;
	ring_buffer__free(gone->raw);
	held_stacks_clear(&gone->held);
	user_unwinder_free(&gone->unwinder);
	free(gone->unwound);
	open_cookies_clear(&gone->open);
	deferred_stacks_free(&gone->stacks);
	free(gone);
	*deferred = NULL;
}

static int resolve(struct recording *recording, struct deferred_stack *stack,
		   enum deferred_form form, const struct stack_ref *ref)
{
	struct trace_resolution resolution = {.stack = ref->index, .reason = ref->reason};
	u32 placeholder = stack->form[form].placeholder;

	if (form == DEFERRED_BEHIND_LEAF)
		resolution.leaf = stack->leaf;
	file_ledger_user_stack(recording, ref, stack->form[form].events);
	symbols_note_vain(recording, ref, stack->leaf, stack->form[form].events);
	stack->form[form].placeholder = TRACE_NO_STACK;
	return trace_writer_resolve(recording->writer, placeholder, &resolution);
}

int deferred_join(struct recording *recording, struct deferred_stack *stack)
{
	int form, result = deferred_stacks_add(recording->deferred->stacks, &stack);

	if (result)
		return result == -EEXIST ? 0 : result;
	for (form = 0; form < DEFERRED_FORMS && !result; form++) {
		struct stack_ref ref = {};

		if (stack->form[form].placeholder == TRACE_NO_STACK)
			continue;
		result = event_stack_deferred(recording, stack, form, &ref);
		result = result ?: resolve(recording, stack, form, &ref);
	}
	return result;
}

int deferred_take(struct recording *recording, const struct ring_view *ring, u64 position)
{
	const struct event_slot *slot = ring_slot(ring, position);
	struct deferred_stack *stack = deferred_stack_new(slot->tid, slot->kernel);
	int result =
		stack ? event_stack_of_slot(recording->loaded, ring, position, stack) : -ENOMEM;

	if (!result)
		return deferred_join(recording, stack);
	deferred_stack_free(&stack);
	return result;
}

/*
 * The layout of a ring buffer is the kernel's interface (kernel/bpf/ringbuf.c,
 * Documentation/bpf/ringbuf.rst): a page with the consumer position, a page with the
 * producer position, then the data, mapped twice in a row, so that no record is cut. A record has a
 * header of 8 bytes and is padded to 8. `bytes` of data are a power of two.
 */
static int peek_records(struct recording *recording, const u8 *data, u64 bytes, u64 position,
			u64 end)
{
	int result = 0;

	while (position < end && !result) {
		const u8 *record = data + (position & (bytes - 1));
		u32 header = __atomic_load_n((const u32 *)record, __ATOMIC_ACQUIRE);
		u32 length = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (header & BPF_RINGBUF_BUSY_BIT || length > bytes)
			return 0;
		if (!(header & BPF_RINGBUF_DISCARD_BIT))
			result = take_raw(recording, (void *)(record + BPF_RINGBUF_HDR_SZ), length);
		position += ((u64)length + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
	}
	return result;
}

/* Reads all complete raw stacks, oldest first, and leaves them in the ring buffer, as libbpf can
 * only consume. If another process consumes meanwhile, stacks may be missed. */
static int peek_raw(struct recording *recording, int fd, u64 bytes)
{
	u64 page = sysconf(_SC_PAGESIZE), mapped = page + 2 * bytes;
	const u64 *consumer = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	const u64 *producer = mmap(NULL, mapped, PROT_READ, MAP_SHARED, fd, page);
	int result = consumer == MAP_FAILED || producer == MAP_FAILED ? -errno : 0;

	if (!result) {
		u64 position = __atomic_load_n(consumer, __ATOMIC_ACQUIRE);

		result = peek_records(recording, (const u8 *)producer + page, bytes, position,
				      __atomic_load_n(producer, __ATOMIC_ACQUIRE));
	}
	if (consumer != MAP_FAILED)
		munmap((void *)consumer, page);
	if (producer != MAP_FAILED)
		munmap((void *)producer, mapped);
	return result;
}

int deferred_consume(struct recording *recording, u32 *fill)
{
	const struct bpf_map *map = raw_map(recording);
	struct deferred *deferred = recording->deferred;
	u32 room = bpf_map__max_entries(map);
	int result;

	deferred->raw_bytes = 0;
	deferred->result = 0;
	if (recording->mode == READ_LIVE)
		result = peek_raw(recording, bpf_map__fd(map), room);
	else
		result = ring_buffer__consume(deferred->raw);
	*fill = deferred->raw_bytes * 100 / room;
	return result < 0 && result != -EAGAIN ? result : deferred->result;
}

static int place(struct recording *recording, u32 tid, u32 cookie, enum deferred_form form,
		 struct stack_ref *ref)
{
	struct deferred_stack *stack =
		deferred_stacks_want(recording->deferred->stacks, tid, cookie);
	int result = 0;

	*ref = (struct stack_ref){.index = TRACE_NO_STACK, .reason = REASON_UNANSWERED};
	if (!stack)
		return -ENOMEM;
	if (stack->form[form].placeholder == TRACE_NO_STACK)
		result =
			trace_writer_placeholder(recording->writer, &stack->form[form].placeholder);
	if (result)
		return result;
	stack->form[form].events++;
	*ref = (struct stack_ref){.index = stack->form[form].placeholder, .stop = STOP_COUNT};
	return 0;
}

/* A sample in user mode has its innermost frame in the event. */
static enum deferred_form form_of(const struct loaded *loaded, const struct trace_event *event)
{
	if (loaded->sources->sources[event->kind].type == SOURCE_SAMPLE &&
	    !FRAME_IS_KERNEL(event->leaf))
		return DEFERRED_BEHIND_LEAF;
	return DEFERRED_FULL;
}

static u8 reason_of_none(const struct recording *recording, u32 tid, u32 cookie, u8 otherwise)
{
	return open_cookies_has(&recording->deferred->open, tid, cookie) ? REASON_UNANSWERED
									 : otherwise;
}

/* True if the deferred stack is the reason of an absence. */
static bool is_reason(const struct deferred_stack *stack)
{
	return !stack->id && !stack->depth;
}

int deferred_ref(struct recording *recording, u32 cookie, struct trace_event *event,
		 struct stack_ref *ref)
{
	struct deferred_stack *stack =
		deferred_stacks_find(recording->deferred->stacks, event->tid, cookie);
	enum deferred_form form = form_of(recording->loaded, event);

	if (stack) {
		if (form == DEFERRED_BEHIND_LEAF && !is_reason(stack))
			event->leaf = stack->leaf;
		return event_stack_deferred(recording, stack, form, ref);
	}
	if (!loaded_is_flight(recording->loaded))
		return place(recording, event->tid, cookie, form, ref);
	*ref = (struct stack_ref){
		.index = TRACE_NO_STACK,
		.reason = reason_of_none(recording, event->tid, cookie, REASON_ANSWER_OVERWRITTEN),
	};
	return 0;
}

/* Arguments of the callbacks for cookies that will not get a stack. */
struct lost_ctx {
	struct recording *recording;
	int result;
};

static bool is_open(void *arg, u32 tid, u32 cookie)
{
	const struct lost_ctx *ctx = arg;

	return open_cookies_has(&ctx->recording->deferred->open, cookie & COOKIE_LASTING ? 0 : tid,
				cookie) ||
	       held_stacks_has(&ctx->recording->deferred->held, tid, cookie);
}

static void lose(void *arg, struct deferred_stack *stack)
{
	struct lost_ctx *ctx = arg;
	struct stack_ref ref = {
		.index = TRACE_NO_STACK,
		.reason = reason_of_none(ctx->recording, stack->tid, stack->cookie,
					 REASON_ANSWER_LOST),
	};
	int form, result;

	for (form = 0; form < DEFERRED_FORMS; form++) {
		if (stack->form[form].placeholder == TRACE_NO_STACK)
			continue;
		result = resolve(ctx->recording, stack, form, &ref);
		ctx->result = first_error(ctx->result, result);
	}
}

int deferred_keep_frames(struct recording *recording, u64 generation)
{
	struct deferred_stack *stack = NULL;
	int result = 0;

	while (!result && (stack = deferred_stacks_next(recording->deferred->stacks, stack)))
		result = event_stack_keep(recording->loaded, generation, stack);
	return result;
}

int deferred_read_open(struct recording *recording)
{
	struct open_cookies *open = &recording->deferred->open;

	open_cookies_clear(open);
	return open_cookies_read(recording->loaded, open);
}

static int sweep(struct recording *recording)
{
	struct lost_ctx ctx = {.recording = recording};
	const struct deferred_sweep sweep = {.is_open = is_open, .lost = lose, .arg = &ctx};
	int result =
		deferred_read_open(recording)
			?: open_cookies_read_lasting(recording->loaded, &recording->deferred->open);

	if (!result)
		deferred_stacks_sweep(recording->deferred->stacks, &sweep);
	return result ?: ctx.result;
}

int deferred_pass_epoch(struct recording *recording)
{
	struct deferred_stacks *stacks = recording->deferred->stacks;

	deferred_stacks_pass_epoch(stacks);
	return deferred_stacks_are_crowded(stacks) ? sweep(recording) : 0;
}

int deferred_give_up(struct recording *recording)
{
	struct lost_ctx ctx = {.recording = recording};
	struct deferred_sweep sweep = {.lost = lose, .arg = &ctx};
	int result = deferred_unwind_held(recording, true);

	deferred_stacks_end(recording->deferred->stacks, &sweep);
	return result ?: ctx.result;
}

int deferred_end(struct recording *recording)
{
	int result = deferred_read_open(recording);

	return deferred_give_up(recording) ?: result;
}
