/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The deferral of user stacks (abi/deferral.h): a task that enters the kernel, its requests for two instances, which
 * interrupt one another, the callbacks before user mode, execve, rt_sigreturn, exit and sleep; and a recorder that ends the first
 * instance from another CPU. Programs of one task nest: whoever has a lower level waits. One step here is one atomic operation
 * there. The kernel holds a work item until its callback has returned and refuses to schedule it until then; that is why a task
 * has two in turn.
 *
 * A place is what a stack is the stack of: it changes with each entry into the kernel, with the memory at execve and with the
 * registers at rt_sigreturn. Registers may be the same in two entries.
 *
 * Proved for every interleaving: each cookie is answered exactly once for each instance that asked, with the stack of the place
 * where it was asked or with "changed"; nobody is given a cookie whose answer is there; nothing is pending in user mode, so pending means "has not left the kernel"; who sleeps
 * for ever is answered by the recorder; an entry whose requests all came before its first callback is unwound once.
 *
 * Scenarios, because all at once has too many states: ENTRIES (1) into the kernel, NO_RECORDER, PLAIN (no execve and no
 * rt_sigreturn), WITH_NMI (a second level of interrupts), WITH_OTHER (another task takes the only unwinder), WITH_VIEWER (somebody looks
 * at who waits, and changes nothing), STEADY (a program that schedules callbacks is there all the time, or never).
 *
 * Variants that must fail: BROKEN_ITEM (one work item), BROKEN_OPEN (a cookie is opened without a compare-and-swap), BROKEN_CLOSE
 * (an answered cookie stays open), BROKEN_CHANGED (the callback trusts the registers), BROKEN_CACHE (an unwinder's cookie is not
 * compared), BROKEN_BEHIND (a cookie is given out behind its answer), BROKEN_EXEC and BROKEN_EXIT (nobody serves there), BROKEN_TAKE (the recorder stores IDLE without comparing),
 * BROKEN_REGISTERS (it does not compare them again), BROKEN_PEEK (it looks during an execve), BROKEN_GRACE (it does not wait for
 * programs that still run), BROKEN_SCHEDULE (nobody schedules a callback, and nobody answers), BROKEN_CANCEL (who answers in its place does so for other registers, too), BROKEN_LATE (a cookie that
 * was answered in between is given out), BROKEN_CHECK (a viewer does not look again whether the task waits).
 */
#ifndef ENTRIES
#define ENTRIES 1
#endif
#define COOKIES 8
#define OLD 253   /* answered in an earlier entry */
#define CHANGED 255
#define MIXED 254 /* asked at two places: only "changed" answers it */

/* states of a word */
#define IDLE 0
#define PENDING 1
#define RUNNING 2

/* of a work item */
#define STANDBY 0
#define SCHEDULED 1
#define CALLED 2

/* of the unwinder */
#define FREE 0
#define BUSY 1
#define DONE 2

#define OTHERS_COOKIE 99

/* the task */
byte level;	/* who runs in it: 0 itself, 1 an interrupt, 2 an NMI */
bool in_kernel, exiting, asleep, in_execve;
byte registers = 1, place = 1;

/* of an instance */
byte word_cookie[2], word_state[2], word_registers[2], turn[2], written[2];
byte item[4]; /* instance * 2 + turn */
bool off;     /* the sources of the first */
byte requesting;

/* of the engine */
byte open_cookie, open_registers, cookie_last;
bool closed = true;
byte unwinder_cookie, unwinder_state, unwinder_place;

/* what the proof knows; instance * COOKIES + cookie */
byte asked[2 * COOKIES], answered[2 * COOKIES];
byte unwound;		   /* in this entry */
bool called, late, robbed; /* a callback has run; a request came after one; the unwinder was taken away */

/* A task that sleeps for ever has requests that nobody answers yet. */
#ifdef NO_RECORDER
#define NOBODY_ENDS(i) true
#else
#define NOBODY_ENDS(i) (i == 1)
#endif
#define WAITS_FOR(i, cookie) \
	(asleep && NOBODY_ENDS(i) && word_state[i] == PENDING && word_cookie[i] == cookie)

