/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A search tree of cookies (tsearch(3)). Each cookie is also in one of two lists. The list `open`
 * has cookies without a stack and lasting cookies; a sweep checks them. The list `known` has all
 * other cookies in the order in which their stacks came; the end of an epoch drops stacks from its
 * front.
 */
#include "capture/drain/deferred_stack.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "deferral.h"
#include "order.h"

#define OPEN_LIMIT_MIN 4096
/* A stack is kept for two epochs: the epoch in which it came, and one whole epoch. */
#define EPOCHS_KEPT 2
#define RETAINED_BYTES_MAX (16U << 20)

TAILQ_HEAD(deferred_list, deferred_stack);

struct deferred_stacks {
	void *tree;
	/* Stacks that stay until a sweep finds that their cookie is closed. */
	struct deferred_list open;
	struct deferred_list known;
	struct deferred_list retained; /* stacks that are kept for later snapshots, linked by
					  retained_link; oldest first */
	u64 retained_bytes;
	u64 epoch;
	u64 sweep_epoch; /* epoch of the last sweep */
	u64 open_count;
	u64 open_limit; /* when more cookies than this are open, a sweep runs */
	bool keeps;	/* deferred_stacks_keep_until_closed() was called */
};

static int compare_cookies(const void *left, const void *right)
{
	const struct deferred_stack *a = left, *b = right;

	return order(a->tid, b->tid) ?: order(a->cookie, b->cookie);
}

/* Returns the node of a cookie in the tree, or NULL. */
static struct deferred_stack **find_tree_node(const struct deferred_stacks *stacks, u32 tid,
					      u32 cookie)
{
	struct deferred_stack key = {.tid = tid, .cookie = cookie};

	return tfind(&key, &stacks->tree, compare_cookies);
}

static struct deferred_stack *find_deferred_stack_by_cookie(const struct deferred_stacks *stacks,
							    u32 tid, u32 cookie)
{
	struct deferred_stack **node = find_tree_node(stacks, tid, cookie);

	return node ? *node : NULL;
}

static bool is_cookie_checked_by_sweep(const struct deferred_stacks *stacks,
				       const struct deferred_stack *stack)
{
	return !stack->known || stacks->keeps || stack->cookie & COOKIE_LASTING;
}

static struct deferred_list *list_of_deferred_stack(struct deferred_stacks *stacks,
						    const struct deferred_stack *stack)
{
	return is_cookie_checked_by_sweep(stacks, stack) ? &stacks->open : &stacks->known;
}

static void append_to_open_or_known_list(struct deferred_stacks *stacks,
					 struct deferred_stack *stack)
{
	stack->epoch = is_cookie_checked_by_sweep(stacks, stack) ? 0 : stacks->epoch;
	TAILQ_INSERT_TAIL(list_of_deferred_stack(stacks, stack), stack, link);
	stacks->open_count += is_cookie_checked_by_sweep(stacks, stack);
}

static void remove_from_open_or_known_list(struct deferred_stacks *stacks,
					   struct deferred_stack *stack)
{
	TAILQ_REMOVE(list_of_deferred_stack(stacks, stack), stack, link);
	stacks->open_count -= is_cookie_checked_by_sweep(stacks, stack);
}

static u64 bytes_of_deferred_stack(const struct deferred_stack *stack)
{
	return sizeof(*stack) + stack->depth * sizeof(*stack->frames);
}

struct deferred_stack *deferred_stack_new(u32 tid, u32 cookie)
{
	struct deferred_stack *stack = calloc(1, sizeof(*stack));

	if (!stack)
		return NULL;
	stack->tid = tid;
	stack->cookie = cookie;
	for (int form = 0; form < DEFERRED_FORMS; form++)
		stack->form[form].placeholder = TRACE_NO_STACK;
	return stack;
}

void deferred_stack_free(struct deferred_stack **stack)
{
	if (*stack)
		free((*stack)->frames);
	free(*stack);
	*stack = NULL;
}

int deferred_stack_set_frames(struct deferred_stack *stack, const u64 *frames, u32 depth, u32 flags)
{
	stack->frames = malloc(depth * sizeof(*frames));
	if (!stack->frames)
		return -ENOMEM;
	memcpy(stack->frames, frames, depth * sizeof(*frames));
	stack->depth = depth;
	stack->flags = flags;
	return 0;
}

static void drop_deferred_stack(struct deferred_stacks *stacks, struct deferred_stack *stack)
{
	tdelete(stack, &stacks->tree, compare_cookies);
	remove_from_open_or_known_list(stacks, stack);
	if (stack->retained) {
		TAILQ_REMOVE(&stacks->retained, stack, retained_link);
		stacks->retained_bytes -= bytes_of_deferred_stack(stack);
	}
	deferred_stack_free(&stack);
}

