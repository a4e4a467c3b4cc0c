/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reset of an instance that a reader drains (lib/capture/instance/reset.c, drain/drain.c): two programs put events into a
 * ring, each with the generation of the table it found; a reader looks each up; two processes reset, of which any may be killed.
 * A program has its slot before it looks for the table, so what uses a table is in the way of a reader who wants to be done with
 * it: here the kernel's wait for running programs is not even needed (flight_reset.pml).
 *
 * Proved for every interleaving: a program never uses a table that is being emptied; each event is read, and its generation is
 * there to be asked; the reader gets done with all but the last.
 *
 * Variants that must fail: BROKEN_DONE (nobody asks whether the reader is done), BROKEN_LOOK (the reader notes where its ring ends
 * before it looks for a swap), BROKEN_SETTLE (it is done when it sees the swap), BROKEN_LOCK (both reset at once), BROKEN_SLOT
 * (a program looks for the table before it has a slot).
 */
#define PROGRAMS 2
#define RESETTERS 2
#define ROOM 3 /* events: two of the first program, one of the other */

byte generation[2];  /* of each table; 0: empty */
bool emptying[2];
byte current;	     /* the outer map's first entry */
byte users[2];	     /* programs that use a table, as the proof sees it */
byte published = 1;
byte done;
bool locked;

byte head, tail;
byte slot[ROOM];     /* the generation that the event names; 0: not committed */
byte ended;

inline take_slot() { d_step { position = head; head++ } }

inline take_table() { d_step { table = current; assert(!emptying[table]); users[table]++ } }

proctype program(byte events)
{
	byte table, position;

	do
	:: events == 0 -> break
	:: else ->
#ifdef BROKEN_SLOT
		take_table();
		take_slot();
#else
		take_slot();
		take_table();
#endif
		d_step {
			assert(!emptying[table]);
			users[table]--;
			slot[position] = generation[table];
			events--
		}
	od;
	ended++
}

/* It may be killed before it publishes; the lock is free then. */
proctype resetter()
{
	byte now, spare;

#ifndef BROKEN_LOCK
	atomic {
		if
		:: locked -> goto refused
		:: else -> locked = true
		fi
	};
#endif
	published = generation[current];
	d_step { now = generation[current]; spare = 1 - current };
#ifndef BROKEN_DONE
	if
	:: done >= now - 1
	:: else -> goto unlock
	fi;
#endif
	d_step { assert(users[spare] == 0 && spare != current); emptying[spare] = true; generation[spare] = 0 };
	d_step { generation[spare] = now + 1; emptying[spare] = false };
	d_step { assert(generation[current] == now); current = spare };
	if
	:: goto unlock
	:: published = now + 1
	fi;
unlock:
	locked = false;
refused:
	ended++
}

inline look()
{
#ifdef BROKEN_LOOK
	end_seen = head;
#endif
	if
	:: published != seen ->
		seen = published;
#ifdef BROKEN_LOOK
		end = end_seen
#else
		end = head
#endif
	:: else
	fi
}

inline settle()
{
	if
#ifdef BROKEN_SETTLE
	:: done < seen - 1 -> done = seen - 1
#else
	:: done < seen - 1 && tail >= end -> done = seen - 1
#endif
	:: else
	fi
}

proctype reader()
{
	byte seen, end, end_seen;

	do
	:: tail == ROOM && seen == published && done == seen - 1 && ended == PROGRAMS + RESETTERS -> break
	:: else ->
		look();
		if
		:: tail < ROOM && slot[tail] != 0 ->
			d_step {
				assert(generation[0] == slot[tail] || generation[1] == slot[tail]);
				tail++
			}
		:: else
		fi;
		settle()
	od;
	ended++
}

init {
	atomic {
		generation[0] = 1;
		run program(2);
		run program(1);
		run reader();
		run resetter();
		run resetter()
	};
	ended == PROGRAMS + RESETTERS + 1;
	assert(tail == head && !locked)
}