#ifdef WITH_VIEWER
byte first[COOKIES]; /* where a cookie of the first instance was asked for first */
#define FIRST_ASKED(i, cookie) if :: i == 0 -> first[cookie] = place :: else fi
#else
#define FIRST_ASKED(i, cookie) skip
#endif

inline ask(i, cookie)
{
	d_step {
		assert(cookie && cookie < COOKIES);
		late = late || called;
		if
		:: asked[i * COOKIES + cookie] == 0 -> asked[i * COOKIES + cookie] = place; FIRST_ASKED(i, cookie)
		:: asked[i * COOKIES + cookie] == place
		:: else -> asked[i * COOKIES + cookie] = MIXED
		fi;
		assert(answered[i * COOKIES + cookie] == 0)
	}
}

inline answer(i, cookie, with)
{
	d_step {
		assert(answered[i * COOKIES + cookie] == 0);
		assert(with == CHANGED || asked[i * COOKIES + cookie] == 0 || asked[i * COOKIES + cookie] == with);
		answered[i * COOKIES + cookie] = with
	}
}

inline word_move(i, old, from, new, to)
{
	atomic {
		moved = word_cookie[i] == old && word_state[i] == from;
		if
		:: moved -> word_cookie[i] = new; word_state[i] = to
		:: else
		fi
	}
}

inline schedule(i)
{
#ifdef BROKEN_ITEM
	atomic { if :: item[i * 2] == STANDBY -> item[i * 2] = SCHEDULED :: else fi }
#else
	atomic { if :: item[i * 2 + turn[i]] == STANDBY -> item[i * 2 + turn[i]] = SCHEDULED :: else fi }
#endif
}

/* The cookie that is open in this entry, or a new one. */
inline engine_cookie(last)
{
	d_step { mine = open_cookie; was_closed = closed };
	if
	:: !was_closed && open_registers == registers && mine != last
	:: else ->
		open_registers = registers;
		d_step { cookie_last++; fresh = cookie_last };
#ifdef BROKEN_OPEN
		d_step { open_cookie = fresh; closed = false; mine = fresh }
#else
		d_step {
			if
			:: open_cookie == mine && closed == was_closed -> open_cookie = fresh; closed = false; mine = fresh
			:: (open_cookie != mine || closed != was_closed) && open_cookie == last -> mine = 0 /* who interrupted us has closed it */
			:: else -> mine = open_cookie
			fi
		}
#endif
	fi
}

/* An answer from a copy of the stack, in the place of a callback that nobody schedules. What waits with other registers has its
 * callback. */
inline cancel(i)
{
	d_step { last = word_cookie[i]; state = word_state[i] };
	if
#ifdef BROKEN_CANCEL
	:: state == PENDING ->
#else
	:: state == PENDING && word_registers[i] == registers ->
#endif
		word_move(i, last, PENDING, last, RUNNING);
		if
		:: moved ->
			d_step { written[i] = last; called = true };
			answer(i, last, place);
			close(last);
			word_move(i, last, RUNNING, last, IDLE)
		:: else
		fi
	:: else
	fi
}

#ifdef STEADY
bool present;
#define MAY_BE(condition) (condition)
#else
#define MAY_BE(condition) true
#endif

/* The second instance is a tool's, which schedules its callback before it waits. A recording's event has its cookie first; then its
 * program goes over to another one, which may not be there. */
inline ensure(i)
{
	if
	:: i == 0 && wanted ->
		if
#ifndef BROKEN_SCHEDULE
		:: MAY_BE(present) -> schedule(i)
		:: MAY_BE(!present) -> cancel(i)
#else
		:: skip
#endif
		fi
	:: else
	fi
}