static void retain_stack_for_next_file(struct deferred_stacks *stacks, struct deferred_stack *stack)
{
	stack->retained = true;
	TAILQ_INSERT_TAIL(&stacks->retained, stack, retained_link);
	stacks->retained_bytes += bytes_of_deferred_stack(stack);
	while (stacks->retained_bytes > RETAINED_BYTES_MAX)
		drop_deferred_stack(stacks, TAILQ_FIRST(&stacks->retained));
}

int deferred_stacks_create(struct deferred_stacks **out)
{
	struct deferred_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	TAILQ_INIT(&stacks->open);
	TAILQ_INIT(&stacks->known);
	TAILQ_INIT(&stacks->retained);
	stacks->epoch = 1;
	stacks->open_limit = OPEN_LIMIT_MIN;
	*out = stacks;
	return 0;
}

void deferred_stacks_keep_until_closed(struct deferred_stacks *stacks)
{
	stacks->keeps = true;
}

/* Prepares the stacks of a list for a new file, which has none of them yet. `drops`: the stacks
 * that are not retained are dropped. */
static void reset_list_for_new_file(struct deferred_stacks *stacks, struct deferred_list *list,
				    bool drops)
{
	struct deferred_stack *stack, *next;

	for (stack = TAILQ_FIRST(list); stack; stack = next) {
		next = TAILQ_NEXT(stack, link);
		for (int form = 0; form < DEFERRED_FORMS; form++)
			stack->form[form].written = false;
		if (drops && !stack->retained)
			drop_deferred_stack(stacks, stack);
	}
}

void deferred_stacks_begin_file(struct deferred_stacks *stacks, bool drops)
{
	reset_list_for_new_file(stacks, &stacks->open, drops);
	reset_list_for_new_file(stacks, &stacks->known, drops);
}

void deferred_stacks_free(struct deferred_stacks **stacks)
{
	struct deferred_stacks *gone = *stacks;

	if (!gone)
		return;
	while (!TAILQ_EMPTY(&gone->retained))
		drop_deferred_stack(gone, TAILQ_FIRST(&gone->retained));
	deferred_stacks_begin_file(gone, true);
	free(gone);
	*stacks = NULL;
}

struct deferred_stack *deferred_stacks_find(const struct deferred_stacks *stacks, u32 tid,
					    u32 cookie)
{
	struct deferred_stack *stack = find_deferred_stack_by_cookie(stacks, tid, cookie);

	return stack && stack->known ? stack : NULL;
}

static struct deferred_stack *insert_into_tree(struct deferred_stacks *stacks,
					       struct deferred_stack *stack)
{
	if (stack && !tsearch(stack, &stacks->tree, compare_cookies))
		deferred_stack_free(&stack);
	if (stack)
		append_to_open_or_known_list(stacks, stack);
	return stack;
}

struct deferred_stack *deferred_stacks_find_or_add_awaited(struct deferred_stacks *stacks, u32 tid,
							   u32 cookie)
{
	return find_deferred_stack_by_cookie(stacks, tid, cookie)
		       ?: insert_into_tree(stacks, deferred_stack_new(tid, cookie));
}

int deferred_stacks_set_context(struct deferred_stacks *stacks, u32 tid, u32 cookie,
				const u64 *words)
{
	struct deferred_stack *stack = deferred_stacks_find_or_add_awaited(stacks, tid, cookie);

	if (!stack)
		return -ENOMEM;
	memcpy(stack->context, words, sizeof(stack->context));
	stack->has_context = true;
	return 0;
}

const u64 *deferred_stacks_context(const struct deferred_stacks *stacks, u32 tid, u32 cookie)
{
	const struct deferred_stack *stack = find_deferred_stack_by_cookie(stacks, tid, cookie);

	return stack && stack->has_context ? stack->context : NULL;
}

bool deferred_stacks_is_awaited(const struct deferred_stacks *stacks, u32 tid, u32 cookie)
{
	const struct deferred_stack *stack = find_deferred_stack_by_cookie(stacks, tid, cookie);

	return stack && !stack->known;
}

u64 deferred_stacks_epoch_of_delivery(const struct deferred_stacks *stacks, u32 tid, u32 cookie)
{
	const struct deferred_stack *stack = find_deferred_stack_by_cookie(stacks, tid, cookie);

	return stack ? stack->delivered : 0;
}

bool deferred_stacks_has_whole_epoch_passed(const struct deferred_stacks *stacks, u64 epoch)
{
	return stacks->epoch - epoch >= EPOCHS_KEPT;
}

/* Called when a known stack comes again: it was peeked before and is now delivered by its task. The
 * known stack is kept as if it had come now, since later events may have its cookie. */
static int move_known_stack_to_newest(struct deferred_stacks *stacks, struct deferred_stack *stack,
				      bool retains)
{
	remove_from_open_or_known_list(stacks, stack);
	append_to_open_or_known_list(stacks, stack);
	if (retains && !stack->retained)
		retain_stack_for_next_file(stacks, stack);
	return -EEXIST;
}

