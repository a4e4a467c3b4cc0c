/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cookies, placeholders and stacks in every possible order; all of them are freed in the end. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "capture/drain/deferred_stack.h"
#include "deferral.h"
#include "unit_test.h"

#define TID 1000
#define COOKIE 7
#define STACK_DEPTH 1000
#define RETAINED_BYTES (16 << 20)
#define LASTING (COOKIE_LASTING | COOKIE)

static int setup(void **state)
{
	return deferred_stacks_create((struct deferred_stacks **)state);
}

static int teardown(void **state)
{
	deferred_stacks_free((struct deferred_stacks **)state);
	return 0;
}

static struct deferred_stack *stack_of(u32 tid, u32 cookie, u32 id)
{
	static const u64 frames[2] = {1, 2};
	struct deferred_stack *stack = deferred_stack_new(tid, cookie);

	assert_non_null(stack);
	assert_int_equal(deferred_stack_set_frames(stack, frames, 2, 0), 0);
	stack->id = id;
	return stack;
}

/* Gives a stack to the join. Returns the placeholders that waited for it, of both kinds. */
static u64 add_stack_and_read_placeholders(struct deferred_stacks *stacks, u32 tid, u32 cookie)
{
	struct deferred_stack *stack = stack_of(tid, cookie, cookie);

	assert_int_equal(deferred_stacks_add(stacks, &stack), 0);
	return stack->form[DEFERRED_BEHIND_LEAF].events + stack->form[DEFERRED_FULL].events;
}

static int add_known_stack_again(struct deferred_stacks *stacks, u32 tid, u32 cookie)
{
	struct deferred_stack *stack = stack_of(tid, cookie, 2);
	int result = deferred_stacks_add(stacks, &stack);

	assert_null(stack);
	return result;
}

static void add_event_waiting_for_stack(struct deferred_stacks *stacks, u32 tid, u32 cookie,
					enum deferred_form form, u32 placeholder)
{
	struct deferred_stack *waiting = deferred_stacks_find_or_add_awaited(stacks, tid, cookie);

	assert_non_null(waiting);
	waiting->form[form].placeholder = placeholder;
	waiting->form[form].events++;
}

TEST(a_stack_that_comes_before_its_events_is_joined, setup, teardown)
{
	struct deferred_stacks *stacks = *state;

	assert_null(deferred_stacks_find(stacks, TID, COOKIE));
	assert_int_equal(add_stack_and_read_placeholders(stacks, TID, COOKIE), 0);
	assert_int_equal(deferred_stacks_find(stacks, TID, COOKIE)->id, COOKIE);
}

TEST(a_stack_that_comes_after_its_events_is_joined, setup, teardown)
{
	struct deferred_stack *stack = stack_of(TID, COOKIE, 1);

	assert_int_equal(deferred_stacks_find_or_add_awaited(*state, TID, COOKIE)
				 ->form[DEFERRED_FULL]
				 .placeholder,
			 TRACE_NO_STACK);
	add_event_waiting_for_stack(*state, TID, COOKIE, DEFERRED_FULL, 40);
	add_event_waiting_for_stack(*state, TID, COOKIE, DEFERRED_FULL, 40);
	add_event_waiting_for_stack(*state, TID, COOKIE, DEFERRED_BEHIND_LEAF, 41);
	assert_null(deferred_stacks_find(*state, TID, COOKIE));
	assert_int_equal(deferred_stacks_add(*state, &stack), 0);
	assert_ptr_equal(deferred_stacks_find(*state, TID, COOKIE), stack);
	assert_int_equal(stack->id, 1);
	assert_int_equal(stack->form[DEFERRED_FULL].placeholder, 40);
	assert_int_equal(stack->form[DEFERRED_FULL].events, 2);
	assert_int_equal(stack->form[DEFERRED_BEHIND_LEAF].placeholder, 41);
	assert_int_equal(stack->form[DEFERRED_BEHIND_LEAF].events, 1);
}

/* The same placeholder must not be resolved twice, and the first stack is the one that events have.
 */
