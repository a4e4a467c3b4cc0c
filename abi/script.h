/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of scripts. An interpreter runs the functions of a script in a loop, which is one native
 * function. The native frame of a loop says where the innermost frame of the script lies that this
 * loop runs; the script's frames are linked outwards up to the frame with which the loop was
 * entered.
 *
 * CPython 3.13 and later keep the address of the frame with which the loop was entered in the
 * native frame, and not that of the innermost frame. In these versions the walk begins at the
 * innermost frame of the thread, for the innermost loop, and at the frame behind the last loop's,
 * for the others. It is the loop's own walk only if it ends at the frame that the native frame
 * holds.
 *
 * A layout says where these words lie. It is made from the interpreter's file
 * (lib/symbol/unwind/script_rows.h), and the file's unwind table marks the code of the loop in
 * which the words are valid (CFA_SCRIPT_LOOP).
 *
 * In a stack the native frame of a loop is replaced by the script's frames:
 *
 *   FRAME_USER(MAPPING_SCRIPT, id << 16 | 1)
 *
 * An id stands for one function of a script, by runtime, file, qualified name and first line.
 */
#ifndef STACKMAP_ABI_SCRIPT_H
#define STACKMAP_ABI_SCRIPT_H

#include "address_space.h"
#include "mapping.h"
#include "scalar.h"
#include "stack.h"

/* The last mapping number, which no file gets: arrays by mapping number have a place for it. */
#define MAPPING_SCRIPT (MAPPINGS_MAX - 1)
#define SCRIPT_PATH "[python]" /* stands for the file of these frames; one runtime so far */

/* Places 1 .. of a function; there is one so far. Frames behind the leaf are looked up a byte
 * before. */
#define SCRIPT_PLACE_BITS 16
#define SCRIPT_START(id) ((u64)(id) << SCRIPT_PLACE_BITS)
#define SCRIPT_ID(offset) ((u32)((offset) >> SCRIPT_PLACE_BITS))
#define FRAME_SCRIPT(id) FRAME_USER(MAPPING_SCRIPT, SCRIPT_START(id) | 1)
#define FRAME_IS_SCRIPT(frame) (!FRAME_IS_KERNEL(frame) && FRAME_MAPPING(frame) == MAPPING_SCRIPT)

#define SCRIPT_FRAME_WORDS 10 /* words of a script's frame that are read */
#define SCRIPT_CODE_WORDS 20  /* words of a code object that are read */

/* Offsets in a string object of CPython: of the number of its characters, of its hash (-1: not made
 * yet), and of its kind (bits 2 to 4 width of a character, 5 compact, 6 ASCII). */
#define SCRIPT_TEXT_LENGTH 16
#define SCRIPT_TEXT_HASH 24
#define SCRIPT_TEXT_STATE 32
#define SCRIPT_TEXT_TAIL 16 /* bytes at the end that tell strings without a hash apart */

enum script_runtime { SCRIPT_NONE, SCRIPT_CPYTHON };

/* Where the address of the innermost frame is. */
enum script_link {
	SCRIPT_LINK_NONE,
	SCRIPT_LINK_FRAME,  /* at CFA - link */
	SCRIPT_LINK_THREAD, /* in the thread's state, whose address lies at CFA - link */
	SCRIPT_LINK_TLS,    /* the same; it lies at the thread pointer - link, or is in the list */
	SCRIPT_LINK_LIST,   /* the same; it is in the list of the interpreter's threads */
	SCRIPT_LINK_COUNT,
};

/* Offsets are in bytes and, but for `entry_mark` and `first_line`, those of whole words. */
struct script_layout {
	u32 runtime; /* enum script_runtime */
	u32 version; /* CPython: Py_Version */
	u32 loop;    /* file offset of a byte of the loop */
	u32 link;    /* distance of the word that link_kind says; 0: no layout is known */
	s64 type;    /* address of the type of code objects, less that of the byte at `loop` */
	/* Offsets in a script's frame: */
	u8 frame_code;	   /* address of the code object */
	u8 frame_previous; /* address of the next frame further out */
	u8 entry_mark;	   /* a byte that marks the end of the loop's frames */
	u8 entry_value;	   /* the value of this byte there */
	u8 entry_is_frame; /* 1: the marked frame is a function's; 0: the frames end before it */
	u8 text_ascii;	   /* of characters in a string object without others than ASCII */
	u8 text_wide;	   /* the same with others */
	u8 link_kind;	   /* enum script_link */
	/* Offsets in a code object: */
	u8 code_type;
	u8 code_name; /* address of the qualified name */
	u8 code_file; /* address of the file's name */
	u8 code_lines;
	u8 first_line;	 /* 32 bits */
	u8 code_number;	 /* word with a number that no other code object has; 0: none */
	u8 code_tag;	 /* bits of the word that do not belong to the code object's address */
	u8 thread_frame; /* offset of the innermost frame's address in a thread's state */
	/* Offsets in a thread's state, of the next one and of the thread pointer: */
	u8 thread_next;
	u8 thread_id;
	u8 reserved[2];
	u32 threads;	 /* offset of the first thread's address in an interpreter's state */
	s64 interpreter; /* address of that state's address, less that of the byte at `loop` */
	u32 entry;	 /* the frame that ends the loop's frames lies at CFA - entry; 0: unknown */
	u32 reserved2;
};
ABI_SIZE(struct script_layout, 64);

