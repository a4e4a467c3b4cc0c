/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reset of a flight recorder (lib/capture/instance/reset.c, ring_discard.c): two programs, which lap each other in a ring of two slots,
 * claim slots by compare-and-swap and write the generation of the table they found; a reset swaps the tables, waits for the
 * programs that run (RCU), and takes the events out of the slots before the head that it reads then.
 *
 * Proved for every interleaving: each event is counted once, as overwritten, as reset, or as still there; when the reset is over
 * no slot names the old generation.
 *
 * Variants that must fail: BROKEN_CAS (the reset stores the slot's word), BROKEN_BUSY (it takes busy slots, too), BROKEN_ORDER
 * (it reads the head before the swap), BROKEN_RCU (it does not wait), BROKEN_CLAIM (a writer stores its word).
 */
#define PROGRAMS 2
#define SLOTS 2

#define EMPTY 0
#define BUSY 1
#define EVENT 2
#define CONTINUED 3

byte generation = 1;
byte head = SLOTS;
byte state[SLOTS];
byte position[SLOTS];
byte named[SLOTS];     /* the generation that the slot's event names */

bool running[PROGRAMS];
byte runs[PROGRAMS];

byte written, overwritten, busy, dropped;
byte ended;

/* Takes and claims a slot: mine, or SLOTS if a writer holds it, or has been here on a later lap. */
inline claim()
{
	d_step { at = head; head++; mine = at % SLOTS; state_seen = state[mine]; position_seen = position[mine] };
	if
	:: state_seen == BUSY || (state_seen != EMPTY && position_seen > at) -> mine = SLOTS
	:: else ->
#ifdef BROKEN_CLAIM
		d_step { state[mine] = BUSY; position[mine] = at };
		overwritten = overwritten + (state_seen == EVENT)
#else
		d_step {
			if
			:: state[mine] == state_seen && position[mine] == position_seen ->
				state[mine] = BUSY;
				position[mine] = at;
				overwritten = overwritten + (state_seen == EVENT)
			:: else -> mine = SLOTS
			fi
		}
#endif
	fi
}

proctype program(byte number, events)
{
	byte at, mine, state_seen, position_seen, table;

	do
	:: runs[number] == events -> break
	:: else ->
		running[number] = true;
		claim();
		if
		:: mine == SLOTS -> busy++
		:: else ->
			table = generation;
			d_step { named[mine] = table; state[mine] = EVENT; written++ }
		fi;
		d_step { running[number] = false; runs[number]++ }
	od;
	ended++
}

/* For each program that runs now: until this run is over. */
inline wait_for_programs()
{
	d_step { first = runs[0] + running[0]; second = runs[1] + running[1] };
	runs[0] >= first && runs[1] >= second
}

inline discard(slot)
{
	d_step { state_seen = state[slot]; position_seen = position[slot] };
	if
#ifdef BROKEN_BUSY
	:: (state_seen == EVENT || state_seen == BUSY) && position_seen < limit ->
#else
	:: state_seen == EVENT && position_seen < limit ->
#endif
#ifdef BROKEN_CAS
		state[slot] = CONTINUED;
		dropped++
#else
		d_step {
			if
			:: state[slot] == state_seen && position[slot] == position_seen ->
				state[slot] = CONTINUED;
				dropped++
			:: else
			fi
		}
#endif
	:: else
	fi
}

proctype resetter()
{
	byte limit, first, second, state_seen, position_seen;

#ifdef BROKEN_ORDER
	limit = head;
#endif
	generation++;
#ifndef BROKEN_RCU
	wait_for_programs();
#endif
#ifndef BROKEN_ORDER
	limit = head;
#endif
	discard(0);
	discard(1);
	d_step {
		assert(state[0] != EVENT || named[0] == generation);
		assert(state[1] != EVENT || named[1] == generation)
	};
	ended++
}

init {
	atomic { run program(0, 3); run program(1, 2); run resetter() };
	ended == PROGRAMS + 1;
	assert(state[0] != BUSY && state[1] != BUSY);
	assert(written == overwritten + dropped + (state[0] == EVENT) + (state[1] == EVENT));
	assert(named[0] == generation || state[0] != EVENT);
	assert(named[1] == generation || state[1] != EVENT)
}