TEST(the_first_stack_of_a_cookie_counts, setup, teardown)
{
	add_event_waiting_for_stack(*state, TID, COOKIE, DEFERRED_FULL, 40);
	assert_int_equal(add_stack_and_read_placeholders(*state, TID, COOKIE), 1);
	assert_int_equal(add_known_stack_again(*state, TID, COOKIE), -EEXIST);
	assert_int_equal(deferred_stacks_find(*state, TID, COOKIE)->id, COOKIE);
}

/* A task whose stack was taken by an iterator delivers the stack again when it leaves the kernel.
 * Events before that may be read an epoch later. */
TEST(a_stack_that_comes_twice_is_as_new_as_the_second, setup, teardown)
{
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	add_stack_and_read_placeholders(*state, TID, COOKIE + 1);
	deferred_stacks_end_epoch(*state);
	assert_int_equal(add_known_stack_again(*state, TID, COOKIE), -EEXIST);
	deferred_stacks_end_epoch(*state);
	assert_non_null(deferred_stacks_find(*state, TID, COOKIE));
	assert_null(deferred_stacks_find(*state, TID, COOKIE + 1));
	deferred_stacks_end_epoch(*state);
	assert_null(deferred_stacks_find(*state, TID, COOKIE));
}

TEST(context_comes_before_stack_and_stays_with_it, setup, teardown)
{
	static const u64 words[CONTEXT_WORDS] = {1, 2, 3};
	const u64 *context;

	assert_null(deferred_stacks_context(*state, TID, COOKIE));
	assert_int_equal(deferred_stacks_set_context(*state, TID, COOKIE, words), 0);
	assert_null(deferred_stacks_find(*state, TID, COOKIE));
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	assert_non_null(deferred_stacks_find(*state, TID, COOKIE));
	context = deferred_stacks_context(*state, TID, COOKIE);
	assert_non_null(context);
	assert_memory_equal(context, words, sizeof(words));
	assert_null(deferred_stacks_context(*state, TID, COOKIE + 1));
}

/* The stack may be read before them, from the ring of another CPU. They are in the rings for a
 * whole epoch at most, after which the stack may be dropped. */
TEST(context_may_come_until_an_epoch_after_the_stack, setup, teardown)
{
	static const u64 words[CONTEXT_WORDS] = {1, 2, 3};
	u64 delivered;

	assert_int_equal(deferred_stacks_epoch_of_delivery(*state, TID, COOKIE), 0);
	add_event_waiting_for_stack(*state, TID, COOKIE, DEFERRED_FULL, 40);
	assert_int_equal(deferred_stacks_epoch_of_delivery(*state, TID, COOKIE), 0);
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	delivered = deferred_stacks_epoch_of_delivery(*state, TID, COOKIE);
	assert_int_not_equal(delivered, 0);
	assert_false(deferred_stacks_has_whole_epoch_passed(*state, delivered));
	deferred_stacks_end_epoch(*state);
	assert_false(deferred_stacks_has_whole_epoch_passed(*state, delivered));
	assert_int_equal(deferred_stacks_set_context(*state, TID, COOKIE, words), 0);
	assert_memory_equal(deferred_stacks_context(*state, TID, COOKIE), words, sizeof(words));
	deferred_stacks_end_epoch(*state);
	assert_true(deferred_stacks_has_whole_epoch_passed(*state, delivered));
	assert_null(deferred_stacks_context(*state, TID, COOKIE));
}

/* Its task commits trace and span later, before the stack that it delivers itself. */
TEST(a_peeked_stack_is_known_but_not_delivered, setup, teardown)
{
	struct deferred_stack *stack = stack_of(TID, COOKIE, 1);

	stack->peeked = true;
	assert_int_equal(deferred_stacks_add(*state, &stack), 0);
	assert_non_null(deferred_stacks_find(*state, TID, COOKIE));
	assert_int_equal(deferred_stacks_epoch_of_delivery(*state, TID, COOKIE), 0);
	deferred_stacks_end_epoch(*state);
	assert_int_equal(add_known_stack_again(*state, TID, COOKIE), -EEXIST);
	assert_int_not_equal(deferred_stacks_epoch_of_delivery(*state, TID, COOKIE), 0);
	assert_false(deferred_stacks_has_whole_epoch_passed(
		*state, deferred_stacks_epoch_of_delivery(*state, TID, COOKIE)));
}

