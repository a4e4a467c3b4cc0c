/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A drain uses placeholders for stacks that are not known yet. A snapshot of a flight recorder
 * shows one moment: a stack that is in no ring at this moment was overwritten, unless its task
 * still waits to deliver the stack.
 *
 * A drain holds a raw stack that ends in code without an unwind rule while the rules for the file
 * of that code are being made, and unwinds the raw stack again when the rules exist. The events of
 * a held stack have placeholders meanwhile.
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

/* The most bytes of held raw stacks; when more are held, raw stacks do not wait for rules. */
#define HELD_BYTES (16U << 20)
#define HELD_BYTES_LITTLE (4U << 20)
/* With a memory limit below this, as an agent has by default, HELD_BYTES_LITTLE counts. */
#define LITTLE_MEMORY (1ULL << 30)

static const struct mapping_record *find_mapping_record(void *loaded, u32 number)
{
	return number < MAPPINGS_MAX ? loaded_mapping_record(loaded, number) : NULL;
}

static int read_table_chunk(void *argument, u64 key, struct file_table_chunk *chunk)
{
	struct loaded *loaded = argument;

	return table_map_get(bpf_map__fd(loaded_programs(loaded)->maps.file_tables), key, chunk);
}

/* Makes a deferred stack of unwound frames. If events of this capture have leaves, the innermost
 * frame becomes stack->leaf. A peeked stack is not added to the stack map, but gets the id of an
 * equal stack there. */
static int store_unwound_frames(const struct recording *recording,
				const struct unwound_stack *unwound, bool peeked,
				struct deferred_stack *stack)
{
	u32 leaf = recording->loaded->plan.config.leaf && unwound->depth > 1;
	u32 depth = unwound->depth - leaf;
	const u64 *frames = unwound->frame + leaf;

	stack->leaf = leaf ? unwound->frame[0] : 0;
	stack->reason = REASON_NO_FRAMES;
	if (!depth)
		return 0;
	stack->id = generation_find_or_add_stack(recording->loaded, frames, depth, unwound->flags,
						 !peeked);
	return stack->id ? 0 : deferred_stack_set_frames(stack, frames, depth, unwound->flags);
}

/* Unwinds a raw stack to frames in deferred->unwound. */
static void unwind_raw_stack(const struct recording *recording, const struct raw_stack *raw)
{
	struct deferred *deferred = recording->deferred;

	deferred->unwound->depth = 0;
	if (user_unwinder_unwind(deferred->unwinder, raw, deferred->unwound))
		deferred->unwound->depth = 0;
}

/* Makes a deferred stack of the frames in deferred->unwound. */
static int make_deferred_stack(const struct recording *recording, const struct raw_stack *raw,
			       bool peeked, struct deferred_stack **out)
{
	struct unwound_stack *unwound = recording->deferred->unwound;
	struct deferred_stack *stack = deferred_stack_new(raw->tid, raw->cookie);
	int result = 0;

	if (!stack)
		return -ENOMEM;
	stack->reason = REASON_UNREADABLE;
	stack->retained = loaded_is_flight(recording->loaded) && !peeked;
	stack->peeked = peeked;
	if (unwound->depth)
		result = store_unwound_frames(recording, unwound, peeked, stack);
	if (result)
		deferred_stack_free(&stack);
	else
		*out = stack;
	return result;
}

int deferred_unwind_raw_stack(const struct recording *recording, const struct raw_stack *raw,
			      bool peeked, struct deferred_stack **out)
{
	unwind_raw_stack(recording, raw);
	return make_deferred_stack(recording, raw, peeked, out);
}

/* The number of the mapping whose unwind rules the stack in deferred->unwound should wait for; 0:
 * do not wait. */
