/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads and a signal handler that interrupts them write one small ring, as the programs of one
 * CPU do, but in parallel. A reader drains the ring meanwhile, or takes the content of a flight
 * recorder's ring at the end. Every event is read completely or counted as lost, and the events of
 * each writer come in order. Built with TSan and with ASan + UBSan. The ring is so small that it
 * overflows, laps its writers and meets busy slots all the time; the test asserts that each has
 * happened.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "capture/load/ring_reader.h"
#include "ring_writer.h"

#define THREADS 3
#define WRITERS (2 * THREADS) /* the threads and their signal handlers */
#define EVENTS 50000	      /* events that each thread writes */
#define ROUNDS 5
#define ROUNDS_MAX 500 /* gives up if the ring is never overrun */
#define SLOTS 96
#define SLOT_SIZE 32
#define UNITS_PER_SLOT (SLOT_SIZE / 4 - 1)
#define PART_BYTES (4 * UNITS_PER_SLOT)
#define DEPTH_MAX 20
#define FLIGHT_TRIES 4

#ifdef __SANITIZE_THREAD__
#define IS_INTERRUPTED 0 /* TSan holds signals back until the thread calls the C library */
#else
#define IS_INTERRUPTED 1
#endif

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct writer {
	u32 number;
	u64 produced, full, busy, overwritten, lapped, runs, runs_refused, interrupts;
};

static _Alignas(8) u8 memory[RING_BYTES(SLOTS, SLOT_SIZE)];
static struct ring_view ring;
static struct writer writers[WRITERS];
static _Thread_local struct writer *interrupting;
static bool flight;
static int running, draining;

static struct {
	u64 recorded, runs;
	u64 latest[WRITERS];
} reader;

static u32 *slot_at(u64 position)
{
	return (u32 *)(void *)(memory + sizeof(struct ring_header) + position % SLOTS * SLOT_SIZE);
}

static u64 frame_of(u32 writer, u64 sequence, u32 i)
{
	u64 frame = sequence * 1000 + writer * 100 + i;

	return sequence % 2 ? FRAME_NARROW_TOP | frame : frame;
}

static u32 depth_of(u64 sequence)
{
	return 1 + sequence % DEPTH_MAX;
}

/* Packed as stack_pack() does. */
static void make_stack(u32 writer, u64 sequence, struct stack *stack)
{
	bool narrow = sequence % 2;

	memset(stack->word, 0, 8 * DEPTH_MAX);
	stack->depth = depth_of(sequence);
	stack->flags = narrow ? STACK_NARROW : STACK_USER;
	for (u32 i = 0; i < stack->depth; i++)
		if (narrow)
			stack->word[i / 2] |= (u64)(u32)frame_of(writer, sequence, i)
					      << (i % 2 * 32);
		else
			stack->word[i] = frame_of(writer, sequence, i);
}

/* The four below follow bpf/event/emit.h, which compiles for BPF only. */
static bool claim_ring_slot(struct writer *self, u64 position)
{
	enum ring_claim found = ring_claim(slot_at(position), position);

	self->overwritten += found == CLAIM_EVENT;
	self->lapped += found == CLAIM_LAPPED;
	return found >= CLAIM_FRESH;
}

static u64 reserve(struct writer *self)
{
	u64 position;

	if (!flight) {
		position = ring_take_positions(ring.header, SLOTS, 1);
		self->full += !position;
		return position;
	}
	for (u32 try = 0; try < FLIGHT_TRIES; try++) {
		position = atomic_fetch_add_acq_rel(&ring.header->head, 1);
		if (claim_ring_slot(self, position))
			return position;
	}
	self->busy++;
	return 0;
}