TEST(only_a_placeholder_waits, setup, teardown)
{
	assert_false(deferred_stacks_is_awaited(*state, TID, COOKIE));
	add_event_waiting_for_stack(*state, TID, COOKIE, DEFERRED_FULL, 40);
	assert_true(deferred_stacks_is_awaited(*state, TID, COOKIE));
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	assert_false(deferred_stacks_is_awaited(*state, TID, COOKIE));
}

TEST(a_cookie_belongs_to_one_task, setup, teardown)
{
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	assert_null(deferred_stacks_find(*state, TID + 1, COOKIE));
	assert_null(deferred_stacks_find(*state, TID, COOKIE + 1));
	add_event_waiting_for_stack(*state, TID + 1, COOKIE, DEFERRED_FULL, 40);
	assert_int_equal(add_stack_and_read_placeholders(*state, TID + 1, COOKIE), 1);
}

TEST(a_stack_outlives_a_whole_epoch, setup, teardown)
{
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	deferred_stacks_end_epoch(*state);
	assert_non_null(deferred_stacks_find(*state, TID, COOKIE));
	deferred_stacks_end_epoch(*state);
	assert_null(deferred_stacks_find(*state, TID, COOKIE));
}

TEST(epochs_drop_only_old_stacks, setup, teardown)
{
	add_stack_and_read_placeholders(*state, TID, 1);
	deferred_stacks_end_epoch(*state);
	add_stack_and_read_placeholders(*state, TID, 2);
	deferred_stacks_end_epoch(*state);
	assert_null(deferred_stacks_find(*state, TID, 1));
	assert_non_null(deferred_stacks_find(*state, TID, 2));
}

/* The open cookies, and the lost stacks. */
struct world {
	bool open;
	u64 lost_cookies;
	u64 lost_events;
};

static bool is_cookie_of_open_set(void *arg, u32 tid, u32 cookie)
{
	(void)tid;
	(void)cookie;
	return ((struct world *)arg)->open;
}

static void record_lost_stack(void *arg, struct deferred_stack *stack)
{
	struct world *world = arg;

	world->lost_cookies++;
	world->lost_events +=
		stack->form[DEFERRED_FULL].events + stack->form[DEFERRED_BEHIND_LEAF].events;
}

static struct deferred_sweep sweep_of(struct world *world)
{
	return (struct deferred_sweep){
		.is_open = is_cookie_of_open_set, .lost = record_lost_stack, .arg = world};
}

static void end_several_epochs(struct deferred_stacks *stacks, int count)
{
	while (count--)
		deferred_stacks_end_epoch(stacks);
}

TEST(a_placeholder_waits_as_long_as_its_task, setup, teardown)
{
	struct world world = {.open = true};
	struct deferred_sweep sweep = sweep_of(&world);

	add_event_waiting_for_stack(*state, TID, COOKIE, DEFERRED_FULL, 40);
	for (int i = 0; i < 3; i++) {
		end_several_epochs(*state, 2);
		deferred_stacks_sweep(*state, &sweep);
	}
	assert_int_equal(add_stack_and_read_placeholders(*state, TID, COOKIE), 1);
	assert_int_equal(world.lost_cookies, 0);
}

/* The stack was written before the iterator saw that the task does not wait, and is read an epoch
 * later. */