static u32 request_rules_and_find_awaited_mapping(struct recording *recording)
{
	const struct unwound_stack *unwound = recording->deferred->unwound;
	const struct trace_stack stack = {
		.frames = unwound->frame, .depth = unwound->depth, .flags = unwound->flags};
	u32 number = event_stack_mapping_without_rules(&stack, STACK_STOP(unwound->flags));

	if (recording->mode != READ_DRAIN || loaded_is_flight(recording->loaded) || !number ||
	    number >= MAPPING_SCRIPT_FIRST)
		return 0;
	if (!recording->mapping_met[number])
		symbols_request_build_id_and_table(recording, number);
	symbolizers_raise_table_urgency(recording->symbolizers, number, 1);
	return symbolizers_have_pending_table_of_mapping(recording->symbolizers, number) ? number
											 : 0;
}

/* True for a frame in code that is not part of a file. */
static bool is_generated_code(void *loaded, u64 frame)
{
	const struct mapping_record *record = find_mapping_record(loaded, FRAME_MAPPING(frame));

	return !record || record->key.kind == MAPPING_ANON;
}

/* Unwinds a raw stack again that was held back until rules of a file are known. False: the stack
 * now waits for the rules of another file. */
static bool unwind_held_stack_again(struct recording *recording, struct held_stack *held, bool all,
				    int *result)
{
	struct deferred_stack *stack;

	unwind_raw_stack(recording, &held->raw);
	held_stack_choose_better_unwinding(held, is_generated_code, recording->loaded,
					   recording->deferred->unwound);
	held->number = all ? 0 : request_rules_and_find_awaited_mapping(recording);
	if (held->number)
		return false;
	*result =
		first_error(*result, make_deferred_stack(recording, &held->raw, false, &stack)
					     ?: join_deferred_stack_with_events(recording, stack));
	return true;
}

bool deferred_has_held_stacks(const struct recording *recording)
{
	return recording->deferred->held.first;
}

int deferred_unwind_held(struct recording *recording, bool all)
{
	struct held_stacks *held = &recording->deferred->held;
	bool are_too_many = held_stacks_exceed_limit(held), is_awaited = false;
	struct held_stack *stack = held_stacks_take_all(held), *next;
	u32 number = 0;
	int result = 0;

	for (; stack; stack = next) {
		next = stack->next;
		if (stack->number != number)
			is_awaited = symbolizers_have_pending_table_of_mapping(
				recording->symbolizers, stack->number);
		number = stack->number;
		if (!(is_awaited && !all && !are_too_many) &&
		    unwind_held_stack_again(recording, stack, all || are_too_many, &result))
			free(stack);
		else
			held_stacks_append(held, stack);
	}
	return result;
}

static const struct bpf_map *bpf_map_of_raw_stacks(const struct recording *recording)
{
	return loaded_programs(recording->loaded)->maps.raw_stacks;
}

/* Returns -EAGAIN, which ends the round, if this round has read as many bytes as the ring buffer
 * holds; else 0. */
static int check_round_read_whole_ring_buffer(const struct recording *recording)
{
	return recording->deferred->raw_bytes <
			       bpf_map__max_entries(bpf_map_of_raw_stacks(recording))
		       ? 0
		       : -EAGAIN;
}

/* Takes a raw stack from the ring buffer. An error affects one event only, so the loop continues
 * and returns the first error. A round reads at most the size of the ring buffer, which covers all
 * stacks that were there at its begin. */
static int read_raw_stack_record(void *arg, void *data, size_t bytes)
{
	struct recording *recording = arg;
	struct deferred *deferred = recording->deferred;
	const struct raw_stack *raw = data;
	struct deferred_stack *stack;
	u32 number; /* number of the mapping whose unwind rules are being made */
	int result;

	if (bytes < RAW_STACK_SIZE(0) || bytes < RAW_STACK_SIZE((u64)raw->stack_bytes))
		return 0;
	deferred->raw_bytes += bytes;
	unwind_raw_stack(recording, raw);
	number = request_rules_and_find_awaited_mapping(recording);
	if (number && held_stacks_add(&deferred->held, raw, deferred->unwound, number))
		return check_round_read_whole_ring_buffer(recording);
	result = make_deferred_stack(recording, raw, recording->mode == READ_LIVE, &stack)
			 ?: join_deferred_stack_with_events(recording, stack);
	deferred->result = first_error(deferred->result, result);
	return check_round_read_whole_ring_buffer(recording);
}