/* A native frame of a loop that a walk has met. */
struct script_mark {
	u64 cfa;
	u64 pc;
	u64 place; /* the pc as a frame, without what FRAME_BEHIND_INTERRUPTED adds */
	u64 index; /* of the frame, from the innermost frame on, which is 0 */
};

#define SCRIPT_MARKS_MAX 64 /* a power of two; loops further out stay native */

struct script_marks {
	u32 count;
	u32 missed; /* loops that had no room */
	struct script_mark mark[SCRIPT_MARKS_MAX];
};

/*
 * A cache of ids: direct-mapped, written without a lock by any program. An entry is an id and a
 * seal over the id and its key, which is the code object as a process has it at the moment: the
 * address space, the address of the code object and the words that say which function it is. A
 * process may free a code object and make another one at its address. A version with a number in
 * each code object gives the two different numbers. The keys of other versions hold lengths, hashes
 * and last characters of the code object's strings, since the strings' addresses may be the same.
 */
#define SCRIPT_CACHE_BITS 16

struct cached_script {
	u64 seal; /* 0: empty */
	u64 id;
};

struct script_cache {
	struct cached_script entry[1U << SCRIPT_CACHE_BITS];
};

/*
 * A function of a script, by its id. Ids are the engine's and are never given out twice. Two
 * records with equal contents are one function: a program that meets a function looks for its
 * contents by their hash, compares them whole, and makes SCRIPT_TRIES_MAX tries before it gives up;
 * each hash that another function has costs one. The seed of the hash is secret, so that a program
 * cannot take the places of another one's functions.
 */
#define SCRIPTS_MAX (1U << 16) /* ids: 1 .. SCRIPTS_MAX - 1 */
#define SCRIPT_TRIES_MAX 5
#define SCRIPT_TEXT_BYTES 512 /* of a name; functions with longer names stay native */

struct script_text {
	u32 bytes;
	u32 width; /* bytes of a character: 1, 2 or 4; of Latin-1, UCS-2 or UCS-4 */
	u8 text[SCRIPT_TEXT_BYTES]; /* 0 behind `bytes` */
};

struct script_record {
	u32 runtime;
	u32 version;
	u32 first_line;
	u32 reserved;
	struct script_text name; /* qualified */
	struct script_text file;
};
ABI_SIZE(struct script_record, 16 + 2 * (8 + SCRIPT_TEXT_BYTES));

/* The search for the id of a record. */
struct script_search {
	u64 hash;    /* the next one to try */
	u64 differs; /* 0: `other` has the same contents */
	s64 id;	     /* < 0: another record has the hash */
	struct script_record record, other;
};

#define SCRIPT_THREADS_MAX 64  /* threads of an interpreter that are looked at */
#define SCRIPT_FRAMES_MAX 4096 /* words and frames that one walk looks at */

/* The memory of one walk over the loops of a stack (core/script_walk.h). */
struct script_walk {
	/* Input: */
	struct address_space space;
	u64 seed;	/* of the cache's seals */
	u32 max_depth;	/* frames, the leaf included */
	u32 leaf_apart; /* 1: the leaf of both stacks is their last word */

	/* Output: */
	u32 joined;    /* loops whose frames are in the stack */
	u32 unjoined;  /* loops that stay native: a check failed or memory was unreadable */
	u32 unknown;   /* loops that stay native: a function has no id yet */
	u32 is_native; /* 1: too many frames, so that the whole stack stays native */

	/* State of the walk: */
	struct script_layout layout; /* of the current loop */
	u64 type;		     /* address of the type of its code objects */
	u64 frame;		     /* address of the script's next frame; 0: not in a loop */
	u64 entry;  /* address of the frame that must end the loop's; 0: any entry does */
	u64 thread; /* address of the state that is compared with the thread; 0: none is */
	u32 threads_left;
	u32 reserved;
	u64 outer; /* address of the frame behind the last loop's frames; 0: unknown */
	u32 at;	   /* next frame of the native stack */
	u32 mark;  /* next mark */
	u32 depth; /* frames so far */
	u32 start; /* `depth` at the begin of the current loop */
	u32 depth_native;
	u32 is_done;
	u64 code;				/* address of the code object in code_word */
	u64 key;				/* its hash */
	u64 text_word[4];			/* of a string object */
	u64 frame_word[SCRIPT_FRAME_WORDS + 6]; /* 16: a mask bounds an index */
	u64 code_word[SCRIPT_CODE_WORDS + 12];	/* 32 */
};

#endif
