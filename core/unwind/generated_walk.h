/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a walk in code that Java's virtual machine and V8 have generated: the layouts of
 * their objects, the current frame's function, and the functions inlined into this function. struct
 * unwind has one of each.
 */
#ifndef CORE_GENERATED_WALK_H
#define CORE_GENERATED_WALK_H

#include "rule.h"
#include "scalar.h"
#include "script.h"

#define JAVA_CHAIN_MAX 32 /* most functions of a frame of Java; a power of two */

/* The state of java_rule.c. */
struct java_walk {
	u32 tries; /* number of searches for the virtual machine on this stack */
	u32 is_found, is_open;
	struct java_layout layout;
	u64 base; /* load address of libjvm, less the file's own address */
	u64 interpreter, interpreter_bytes;
	u64 call_return;
	u64 heaps; /* address of the array with the addresses of the heaps */
	u32 heap_count;
	u32 shift;
	/* bounds of the heap that the pc lies in, and its map of segments */
	u64 low, high, segments;
	u64 segment; /* number of the current segment in the search */
	u64 code;    /* the address whose block is searched for */
	u64 kind[3]; /* the first characters of the name of a block */
	/* address of the name of the current frame's block, 0: unknown, or the block is a method's
	 * code; first characters of the block's name */
	u64 own_name, own_kind;
	u32 is_thrower; /* 1: the block is the stub that looks for the handler of an exception */
	/* places in the code that enters a method: the return address leaves the stack, and returns
	 */
	u32 popped, pushed;
	struct unwind_rule rule; /* the proposed rule of the current frame */
	u32 proof;		 /* enum java_proof: what the frame's return address must be */
	u64 return_at;		 /* where the return address is; 0: in `word` */
	u64 callee;		 /* the method that a frame of the interpreter runs or enters */
	u64 blob, block_bytes;
	u64 barrier;	/* the return barrier of a virtual thread; 0: not met on this stack */
	u32 is_omitted; /* 1: the current frame stands for frames in Java's heap */
	u64 word, other;
	u64 sender; /* the caller's rsp */
	u64 method; /* address of the current frame's method; 0: unknown */
	u32 is_compiled;
	u32 waits;     /* 1: a missing page of the words that lead to a name is waited for */
	u64 constants; /* address of the constant part (ConstMethod) of the method */
	u64 pool, tags, holder;
	/* addresses of the texts of the name and the source file; `file` may be 0 */
	u64 name, file;
	u64 words_read[JAVA_WORDS_ROOM]; /* words of the constant part, or of the pool of constants
					  */
	/* the last method that was named on this stack, and its id; 0: none */
	u64 last_method, last_id;
	u32 half;
	u16 complete;
	u8 byte;
	u8 has_heap, has_block;
	u8 slot;   /* place of the saved rbp below the CFA, in words */
	u32 words; /* size of the frame: words from rsp to the CFA */
	u32 end;
	/*
	 * The functions of the current frame: `inlined` functions that the compiler has put into
	 * the last one, innermost first, and the last one itself. The embedder replaces the
	 * addresses of their methods by their ids.
	 */
	u32 inlined;
	u64 chain[JAVA_CHAIN_MAX];
	u64 scopes;		   /* address of the scopes of the block's code */
	u64 places;		   /* address of the descriptions of the code's addresses */
	u64 methods;		   /* address of the array with the addresses of methods */
	s64 distance;		   /* distance of the pc from the first byte of the code */
	u32 place_from, place_end; /* range of the descriptions that are still to be searched */
	struct java_place place;   /* the description that was read last */
	u32 scope;		   /* distance of the current scope; 0: no scope is left */
	u32 is_unnamed;		   /* 1: a function in `chain` has no id */
	u64 numbers[2];		   /* the first numbers of a scope */
	u32 numbers_at;		   /* byte in `numbers` of the next number */
};

#define V8_MAPS 8	 /* number of object types that a walk remembers; a power of two */
#define V8_TEXT_PARTS 16 /* most parts of a string that are still to be read; a power of two */
#define V8_WORDS 8