static int init_deferred(struct recording *recording, struct deferred *deferred)
{
	struct loaded *loaded = recording->loaded;
	struct user_unwinder_options options = {
		.mapping = find_mapping_record,
		.argument = loaded,
		.rules = loaded->rules.memory,
		.chunk = read_table_chunk,
		.max_depth = loaded->plan.config.max_user_depth,
		.is_foreign = loaded->foreign,
	};

	deferred->held.most = memory_limit() < LITTLE_MEMORY ? HELD_BYTES_LITTLE : HELD_BYTES;
	deferred->unwound = calloc(1, sizeof(*deferred->unwound));
	if (!deferred->unwound || deferred_stacks_create(&deferred->stacks))
		return -ENOMEM;
	if (loaded->plan.config.origins)
		deferred_stacks_keep_until_closed(deferred->stacks);
	deferred->raw = ring_buffer__new(bpf_map__fd(bpf_map_of_raw_stacks(recording)),
					 read_raw_stack_record, recording, NULL);
	if (!deferred->raw)
		return -errno;
	return user_unwinder_create(&options, &deferred->unwinder);
}

int deferred_create(struct recording *recording)
{
	recording->deferred = calloc(1, sizeof(*recording->deferred));
	return recording->deferred ? init_deferred(recording, recording->deferred) : -ENOMEM;
}

void deferred_free(struct deferred **deferred)
{
	struct deferred *gone = *deferred;

	if (!gone)
		return;
	free(gone->late);
	ring_buffer__free(gone->raw);
	held_stacks_clear(&gone->held);
	user_unwinder_free(&gone->unwinder);
	free(gone->unwound);
	open_cookies_clear(&gone->open);
	deferred_stacks_free(&gone->stacks);
	free(gone);
	*deferred = NULL;
}

static int resolve_placeholder(struct recording *recording, struct deferred_stack *stack,
			       enum deferred_form form, const struct stack_ref *ref)
{
	struct trace_resolution resolution = {.stack = ref->index, .reason = ref->reason};
	u32 placeholder = stack->form[form].placeholder;

	if (form == DEFERRED_BEHIND_LEAF)
		resolution.leaf = stack->leaf;
	file_ledger_count_user_stack(recording, ref, stack->form[form].events);
	symbols_note_missing_rules(recording, ref, stack->leaf, stack->form[form].events);
	stack->form[form].placeholder = TRACE_NO_STACK;
	return trace_writer_resolve(recording->writer, placeholder, &resolution);
}

int join_deferred_stack_with_events(struct recording *recording, struct deferred_stack *stack)
{
	int form, result = deferred_stacks_add(recording->deferred->stacks, &stack);

	if (result)
		return result == -EEXIST ? 0 : result;
	for (form = 0; form < DEFERRED_FORMS && !result; form++) {
		struct stack_ref ref = {};

		if (stack->form[form].placeholder == TRACE_NO_STACK)
			continue;
		result = event_stack_write_deferred(recording, stack, form, &ref);
		result = result ?: resolve_placeholder(recording, stack, form, &ref);
	}
	return result;
}

