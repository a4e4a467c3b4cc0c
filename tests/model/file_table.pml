/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables that come and go while a program searches (abi/file_table.h): core/unwind/table_search.c, and
 * lib/symbol/symbolizer/table_publish.c  in two processes, each of which may be killed anywhere. A table is a root
 * and a chunk, of one of two files. Memory of what is deleted is used again at once, and what is put is written word by word
 * before it is linked. A look-up finds what is linked at some moment of it.
 *
 * Proved for every interleaving: a search that ends well has the rule of its file, and a chunk that no root leads to never gets
 * a root.
 *
 * Variants that must fail: BROKEN_CHECK (no second look at the root), BROKEN_BASE (any root of the file will do), BROKEN_GO (the
 * chunk goes before its root), BROKEN_COME (the root comes behind its chunk).
 */
#define FILES 2
#define CELLS 3
#define ACTIONS 2
#define BASES 5 /* 1 and up */

bool taken[CELLS];
byte base[CELLS], rule[CELLS]; /* what is in memory */

/* The map: 1 + the memory of a key, or 0. */
byte root[FILES], chunk[BASES];

byte bases = 1;		/* the next one: none is drawn twice */
byte file_of[BASES];	/* in the chunk's key */
bool had_none[BASES];	/* somebody has found that no root leads to it */

inline forget(cell)
{
	taken[cell] = false
}

/* Where its memory is taken from is any place that is free; none: the map is full. */
inline take_memory(cell)
{
	cell = CELLS;
	atomic {
		if
		:: !taken[0] -> cell = 0
		:: !taken[1] -> cell = 1
		:: !taken[2] -> cell = 2
		:: taken[0] && taken[1] && taken[2]
		fi;
		if
		:: cell < CELLS -> taken[cell] = true
		:: else
		fi
	}
}

/* `mine`: the base of the root that is there then. */
inline put_root(file)
{
	take_memory(cell);
	if
	:: cell < CELLS ->
		base[cell] = mine;
		rule[cell] = 0;
		d_step {
			if
			:: !root[file] -> root[file] = 1 + cell; assert(!had_none[mine])
			:: else -> forget(cell); mine = base[root[file] - 1]
			fi
		}
	:: else -> mine = 0
	fi
}

inline put_chunk(file)
{
	take_memory(cell);
	if
	:: mine && cell < CELLS ->
		base[cell] = 0;
		rule[cell] = 1 + file;
		d_step {
			if
			:: !chunk[mine] -> chunk[mine] = 1 + cell
			:: else -> forget(cell)
			fi
		}
	:: !mine && cell < CELLS -> forget(cell)
	:: else
	fi
}

inline delete_chunk(which)
{
	d_step {
		if
		:: chunk[which] -> forget(chunk[which] - 1); chunk[which] = 0
		:: else
		fi
	}
}

inline draw(file)
{
	d_step { mine = bases; bases++; file_of[mine] = file }
}

inline publish(file)
{
	draw(file);
#ifdef BROKEN_COME
	put_chunk(file);
	put_root(file);
#else
	put_root(file);
	put_chunk(file);
#endif
	if
	:: mine && (!root[file] || base[root[file] - 1] != mine) -> delete_chunk(mine)
	:: else
	fi
}

inline evict(file)
{
	mine = 0;
#ifdef BROKEN_GO
	d_step {
		if
		:: root[file] -> mine = base[root[file] - 1]
		:: else
		fi
	};
	if
	:: mine -> delete_chunk(mine)
	:: else
	fi;
	d_step {
		if
		:: root[file] -> forget(root[file] - 1); root[file] = 0
		:: else
		fi
	}
#else
	d_step {
		if
		:: root[file] -> mine = base[root[file] - 1]; forget(root[file] - 1); root[file] = 0
		:: else
		fi
	};
	if
	:: mine -> delete_chunk(mine)
	:: else
	fi
#endif
}

/* A key was read, and then the root of its file. */
inline sweep(which)
{
	if
	:: chunk[which] ->
		d_step {
			mine = 0;
			if
			:: !root[file_of[which]] -> mine = which
			:: root[file_of[which]] && base[root[file_of[which]] - 1] != which -> mine = which
			:: else
			fi;
			had_none[which] = had_none[which] || mine
		};
		if
		:: mine -> delete_chunk(mine)
		:: else
		fi
	:: else
	fi
}

/* Killed: it makes no step any more, which is one of the interleavings. */
active [2] proctype process()
{
	byte actions, mine, cell;

	do
	:: actions == ACTIONS -> break
	:: else ->
		actions++;
		if
		:: true -> publish(0)
		:: true -> publish(1)
		:: true -> evict(0)
		:: true -> sweep(1)
		:: true -> sweep(2)
		fi;
		d_step { mine = 0; cell = 0 }
	od
}

/* For a rule of file 0, wherever it is in memory. */
active proctype search()
{
	byte first, last, seen, found;

	first = root[0];
	if
	:: first -> seen = base[first - 1]
	:: else -> goto done
	fi;
	found = chunk[seen];
	if
	:: seen && found && file_of[seen] == 0 -> found = rule[found - 1]
	:: else -> goto done
	fi;
#ifndef BROKEN_CHECK
	last = root[0];
	if
	:: last -> skip
	:: else -> goto done
	fi;
#ifndef BROKEN_BASE
	if
	:: base[last - 1] == seen -> skip
	:: else -> goto done
	fi;
#endif
#endif
	assert(found == 1);
done:	skip
}
