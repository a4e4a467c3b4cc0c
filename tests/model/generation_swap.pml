/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reset of lib/stack_map: users enter, take the current table, use it and leave, while two resets in a row swap the
 * tables and clear the old one (lib/stack_map/stack_map.c). Each user has its own stripe. The accesses modelled are sequentially
 * consistent in the code, which is what Spin's interleaving is.
 *
 * Proved for every interleaving: no table is cleared while somebody uses it, and nobody waits for ever (no invalid end state).
 *
 * Variants that must fail: BROKEN_ENTER (the pointer is loaded before the user is counted), BROKEN_SWAP (the wait comes before
 * the swap), BROKEN_IDLE (users who were late to count themselves in are not waited for).
 */
#define USERS 2
#define CALLS 2
#define RESETS 3

byte table;	    /* 0 or 1: the one in use */
byte phase;
byte users[4];      /* stripe * 2 + phase */
byte inside[2];     /* users of a table, as the proof sees it */
bool clearing[2];

proctype user(byte stripe)
{
	byte mine, phase_seen, call;

	do
	:: call == CALLS -> break
	:: else ->
#ifdef BROKEN_ENTER
		mine = table;
#endif
		phase_seen = phase;
		users[stripe * 2 + phase_seen]++;
#ifndef BROKEN_ENTER
		mine = table;
#endif
		d_step { assert(!clearing[mine]); inside[mine]++ };
		d_step { assert(!clearing[mine]); inside[mine]-- };
		users[stripe * 2 + phase_seen]--;
		call++
	od
}

inline wait_empty(which)
{
	users[which] == 0;
	users[2 + which] == 0
}

inline wait()
{
#ifndef BROKEN_IDLE
	wait_empty(1 - phase);
#endif
	phase = 1 - phase;
	wait_empty(1 - phase)
}

proctype resetter()
{
	byte old, resets;

	do
	:: resets == RESETS -> break
	:: else ->
		old = table;
#ifdef BROKEN_SWAP
		wait();
		table = 1 - old;
#else
		table = 1 - old;
		wait();
#endif
		d_step { assert(inside[old] == 0); clearing[old] = true };
		clearing[old] = false;
		resets++
	od
}

init {
	atomic { run user(0); run user(1); run resetter() }
}