/* Replaces a stack that events wait for by the known stack, which gets the placeholders. */
static void replace_waiting_stack(struct deferred_stacks *stacks, struct deferred_stack **node,
				  struct deferred_stack *stack)
{
	struct deferred_stack *waiting = *node;

	remove_from_open_or_known_list(stacks, waiting);
	memcpy(stack->form, waiting->form, sizeof(stack->form));
	memcpy(stack->context, waiting->context, sizeof(stack->context));
	stack->has_context = waiting->has_context;
	*node = stack;
	deferred_stack_free(&waiting);
	append_to_open_or_known_list(stacks, stack);
}

int deferred_stacks_add(struct deferred_stacks *stacks, struct deferred_stack **stack)
{
	struct deferred_stack *added = *stack;
	struct deferred_stack **node = find_tree_node(stacks, added->tid, added->cookie);
	bool retains = added->retained;

	added->known = true;
	added->retained = false;
	added->delivered = added->peeked ? 0 : stacks->epoch;
	if (node && (*node)->known) {
		if (!(*node)->delivered)
			(*node)->delivered = added->delivered;
		deferred_stack_free(stack);
		return move_known_stack_to_newest(stacks, *node, retains);
	}
	if (node)
		replace_waiting_stack(stacks, node, added);
	else
		*stack = added = insert_into_tree(stacks, added);
	if (!added)
		return -ENOMEM;
	if (retains)
		retain_stack_for_next_file(stacks, added);
	return 0;
}

struct deferred_stack *deferred_stacks_next_known(const struct deferred_stacks *stacks,
						  const struct deferred_stack *last)
{
	struct deferred_stack *next = last ? TAILQ_NEXT(last, link) : TAILQ_FIRST(&stacks->known);

	if (!next && !(last && is_cookie_checked_by_sweep(stacks, last)))
		next = TAILQ_FIRST(&stacks->open);
	while (next && !next->known)
		next = TAILQ_NEXT(next, link);
	return next;
}

void deferred_stacks_end_epoch(struct deferred_stacks *stacks)
{
	struct deferred_stack *stack;

	stacks->epoch++;
	while ((stack = TAILQ_FIRST(&stacks->known)) &&
	       deferred_stacks_has_whole_epoch_passed(stacks, stack->epoch))
		drop_deferred_stack(stacks, stack);
}

/* True if a sweep should run. A first sweep marks the closed cookies, and a second sweep, an epoch
 * later, drops them. */
bool deferred_stacks_need_sweep(const struct deferred_stacks *stacks)
{
	return stacks->open_count > stacks->open_limit &&
	       stacks->epoch - stacks->sweep_epoch >= EPOCHS_KEPT;
}

static void drop_closed_cookie(struct deferred_stacks *stacks, struct deferred_stack *stack,
			       const struct deferred_sweep *sweep)
{
	if (!stack->known)
		sweep->lost(sweep->arg, stack);
	drop_deferred_stack(stacks, stack);
}

/* Checks one cookie. A closed cookie is dropped an epoch later, since its stack may still be in a
 * ring until then; it is never opened again. True: the cookie is closed, but not dropped yet. */
static bool check_cookie_in_sweep(struct deferred_stacks *stacks, struct deferred_stack *stack,
				  const struct deferred_sweep *sweep)
{
	if (sweep->is_open(sweep->arg, stack->tid, stack->cookie))
		return false;
	if (!stack->epoch)
		stack->epoch = stacks->epoch;
	if (stacks->epoch - stack->epoch < EPOCHS_KEPT)
		return true;
	drop_closed_cookie(stacks, stack, sweep);
	return false;
}

void deferred_stacks_sweep(struct deferred_stacks *stacks, const struct deferred_sweep *sweep)
{
	struct deferred_stack *stack, *next;
	bool again = false;

	stacks->sweep_epoch = stacks->epoch;
	for (stack = TAILQ_FIRST(&stacks->open); stack; stack = next) {
		next = TAILQ_NEXT(stack, link);
		again = check_cookie_in_sweep(stacks, stack, sweep) || again;
	}
	if (!again)
		stacks->open_limit = 2 * stacks->open_count > OPEN_LIMIT_MIN
					     ? 2 * stacks->open_count
					     : OPEN_LIMIT_MIN;
}

void deferred_stacks_drop_waiting(struct deferred_stacks *stacks,
				  const struct deferred_sweep *sweep)
{
	struct deferred_stack *stack, *next;

	for (stack = TAILQ_FIRST(&stacks->open); stack; stack = next) {
		next = TAILQ_NEXT(stack, link);
		if (!stack->known)
			drop_closed_cookie(stacks, stack, sweep);
	}
}
