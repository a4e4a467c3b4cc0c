/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The insert of core/stack_map.c: three writers, two of them on the same CPU, which may have a spare, insert one of three
 * stacks each. All begin to probe at slot 0. One step here is one atomic operation there; building an element takes two steps, so that
 * a reader could see it half built.
 *
 * Proved for every interleaving: no stack in two slots, no slot with a half-built element, no element with two builders, never more
 * than MAX elements, tickets = elements once all is quiet, refs + drops = calls.
 *
 * Variants that must fail: BROKEN_PUBLISH (store instead of compare-and-swap), BROKEN_ORDER (publish, then build), BROKEN_TICKET
 * (only the plain load decides), BROKEN_SPARE (the spare is taken without an exchange), BROKEN_RETURN (the
 * ticket of a lost race is kept).
 */
#define WRITERS 3
#define STACKS 3
#define MAX 2	  /* elements that may be published: one less than there are stacks */
#define SLOTS 4
#define PROBES 3
#define POOL 5	  /* elements: a spare, one for each call, and 0 which is none */

#define NONE 0

byte slot[SLOTS];    /* element, or NONE */
byte content[POOL];  /* stack + 1; NONE while it is being built */
bool building[POOL];
byte refs[POOL];
byte tickets;
byte pool_used = 1;
byte spare[2];
byte drops;
byte finished;

inline reserve(cpu)
{
	built = NONE;
	seen = tickets;
	if
	:: seen < MAX ->
#ifdef BROKEN_SPARE
		built = spare[cpu];
		spare[cpu] = NONE;
#else
		atomic { built = spare[cpu]; spare[cpu] = NONE };
#endif
#ifdef BROKEN_TICKET
		tickets++;
#else
		atomic { seen = tickets; tickets++ };
		if
		:: seen >= MAX ->
			tickets--;
			if
			:: built != NONE -> atomic { displaced = spare[cpu]; spare[cpu] = built }
			:: else
			fi;
			built = NONE;
			refused = true
		:: else
		fi;
#endif
		if
		:: !refused && built == NONE -> atomic { built = pool_used; pool_used++ }
		:: else
		fi
	:: else -> refused = true
	fi
}

inline build()
{
	d_step { assert(!building[built]); building[built] = true; content[built] = NONE };
	d_step { content[built] = stack + 1; refs[built] = 1; building[built] = false }
}

inline publish()
{
#ifdef BROKEN_PUBLISH
	found = slot[i];
	if
	:: found == NONE -> slot[i] = built
	:: else
	fi
#else
	atomic {
		found = slot[i];
		if
		:: found == NONE -> slot[i] = built
		:: else
		fi
	}
#endif
}

inline discard_element(cpu)
{
	if
	:: built != NONE ->
#ifndef BROKEN_RETURN
		tickets--;
#endif
		atomic { displaced = spare[cpu]; spare[cpu] = built };
		built = NONE
	:: else
	fi
}

inline get_id(cpu)
{
	i = 0;
	built = NONE;
	refused = false;
	do
	:: i == PROBES -> discard_element(cpu); drops++; break
	:: else ->
		found = slot[i];
		if
		:: found == NONE && built == NONE ->
			reserve(cpu);
			if
			:: refused -> drops++; break
			:: else
			fi;
#ifndef BROKEN_ORDER
			build()
#endif
		:: else
		fi;
		if
		:: found == NONE ->
			publish();
			if
			:: found == NONE ->
#ifdef BROKEN_ORDER
				build();
#endif
				built = NONE;
				break
			:: else
			fi
		:: else
		fi;
		assert(content[found] != NONE);
		if
		:: content[found] == stack + 1 -> refs[found]++; discard_element(cpu); break
		:: else -> i++
		fi
	od
}

proctype writer(byte cpu, stack)
{
	byte i, built, found, seen, displaced;
	bool refused;

	get_id(cpu);
	finished++
}

inline run_writer(cpu)
{
	if
	:: run writer(cpu, 0)
	:: run writer(cpu, 1)
	:: run writer(cpu, 2)
	fi
}

init {
	byte i, j, published, counted;

	atomic {
		if
		:: spare[0] = pool_used; pool_used++
		:: skip
		fi;
		run_writer(0);
		run_writer(0);
		run_writer(1)
	};
	finished == WRITERS;
	d_step {
		i = 0;
		do
		:: i == SLOTS -> break
		:: else ->
			if
			:: slot[i] != NONE ->
				published++;
				counted = counted + refs[slot[i]];
				j = 0;
				do
				:: j == i -> break
				:: else ->
					assert(slot[j] == NONE || content[slot[j]] != content[slot[i]]);
					j++
				od
			:: else
			fi;
			i++
		od
	};
	assert(published <= MAX);
	assert(tickets == published);
	assert(counted + drops == WRITERS)
}