TEST(a_closed_cookie_waits_for_an_epoch, setup, teardown)
{
	struct world world = {.open = false};
	struct deferred_sweep sweep = sweep_of(&world);

	add_event_waiting_for_stack(*state, TID, 1, DEFERRED_FULL, 40);
	add_event_waiting_for_stack(*state, TID, 2, DEFERRED_FULL, 41);
	deferred_stacks_sweep(*state, &sweep);
	deferred_stacks_end_epoch(*state);
	deferred_stacks_sweep(*state, &sweep);
	assert_int_equal(add_stack_and_read_placeholders(*state, TID, 1), 1);
	deferred_stacks_end_epoch(*state);
	deferred_stacks_sweep(*state, &sweep);
	assert_int_equal(world.lost_cookies, 1);
	assert_int_equal(world.lost_events, 1);
}

/* The stack stays until the cookie is seen closed, and an epoch longer. */
TEST(the_stack_of_a_lasting_cookie_stays, setup, teardown)
{
	struct world world = {.open = true};
	struct deferred_sweep sweep = sweep_of(&world);

	add_event_waiting_for_stack(*state, TID, LASTING, DEFERRED_FULL, 40);
	assert_int_equal(add_stack_and_read_placeholders(*state, TID, LASTING), 1);
	for (int i = 0; i < 3; i++) {
		end_several_epochs(*state, 2);
		deferred_stacks_sweep(*state, &sweep);
	}
	world.open = false;
	deferred_stacks_sweep(*state, &sweep);
	deferred_stacks_end_epoch(*state);
	deferred_stacks_sweep(*state, &sweep);
	assert_non_null(deferred_stacks_find(*state, TID, LASTING));
	deferred_stacks_end_epoch(*state);
	deferred_stacks_sweep(*state, &sweep);
	assert_null(deferred_stacks_find(*state, TID, LASTING));
	assert_int_equal(world.lost_cookies, 0);
}

/* With origins an event may come long after its stack, whatever the cookie. */
TEST(a_stack_is_retained_on_request, setup, teardown)
{
	struct world world = {.open = true};
	struct deferred_sweep sweep = sweep_of(&world);

	deferred_stacks_keep_until_closed(*state);
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	for (int i = 0; i < 3; i++) {
		end_several_epochs(*state, 2);
		deferred_stacks_sweep(*state, &sweep);
	}
	assert_non_null(deferred_stacks_find(*state, TID, COOKIE));
	world.open = false;
	for (int i = 0; i < 2; i++) {
		deferred_stacks_sweep(*state, &sweep);
		end_several_epochs(*state, 2);
	}
	deferred_stacks_sweep(*state, &sweep);
	assert_null(deferred_stacks_find(*state, TID, COOKIE));
}

/* Events of the next file may still need the stack. */
TEST(the_stack_of_a_lasting_cookie_outlives_a_file, setup, teardown)
{
	struct world world = {};
	struct deferred_sweep sweep = sweep_of(&world);
	const struct deferred_stack *first, *second;

	add_stack_and_read_placeholders(*state, TID, LASTING);
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	add_event_waiting_for_stack(*state, TID, LASTING + 1, DEFERRED_FULL, 40);
	deferred_stacks_drop_waiting(*state, &sweep);
	assert_int_equal(world.lost_cookies, 1);
	first = deferred_stacks_next_known(*state, NULL);
	assert_int_equal(first->cookie, COOKIE);
	second = deferred_stacks_next_known(*state, first);
	assert_int_equal(second->cookie, LASTING);
	assert_null(deferred_stacks_next_known(*state, second));
}

TEST(waiting_events_are_lost_at_the_end, setup, teardown)
{
	struct world world = {};
	struct deferred_sweep sweep = sweep_of(&world);

	add_event_waiting_for_stack(*state, TID, 1, DEFERRED_FULL, 40);
	add_event_waiting_for_stack(*state, TID, 1, DEFERRED_BEHIND_LEAF, 41);
	add_event_waiting_for_stack(*state, TID, 2, DEFERRED_FULL, 42);
	add_stack_and_read_placeholders(*state, TID, 3);
	deferred_stacks_drop_waiting(*state, &sweep);
	assert_int_equal(world.lost_cookies, 2);
	assert_int_equal(world.lost_events, 3);
}