static u64 reserve_run(struct writer *self, u32 count)
{
	u64 first;
	u32 claimed = 0;

	if (!flight)
		return ring_take_positions(ring.header, SLOTS, count);
	first = atomic_fetch_add_acq_rel(&ring.header->head, count);
	while (claimed < count && claim_ring_slot(self, first + claimed))
		claimed++;
	if (claimed == count)
		return first;
	while (claimed--)
		atomic_store_release(slot_at(first + claimed),
				     COMMIT_OF(first + claimed) | COMMIT_CONTINUED);
	return 0;
}

static u64 write_run(struct writer *self, u64 sequence)
{
	struct stack stack;
	u32 count, i;
	u64 first;

	make_stack(self->number, sequence, &stack);
	count = ring_run_slots(inline_stack_u32_count(&stack), SLOT_SIZE);
	first = reserve_run(self, count);
	for (i = 0; first && i < count; i++) {
		u32 *slot = slot_at(first + i);

		memcpy(slot + 1, inline_stack_payload(&stack) + i * PART_BYTES,
		       inline_stack_bytes_in_slot(i * PART_BYTES, PART_BYTES));
		if (!i)
			slot[1] = inline_stack_header_word(&stack);
		atomic_store_release(slot, COMMIT_OF(first + i) | COMMIT_CONTINUED);
	}
	return first;
}

static void write_next_event(struct writer *self)
{
	u64 sequence = ++self->produced, position = reserve(self), run = 0;
	struct event_slot *slot;

	if (!position)
		return;
	if (sequence % 4 < 2) {
		run = write_run(self, sequence);
		self->runs += run != 0;
		self->runs_refused += !run;
	}
	slot = (void *)slot_at(position);
	slot->tid = self->number;
	slot->stamp = sequence;
	slot->kernel = (u32)run;
	slot->user = run ? STATE_INLINE : STATE_NONE;
	slot->extra[0] = ~sequence;
	atomic_store_release(&slot->commit, COMMIT_OF(position));
}

static void write_event_in_signal_handler(int signal)
{
	(void)signal;
	if (interrupting)
		write_next_event(interrupting);
}

static void *write_events(void *arg)
{
	struct writer *self = arg;

	interrupting = self + THREADS;
	while (self->produced - self->full < EVENTS) {
		u64 full = self->full;

		write_next_event(self);
		if (self->full - full)
			sched_yield(); /* lets the reader run */
	}
	interrupting = NULL;
	__atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void read_event(u64 position)
{
	const struct event_slot *slot = ring_slot(&ring, position);
	u64 frames[STACK_WORDS_MAX];
	u32 flags, depth;

	check(slot->tid < WRITERS && slot->extra[0] == ~slot->stamp);
	check(slot->stamp > reader.latest[slot->tid]);
	reader.latest[slot->tid] = slot->stamp;
	reader.recorded++;
	if (slot->user != STATE_INLINE)
		return;
	depth = ring_read_run(&ring, position, slot->kernel, frames, &flags);
	if (flight && !depth) /* the oldest event may have lost its end to a newer one */
		return;
	check(depth == depth_of(slot->stamp));
	check(flags == (slot->stamp % 2 ? STACK_NARROW : STACK_USER));
	for (u32 i = 0; i < depth; i++)
		check(frames[i] == frame_of(slot->tid, slot->stamp, i));
	reader.runs++;
}

/* Drains as capture_drain() does. */
static void drain(void)
{
	u64 head = __atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	u64 position = ring.header->tail;

	for (; position < head; position++) {
		enum slot_state state = ring_slot_state(&ring, position);

		if (state == SLOT_ABSENT)
			break;
		if (state == SLOT_EVENT)
			read_event(position);
	}
	__atomic_store_n(&ring.header->tail, position, __ATOMIC_RELEASE);
}

static void *drain_events(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&draining, __ATOMIC_ACQUIRE)) {
		drain();
		sched_yield();
	}
	drain();
	return NULL;
}