int deferred_take_from_ring(struct recording *recording, const struct ring_view *ring, u64 position)
{
	const struct event_slot *slot = ring_slot(ring, position);
	const struct capture_config *config = &recording->loaded->plan.config;
	struct deferred_stack *stack;
	int result;

	if (config->trace_ids && EVENT_USER_STATE(STAMP_FLAGS(slot->stamp)) == STATE_COOKIE)
		return deferred_stacks_set_context(recording->deferred->stacks, slot->tid,
						   slot->kernel,
						   &slot->extra[EVENT_NUMBERS(*config)]);
	stack = deferred_stack_new(slot->tid, slot->kernel);
	result = stack ? event_stack_read_deferred(recording->loaded, ring, position, stack)
		       : -ENOMEM;

	if (!result)
		return join_deferred_stack_with_events(recording, stack);
	deferred_stack_free(&stack);
	return result;
}

/*
 * Reads the records from `position` to `end` without consuming them. The layout of a BPF ring
 * buffer is the kernel's interface (kernel/bpf/ringbuf.c, Documentation/bpf/ringbuf.rst): a page
 * with the consumer position, a page with the producer position, then the data, mapped twice in a
 * row, so that no record is cut. A record has a header of 8 bytes and is padded to 8. `bytes`, the
 * size of the data, is a power of two.
 */
static int peek_ring_records(struct recording *recording, const u8 *data, u64 bytes, u64 position,
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
			result = read_raw_stack_record(
				recording, (void *)(record + BPF_RINGBUF_HDR_SZ), length);
		position += ((u64)length + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
	}
	return result;
}

/* Reads all complete raw stacks, oldest first, and leaves them in the ring buffer; libbpf has only
 * functions that consume. If another process consumes meanwhile, stacks may be missed. */
static int peek_raw_stacks(struct recording *recording, int fd, u64 bytes)
{
	u64 page = sysconf(_SC_PAGESIZE), mapped = page + 2 * bytes;
	const u64 *consumer = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	const u64 *producer = mmap(NULL, mapped, PROT_READ, MAP_SHARED, fd, page);
	int result = consumer == MAP_FAILED || producer == MAP_FAILED ? -errno : 0;

	if (!result) {
		u64 position = __atomic_load_n(consumer, __ATOMIC_ACQUIRE);

		result = peek_ring_records(recording, (const u8 *)producer + page, bytes, position,
					   __atomic_load_n(producer, __ATOMIC_ACQUIRE));
	}
	if (consumer != MAP_FAILED)
		munmap((void *)consumer, page);
	if (producer != MAP_FAILED)
		munmap((void *)producer, mapped);
	return result;
}

int deferred_unwind_raw_stacks_in_ring(struct recording *recording, u32 *fill)
{
	const struct bpf_map *map = bpf_map_of_raw_stacks(recording);
	struct deferred *deferred = recording->deferred;
	u32 room = bpf_map__max_entries(map);
	int result;

	deferred->raw_bytes = 0;
	deferred->result = 0;
	if (recording->mode == READ_LIVE)
		result = peek_raw_stacks(recording, bpf_map__fd(map), room);
	else
		result = ring_buffer__consume(deferred->raw);
	*fill = deferred->raw_bytes * 100 / room;
	return result < 0 && result != -EAGAIN ? result : deferred->result;
}

static int use_placeholder_for_event_stack(struct recording *recording, u32 tid, u32 cookie,
					   enum deferred_form form, struct stack_ref *ref)
{
	struct deferred_stack *stack =
		deferred_stacks_find_or_add_awaited(recording->deferred->stacks, tid, cookie);
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

static u8 reason_of_missing_stack(const struct recording *recording, u32 tid, u32 cookie,
				  u8 otherwise)
{
	return open_cookies_has(&recording->deferred->open, tid, cookie) ? REASON_UNANSWERED
									 : otherwise;
}

int deferred_find_stack_for_event(struct recording *recording, u32 cookie,
				  struct trace_event *event, struct stack_ref *ref)
{
	struct deferred_stack *stack =
		deferred_stacks_find(recording->deferred->stacks, event->tid, cookie);
	bool is_sample = recording->loaded->sources->sources[event->kind].type == SOURCE_SAMPLE;
	/* The event of a sample in user mode has the innermost frame itself. */
	enum deferred_form form =
		is_sample && !FRAME_IS_KERNEL(event->leaf) ? DEFERRED_BEHIND_LEAF : DEFERRED_FULL;