inline defer(i)
{
	before = written[i]; /* first: who interrupts us between the two may have another one answered */
	d_step {
		last = word_cookie[i];
		state = word_state[i];
		wanted = state == PENDING && word_registers[i] != registers
	};
	if
#ifdef BROKEN_BEHIND
	:: state != IDLE -> mine = last
#else
	:: state == PENDING || (state == RUNNING && before != last) -> mine = last
#endif
	:: else ->
		if
		:: i == 1 -> schedule(i)
		:: else -> wanted = true
		fi;
		engine_cookie(last);
		if
		:: mine -> word_registers[i] = registers; word_move(i, last, state, mine, PENDING)
		:: else
		fi;
		if
		:: mine == 0 || moved
		:: else ->
			if
#ifndef BROKEN_LATE
			:: word_state[i] == IDLE -> mine = 0 /* who interrupted us had it answered */
#endif
			:: else -> mine = word_cookie[i]
			fi
		fi
	fi;
	if
	:: mine -> ask(i, mine)
	:: else
	fi;
	ensure(i)
}

/* An event of one instance or the other, or of none. */
inline event()
{
	if
	:: atomic { !exiting && !off -> requesting++ };
		defer(0);
		requesting--
	:: !exiting -> defer(1)
	:: skip
	fi
}

/* The stack of a cookie: taken from the unwinder, or unwound, if it is to be had. */
inline unwind(cookie)
{
	stack = CHANGED;
	atomic {
#ifdef BROKEN_CACHE
		moved = unwinder_state == DONE;
#else
		moved = unwinder_state == DONE && unwinder_cookie == cookie;
#endif
		if
		:: moved -> unwinder_state = BUSY
		:: else
		fi
	};
	if
	:: moved -> stack = unwinder_place; unwinder_state = DONE
	:: else ->
		atomic {
			moved = unwinder_state != BUSY;
			if
			:: moved -> unwinder_cookie = cookie; unwinder_state = BUSY
			:: else
			fi
		};
		if
		:: moved ->
			d_step { unwound++; unwinder_place = place; stack = place };
			unwinder_state = DONE
		:: else
		fi
	fi
}

inline close(cookie)
{
	d_step {
#ifndef BROKEN_CLOSE
		if
		:: open_cookie == cookie -> closed = true
		:: else
		fi
#else
		skip
#endif
	}
}

/* Answers what an instance waits for, in the task itself: its callback, and its program at execve and exit. */
inline serve(i)
{
	d_step { last = word_cookie[i]; state = word_state[i] };
	if
	:: state == PENDING ->
		word_move(i, last, PENDING, last, RUNNING);
		if
		:: moved ->
#ifndef BROKEN_CHANGED
			if
			:: word_registers[i] != registers -> stack = CHANGED
			:: else -> unwind(last)
			fi;
#else
			unwind(last);
#endif
			written[i] = last;
			answer(i, last, stack);
			close(last);
			word_move(i, last, RUNNING, last, IDLE)
		:: else
		fi
	:: else
	fi
}

inline callback(i, which)
{
	atomic { item[i * 2 + which] = CALLED; called = true; turn[i] = 1 - which };
	serve(i);
	item[i * 2 + which] = STANDBY
}

inline callbacks()
{
	do
	:: item[0] == SCHEDULED -> callback(0, 0)
	:: item[1] == SCHEDULED -> callback(0, 1)
	:: item[2] == SCHEDULED -> callback(1, 0)
	:: item[3] == SCHEDULED -> callback(1, 1)
	:: atomic {
		level == 0 && item[0] != SCHEDULED && item[1] != SCHEDULED && item[2] != SCHEDULED && item[3] != SCHEDULED ->
			in_kernel = false
	   };
		break
	od
}

inline exec()
{
	in_execve = true;
	event();
	called = true;
#ifndef BROKEN_EXEC
	serve(0);
	serve(1);
#endif
	place++;
	event();
	registers = 3;
	in_execve = false
}

inline leave_for_ever()
{
	exiting = true;
#ifndef BROKEN_EXIT
	serve(0);
	serve(1);
#endif
	atomic { level == 0 -> in_kernel = false }
}

inline settle_accounts()
{
	i = 0;
	do
	:: i == 2 * COOKIES -> i = 0; break
	:: else ->
		if
		:: asked[i] && answered[i] -> asked[i] = OLD; answered[i] = OLD
		:: else
		fi;
		i++
	od
}