/* Counts events of an earlier lap, in slots that a writer found busy and passed over. */
static u64 count_events_of_earlier_lap(void)
{
	u64 count = 0;

	for (u64 position = ring.header->head - SLOTS; position < ring.header->head; position++) {
		u32 commit = *slot_at(position);

		count += commit && !(commit & (COMMIT_BUSY | COMMIT_CONTINUED)) &&
			 commit != COMMIT_OF(position);
	}
	return count;
}

static void snapshot(void)
{
	u64 position = ring.header->head - SLOTS;

	for (; position < ring.header->head; position++) {
		check(!(*slot_at(position) & COMMIT_BUSY));
		if (ring_slot_state(&ring, position) == SLOT_EVENT)
			read_event(position);
	}
}

static void start_round(bool as_flight)
{
	flight = as_flight;
	running = THREADS;
	draining = 1;
	memset(memory, 0, sizeof(memory));
	memset(writers, 0, sizeof(writers));
	memset(&reader, 0, sizeof(reader));
	ring = ring_view_of_mapped_memory(memory, 0, sizeof(memory), SLOTS, SLOT_SIZE);
	ring_view_make_empty(&ring);
	for (u32 i = 0; i < WRITERS; i++)
		writers[i].number = i;
}

static void run_threads(void)
{
	pthread_t threads[THREADS], drainer;

	if (!flight)
		check(!pthread_create(&drainer, NULL, drain_events, NULL));
	for (u32 i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, write_events, &writers[i]));
	for (u32 i = 0; __atomic_load_n(&running, __ATOMIC_RELAXED); i++) {
		pthread_kill(threads[i % THREADS], SIGUSR1);
		sched_yield();
	}
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&draining, 0, __ATOMIC_RELEASE);
	if (!flight)
		pthread_join(drainer, NULL);
	else
		snapshot();
}

/* Sums the counts of all writers, and adds the events that must happen in some round to `seen`. */
static struct writer sum_writers(struct writer *seen)
{
	struct writer sum = {};

	for (u32 i = 0; i < WRITERS; i++) {
		sum.produced += writers[i].produced;
		sum.full += writers[i].full;
		sum.busy += writers[i].busy;
		sum.overwritten += writers[i].overwritten;
		sum.lapped += writers[i].lapped;
		sum.runs += writers[i].runs;
		sum.runs_refused += writers[i].runs_refused;
		seen->interrupts += i < THREADS ? 0 : writers[i].produced;
	}
	seen->busy += sum.busy;
	seen->lapped += sum.lapped;
	seen->runs_refused += sum.runs_refused;
	return sum;
}

static void drain_round(struct writer *seen)
{
	struct writer sum;

	start_round(false);
	run_threads();
	sum = sum_writers(seen);
	check(sum.produced == reader.recorded + sum.full);
	check(sum.runs == reader.runs);
	check(reader.recorded && sum.full && sum.runs && sum.runs_refused);
	check(ring.header->tail == ring.header->head);
}

static void flight_round(struct writer *seen)
{
	struct writer sum;

	start_round(true);
	run_threads();
	sum = sum_writers(seen);
	check(sum.produced ==
	      reader.recorded + sum.overwritten + sum.busy + count_events_of_earlier_lap());
	check(reader.recorded && sum.overwritten && sum.runs);
}

/* True if a writer was stopped inside a slot while the others went round the ring. */
static bool is_overrun(const struct writer *seen)
{
	return seen->busy + seen->lapped;
}

int main(void)
{
	struct sigaction action = {.sa_handler = write_event_in_signal_handler,
				   .sa_flags = SA_RESTART};
	struct writer seen = {};

	sigaction(SIGUSR1, &action, NULL);
	for (int round = 0; round < ROUNDS || (round < ROUNDS_MAX && !is_overrun(&seen)); round++) {
		drain_round(&seen);
		flight_round(&seen);
	}
	check(is_overrun(&seen) && seen.runs_refused);
	check(!IS_INTERRUPTED || seen.interrupts);
	return 0;
}