static struct deferred_stack *add_retained_stack(struct deferred_stacks *stacks, u32 cookie,
						 u32 depth)
{
	static const u64 frames[STACK_DEPTH];
	struct deferred_stack *stack = deferred_stack_new(TID, cookie);

	assert_non_null(stack);
	assert_int_equal(deferred_stack_set_frames(stack, frames, depth, 0), 0);
	stack->retained = true;
	assert_int_equal(deferred_stacks_add(stacks, &stack), 0);
	return stack;
}

/* Stacks that were unwound are kept for the next snapshot; stacks from the rings are not. */
TEST(a_snapshot_begins_with_the_retained_stacks, setup, teardown)
{
	struct deferred_stack *stack = add_retained_stack(*state, 1, 1);

	stack->form[DEFERRED_FULL].written = true;
	add_stack_and_read_placeholders(*state, TID, 2);
	add_event_waiting_for_stack(*state, TID, 3, DEFERRED_FULL, 40);
	deferred_stacks_begin_file(*state, true);
	assert_ptr_equal(deferred_stacks_find(*state, TID, 1), stack);
	assert_false(stack->form[DEFERRED_FULL].written);
	assert_null(deferred_stacks_find(*state, TID, 2));
	assert_false(deferred_stacks_is_awaited(*state, TID, 3));
}

/* In this snapshot the rings give the stack first; the next snapshot has only the unwound one. */
TEST(a_stack_that_is_known_already_is_retained_too, setup, teardown)
{
	struct deferred_stack *again = stack_of(TID, COOKIE, 2);

	add_stack_and_read_placeholders(*state, TID, COOKIE);
	again->retained = true;
	assert_int_equal(deferred_stacks_add(*state, &again), -EEXIST);
	deferred_stacks_begin_file(*state, true);
	assert_int_equal(deferred_stacks_find(*state, TID, COOKIE)->id, COOKIE);
}

/* Retained stacks may never be needed. */
TEST(the_oldest_retained_stacks_are_dropped_first, setup, teardown)
{
	enum { STACKS = 2 * RETAINED_BYTES / (STACK_DEPTH * sizeof(u64)) };

	for (u32 i = 0; i < STACKS; i++)
		add_retained_stack(*state, i, STACK_DEPTH);
	assert_null(deferred_stacks_find(*state, TID, 0));
	assert_null(deferred_stacks_find(*state, TID, STACKS / 2 - 1));
	assert_non_null(deferred_stacks_find(*state, TID, STACKS / 2 + STACKS / 8));
	assert_non_null(deferred_stacks_find(*state, TID, STACKS - 1));
}

/* Events that were written late belong to the drain's next file and may name the stacks. */
TEST(a_drain_keeps_retained_stacks_for_the_next_file, setup, teardown)
{
	add_stack_and_read_placeholders(*state, TID, COOKIE);
	deferred_stacks_find(*state, TID, COOKIE)->form[DEFERRED_FULL].written = true;
	deferred_stacks_begin_file(*state, false);
	assert_false(deferred_stacks_find(*state, TID, COOKIE)->form[DEFERRED_FULL].written);
}

/* Stacks never come, and each event is followed by an epoch: the join holds at most MOST
 * placeholders. */
TEST(events_without_a_stack_are_given_up, setup, teardown)
{
	enum { EVENTS = 100000, MOST = 3 * 4096 };
	struct world world = {.open = false};
	struct deferred_sweep sweep = sweep_of(&world);
	u64 most = 0;
	u32 i;

	for (i = 0; i < EVENTS; i++) {
		add_event_waiting_for_stack(*state, TID + i, COOKIE, DEFERRED_FULL, i);
		deferred_stacks_end_epoch(*state);
		if (deferred_stacks_need_sweep(*state))
			deferred_stacks_sweep(*state, &sweep);
		most = i + 1 - world.lost_cookies > most ? i + 1 - world.lost_cookies : most;
	}
	assert_in_range(most, 1, MOST);
	assert_int_equal(world.lost_events, world.lost_cookies);
}