inline user_mode()
{
	d_step {
		assert(word_state[0] == IDLE && word_state[1] == IDLE);
		assert(late || robbed || unwound <= 1);
		settle_accounts();
		place = 10 * entries;
		unwound = 0;
		called = false;
		late = false;
		robbed = false
	};
	if
	:: registers = 1
	:: registers = 2
	fi
}

proctype task() provided (level == 0)
{
	byte last, state, mine, fresh, before, stack, entries, i;
	bool moved, was_closed, wanted;

	do
	:: entries == ENTRIES -> break
	:: else ->
		entries++;
		in_kernel = true;
		event();
		if
		:: event(); callbacks(); user_mode()
#ifndef PLAIN
		:: exec(); callbacks(); user_mode()
		:: d_step { registers = 4; place++ }; callbacks(); user_mode()
#endif
		:: leave_for_ever(); break
		:: atomic { level == 0 -> in_kernel = false; asleep = true }; break
		fi
	od
}

inline interrupt(own)
{
	if
	:: atomic { in_kernel && level < own -> below = level; level = own };
		event();
		level = below
	:: skip
	fi
}

proctype device() provided (level <= 1)
{
	byte last, state, mine, fresh, before, below;
	bool moved, was_closed, wanted;

	interrupt(1)
}

proctype nmi() provided (level <= 2)
{
	byte last, state, mine, fresh, before, below;
	bool moved, was_closed, wanted;

	interrupt(2)
}

/* The end of the first instance. Its programs at execve and exit are still there. */
proctype recorder()
{
	byte cookie, seen, stack;
	bool moved;

	off = true;
#ifndef BROKEN_GRACE
	requesting == 0;
#endif
	do
	:: word_state[0] == IDLE -> break
	:: word_state[0] == PENDING ->
		cookie = word_cookie[0];
		d_step {
			moved = registers == word_registers[0];
#ifndef BROKEN_PEEK
			moved = moved && !in_execve
#endif
		};
		if
		:: moved ->
			stack = place;
			if
#ifdef BROKEN_REGISTERS
			:: true ->
#else
			:: registers == word_registers[0] ->
#endif
#ifdef BROKEN_TAKE
				word_state[0] = IDLE;
				answer(0, cookie, stack)
#else
				word_move(0, cookie, PENDING, cookie, IDLE);
				if
				:: moved -> answer(0, cookie, stack)
				:: else
				fi
#endif
#ifndef BROKEN_REGISTERS
			:: else
#endif
			fi
		:: else
		fi
	od
}

#ifdef WITH_VIEWER
/* Reads the first instance while it goes on: looks at who waits, and checks that it waits still. All events of that cookie are
 * said to have the stack of where it was asked for first: the old one inside rt_sigreturn, and never one that came later. */
proctype viewer()
{
	byte cookie, stack;
	bool fits;

	if
	:: word_state[0] == PENDING ->
		cookie = word_cookie[0];
		d_step { fits = registers == word_registers[0] && !in_execve };
		stack = place;
		fits = fits && registers == word_registers[0];
		d_step {
#ifndef BROKEN_CHECK
			fits = fits && word_state[0] == PENDING && word_cookie[0] == cookie;
#endif
			assert(!fits || first[cookie] == 0 || first[cookie] == stack)
		}
	:: skip
	fi
}
#endif

/* Somebody else's stack, once. */
proctype other()
{
	if
	:: atomic { unwinder_state != BUSY -> unwinder_state = BUSY; unwinder_cookie = OTHERS_COOKIE; robbed = true };
		unwinder_place = CHANGED;
		unwinder_state = DONE
	:: skip
	fi
}

init {
	byte i;

#ifdef STEADY
	if
	:: present = true
	:: true
	fi;
#endif
	atomic {
		run task();
		run device();
#ifdef WITH_NMI
		run nmi();
#endif
#ifndef NO_RECORDER
		run recorder();
#endif
#ifdef WITH_VIEWER
		run viewer();
#endif
#ifdef WITH_OTHER
		run other()
#endif
	};
	_nr_pr == 1;
	d_step {
		do
		:: i == 2 * COOKIES -> break
		:: else ->
			assert(!asked[i] == !answered[i] || WAITS_FOR(i / COOKIES, i % COOKIES));
			i++
		od
	}
}