/* A text that was read; a part of a string is read after its other parts. */
struct v8_text {
	u32 bytes, width; /* number of bytes, and bytes per character, as in struct script_text */
	u8 text[2 * SCRIPT_TEXT_BYTES];
};

#define V8_INLINED_MAX 16 /* most functions of one frame; a power of two */
#define V8_LIST_WINDOW 128
#define V8_STEPS_MAX 16384 /* most instructions of lists of frames that a walk reads */

/*
 * The state of v8_inlined.c. The list of frames is a sequence of bytes, whose positions count from
 * its first byte.
 */
struct v8_inlined {
	u32 count;  /* number of functions that are known of the current frame */
	u32 left;   /* number of functions further out that get frames after the last one */
	u64 native; /* the frame of the machine code that runs the functions */
	u64 shared[V8_INLINED_MAX]; /* shared objects of the functions, outermost first */
	u64 data;		    /* the array that describes the calls of the code */
	u32 low, high;		    /* the calls, by number, that may be the current one */
	u32 pc;			    /* distance of the current pc from the first instruction */
	u32 is_found;		    /* 1: the current call is described */
	u64 literals;		    /* the array of objects that lists of frames name by number */
	u32 literal_count;
	u32 frames; /* number of frames in the list that are still to be read */
	u64 list;   /* address of the first byte of all lists */
	u32 list_bytes;
	u32 at;	     /* position of the next instruction */
	u32 back;    /* position in the earlier list that the current list refers to */
	u32 behind;  /* number of instructions that were read at `at` since `back` was used: as many
		      are skipped when `back` is used next */
	u32 skipped; /* number of instructions that are still to be skipped at `back` */
	u32 matched; /* number of instructions that are still to be read at `back` */
	u32 steps_left;
	u32 opcode;
	u32 operand[V8_OPERANDS_MAX];
	u32 window_at; /* position of the first byte of `window` */
	u64 head[13];  /* first words of `data` */
	u8 window[V8_LIST_WINDOW];
};

/* A frame that was read before. Equal words of a later frame lead to the same function. */
#define V8_KNOWN 8 /* a power of two */
struct v8_known {
	u64 bytecode, function, context; /* words of the frame; bytecode is 0 in compiled code */
	u64 object, shared;		 /* the function and its shared object */
};

/* The state of v8_name.c. */
struct v8_walk {
	u32 tries, is_found; /* number of searches for V8 on this stack; 1: it is found */
	u32 has_names;	     /* 1: a frame of this stack has the name of a function */
	struct v8_layout layout;
	u64 seed;			 /* start value of `hash` */
	u64 map[V8_MAPS], type[V8_MAPS]; /* maps, and the types of the objects that have them */
	u64 word[V8_WORDS];
	u64 part[V8_TEXT_PARTS]; /* strings that are still to be read, the next one last */
	u32 parts;
	u32 is_compiled; /* 1: compiled code of V8 runs the current frame */
	u32 is_own;	 /* 1: the current frame's code may be V8's own */
	u32 is_bad;	 /* 1: a string could not be read */
	u16 half;
	/* tagged addresses of objects of the current frame's function */
	u64 shared, script, name;
	u64 function; /* tagged address of the current frame's function */
	u64 object;   /* tagged address of the object that was read last (v8_object_read()) */
	u64 hash;     /* hash of the function's name and file */
	u64 name_of_file;
	u64 file_script, file_hash; /* the script whose name is in text[1], and its hash */
	/* 1: the words of the current frame prove that rbp is a frame pointer; 1: they were read */
	u32 is_proven, is_tried;
	u64 last_pc; /* pc of the last frame with is_proven; 0: no such frame. The same pc is
			tried again without a rule */
	struct v8_known known[V8_KNOWN];
	u64 named[V8_KNOWN], id[V8_KNOWN]; /* shared objects of functions, and the functions' ids */
	/* index in `text` of the string that is being read: 1 for the file, 0 for the function */
	u32 reading;
	struct v8_text text[2]; /* name of the function, and of the file */
	struct v8_inlined inlined;
};

#endif