	if (stack) {
		bool has_only_reason = !stack->id && !stack->depth;

		if (form == DEFERRED_BEHIND_LEAF && !has_only_reason)
			event->leaf = stack->leaf;
		return event_stack_write_deferred(recording, stack, form, ref);
	}
	if (!loaded_is_flight(recording->loaded))
		return use_placeholder_for_event_stack(recording, event->tid, cookie, form, ref);
	*ref = (struct stack_ref){
		.index = TRACE_NO_STACK,
		.reason = reason_of_missing_stack(recording, event->tid, cookie,
						  REASON_ANSWER_OVERWRITTEN),
	};
	return 0;
}

/* The argument of the callbacks of a sweep. */
struct lost_ctx {
	struct recording *recording;
	int result;
};

static bool is_cookie_open_or_stack_held(void *arg, u32 tid, u32 cookie)
{
	const struct lost_ctx *ctx = arg;

	return open_cookies_has(&ctx->recording->deferred->open, cookie & COOKIE_LASTING ? 0 : tid,
				cookie) ||
	       held_stacks_has(&ctx->recording->deferred->held, tid, cookie);
}

static void resolve_as_lost(void *arg, struct deferred_stack *stack)
{
	struct lost_ctx *ctx = arg;
	struct stack_ref ref = {
		.index = TRACE_NO_STACK,
		.reason = reason_of_missing_stack(ctx->recording, stack->tid, stack->cookie,
						  REASON_ANSWER_LOST),
	};
	int form, result;

	for (form = 0; form < DEFERRED_FORMS; form++) {
		if (stack->form[form].placeholder == TRACE_NO_STACK)
			continue;
		result = resolve_placeholder(ctx->recording, stack, form, &ref);
		ctx->result = first_error(ctx->result, result);
	}
}

int deferred_copy_frames_from_stack_map(struct recording *recording, u64 generation)
{
	struct deferred_stack *stack = NULL;
	int result = 0;

	while (!result && (stack = deferred_stacks_next_known(recording->deferred->stacks, stack)))
		result = event_stack_copy_frames_from_stack_map(recording->loaded, generation,
								stack);
	return result;
}

int deferred_read_open_cookies(struct recording *recording)
{
	struct open_cookies *open = &recording->deferred->open;

	open_cookies_clear(open);
	return open_cookies_read(recording->loaded, open);
}

static int sweep_closed_cookies(struct recording *recording)
{
	struct lost_ctx ctx = {.recording = recording};
	const struct deferred_sweep sweep = {
		.is_open = is_cookie_open_or_stack_held, .lost = resolve_as_lost, .arg = &ctx};
	int result =
		deferred_read_open_cookies(recording)
			?: open_cookies_read_lasting(recording->loaded, &recording->deferred->open);

	if (!result)
		deferred_stacks_sweep(recording->deferred->stacks, &sweep);
	return result ?: ctx.result;
}

int deferred_end_epoch(struct recording *recording)
{
	struct deferred_stacks *stacks = recording->deferred->stacks;

	deferred_stacks_end_epoch(stacks);
	return deferred_stacks_need_sweep(stacks) ? sweep_closed_cookies(recording) : 0;
}

int deferred_resolve_missing(struct recording *recording)
{
	struct lost_ctx ctx = {.recording = recording};
	struct deferred_sweep sweep = {.lost = resolve_as_lost, .arg = &ctx};
	int result = deferred_unwind_held(recording, true);

	deferred_stacks_drop_waiting(recording->deferred->stacks, &sweep);
	return result ?: ctx.result;
}

int deferred_end_file(struct recording *recording)
{
	int result = deferred_read_open_cookies(recording);

	return deferred_resolve_missing(recording) ?: result;
}
