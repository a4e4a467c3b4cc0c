/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits until no user has the pointer from before a swap, without a lock for the users.
 *
 * The scheme is that of sleepable RCU (P. McKenney, "Sleepable RCU", LWN 2006), with one counter
 * instead of two per stripe, since a user leaves through the stripe by which it entered. Users
 * count themselves in and out, in one of two phases; a waiter turns users to the other phase and
 * waits until the first one has no users left. Phases are for progress only: new users never delay
 * a waiter. Safety is in the order of three accesses, all sequentially consistent:
 *
 *   user:    counter + 1, then load the pointer
 *   waiter:  store the pointer, then read the counter
 *
 * A user that the waiter did not see therefore sees the new pointer. A user may read the phase and
 * count itself in later; hence a waiter first lets the idle phase run empty.
 */
#ifndef LIB_STACK_MAP_IN_USE_H
#define LIB_STACK_MAP_IN_USE_H

#include "scalar.h"

/* A pair of cache lines of its own: adjacent lines are fetched together. */
struct in_use_stripe {
	u64 users[2];
	u64 reserved[14];
} __attribute__((aligned(128)));

struct in_use {
	u32 phase;
	u32 stripe_count;
	struct in_use_stripe *stripes;
};

/* Async-signal-safe. Returns the argument of in_use_leave(). */
static inline u64 *in_use_enter(struct in_use *in_use, u32 cpu)
{
	u32 phase = __atomic_load_n(&in_use->phase, __ATOMIC_RELAXED);
	u64 *users = &in_use->stripes[cpu % in_use->stripe_count].users[phase];

	__atomic_fetch_add(users, 1, __ATOMIC_SEQ_CST);
	return users;
}

static inline void in_use_leave(u64 *users)
{
	__atomic_fetch_sub(users, 1, __ATOMIC_RELEASE);
}

/* Returns when all users that entered before the call have left. One waiter at a time. */
void in_use_wait(struct in_use *in_use);

#endif
