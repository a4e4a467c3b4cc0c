/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of scripts. An interpreter runs the functions of a script in a loop, which is one native
 * function. The native frame of a loop says where the innermost frame of the script lies that this
 * loop runs; the script's frames are linked outwards up to the frame with which the loop was
 * entered.
 *
 * CPython 3.13 and later keep the address of the frame with which the loop was entered in the
 * native frame, and not that of the innermost frame. In these versions the walk begins at the
 * innermost frame of the thread, for the innermost loop, and for each other loop at the frame after
 * the frames of the loop before. The frames that such a walk meets belong to the loop only if the
 * walk ends at the frame that the native frame holds.
 *
 * A layout says where these words lie. It is made from the interpreter's file
 * (lib/symbol/unwind/script_loop.h), and the file's unwind table marks the code of the loop in
 * which the words are valid (CFA_SCRIPT_LOOP).
 *
 * PHP keeps the address of the innermost frame and that of its instruction in two registers, which
 * the native walk restores for each loop as it restores a caller's registers. Ruby keeps the
 * address of the innermost frame in a register; its frames lie side by side. Perl keeps the address
 * of the interpreter in a register (struct perl_layout).
 *
 * In a stack the native frame of a loop is replaced by the script's frames:
 *
 *   FRAME_USER(MAPPING_SCRIPT(runtime), id << 16 | 1)
 *
 * An id stands for one function of a script, by runtime, file, qualified name and first line.
 */
#ifndef STACKMAP_ABI_SCRIPT_H
#define STACKMAP_ABI_SCRIPT_H

#include "mapping.h"
#include "scalar.h"
#include "stack.h"

/* The runtimes, and the names that stand for the file of their frames. X(ID, name). */
#define SCRIPT_RUNTIMES(X)                                                                         \
	X(CPYTHON, SCRIPT_NAME_CPYTHON)                                                            \
	X(PHP, SCRIPT_NAME_PHP)                                                                    \
	X(RUBY, SCRIPT_NAME_RUBY)                                                                  \
	X(JAVA, SCRIPT_NAME_JAVA)                                                                  \
	X(JAVA_COMPILED, SCRIPT_NAME_JAVA_COMPILED)                                                \
	X(V8, SCRIPT_NAME_V8)                                                                      \
	X(V8_COMPILED, SCRIPT_NAME_V8_COMPILED)                                                    \
	X(PERL, SCRIPT_NAME_PERL)                                                                  \
	X(JAVA_INLINED, SCRIPT_NAME_JAVA_INLINED)                                                  \
	X(V8_INLINED, SCRIPT_NAME_V8_INLINED)
#define SCRIPT_NAME_CPYTHON "[python]"
#define SCRIPT_NAME_PHP "[php]"
#define SCRIPT_NAME_RUBY "[ruby]"
#define SCRIPT_NAME_JAVA "[java]"
#define SCRIPT_NAME_JAVA_COMPILED "[java compiled]"
#define SCRIPT_NAME_V8 "[javascript]"
#define SCRIPT_NAME_V8_COMPILED "[javascript compiled]"
#define SCRIPT_NAME_PERL "[perl]"
#define SCRIPT_NAME_JAVA_INLINED "[java inlined]"
#define SCRIPT_NAME_V8_INLINED "[javascript inlined]"

#define X(id, name) ABI_ENUM_ENTRY(SCRIPT, id)
enum script_runtime { SCRIPT_NONE, SCRIPT_RUNTIMES(X) SCRIPT_RUNTIME_COUNT };
#undef X

/*
 * The mapping number of a runtime: one of the last numbers, which no file gets. Arrays by mapping
 * number have elements for these numbers, too.
 */
#define MAPPING_SCRIPT(runtime) (MAPPINGS_MAX - (runtime))
#define MAPPING_SCRIPT_FIRST MAPPING_SCRIPT(SCRIPT_RUNTIME_COUNT - 1)
#define MAPPING_IS_SCRIPT(number) ((number) >= MAPPING_SCRIPT_FIRST && (number) < MAPPINGS_MAX)

/* The runtime whose script frames have `path` as the name of their file; SCRIPT_NONE: `path` is not
 * the name of a runtime. */
static inline enum script_runtime script_runtime_by_name(const char *path)
{
#define X(id, name)                                                                                \
	if (!__builtin_strcmp(path, name))                                                         \
		return SCRIPT_##id;
	SCRIPT_RUNTIMES(X)
#undef X
	return SCRIPT_NONE;
}

/* The runtime's name, which a mapping number of script functions has in place of a path; NULL: the
 * number stands for a file. */
static inline const char *script_runtime_name_of_mapping(u32 number)
{
#define X(id, name)                                                                                \
	if (number == MAPPING_SCRIPT(SCRIPT_##id))                                                 \
		return name;
	SCRIPT_RUNTIMES(X)
#undef X
	return 0;
}

/*
 * The offset in a user frame of a script: the id of the function, and the number of a place in the
 * function. The only place number is 1, because frames after the leaf are looked up one byte before
 * their offset.
 */
#define SCRIPT_PLACE_BITS 16
#define SCRIPT_START(id) ((u64)(id) << SCRIPT_PLACE_BITS)
#define SCRIPT_ID(offset) ((u32)((offset) >> SCRIPT_PLACE_BITS))
#define FRAME_SCRIPT(runtime, id) FRAME_USER(MAPPING_SCRIPT(runtime), SCRIPT_START(id) | 1)
/*
 * In the stack of a virtual thread of Java: the frames that are in Java's heap, whose number is not
 * known (core/unwind/java_rule.c).
 */
#define FRAME_OMITTED_SOME FRAME_OMITTED(FRAME_OFFSET_MASK)
/*
 * The end of the offsets of id 0, which no function has. Symbols at these offsets name the
 * interpreters whose functions could not be read; the offset is the mapping number of the
 * interpreter's file.
 */
#define SCRIPT_UNREAD_END SCRIPT_START(1)

#define SCRIPT_FRAME_WORDS 10 /* number of words of a script's frame that are read */
/*
 * Indices of two more words, which are stored after the words of the frame: the word at the address
 * that the frame holds at entry_from; and the address frame + frame_bytes, at which the frame
 * further out lies if frames lie side by side.
 */
#define SCRIPT_WORD_APART SCRIPT_FRAME_WORDS
#define SCRIPT_WORD_BEHIND (SCRIPT_FRAME_WORDS + 1)
#define SCRIPT_OTHER_PLACES 3
#define SCRIPT_CODE_WORDS 24 /* number of words of a code object that are read */

/* Kinds of string objects, and the words of the object that are read. */
enum script_text_kind {
	SCRIPT_TEXT_CPYTHON, /* from byte 16 on: number of characters, hash, kind of characters */
	SCRIPT_TEXT_PHP,     /* from byte 8 on: hash, number of bytes */
	SCRIPT_TEXT_RUBY,    /* from byte 0 on: flags, class, number of bytes, address */
	SCRIPT_TEXT_JAVA,    /* from byte 0 on: 16 bits each of references, of a random number and
			      * of the number of bytes; then the characters */
	SCRIPT_TEXT_COUNT,
};

/* Offset in a string object of the first byte that is read. */
#define SCRIPT_TEXT_FROM(kind) ((kind) < SCRIPT_TEXT_RUBY ? 16 - 8 * (u64)(kind) : 0)
#define SCRIPT_TEXT_WORDS 4 /* number of words of a string object that are read */
#define JAVA_TEXT_BYTES(word) ((word) >> 32 & 0xffff)
#define JAVA_TEXT_FROM 6
/*
 * Number of words that are read at the start of a method's constant part, and of a pool of
 * constants, whose length lies in the ninth word in OpenJDK 25.0.5; and the room for them, a
 * power of two.
 */
#define JAVA_WORDS 9
#define JAVA_WORDS_ROOM 16

/*
 * In CPython's word with the kind of characters: bits 2 to 4 width of a character, bit 5 compact,
 * bit 6 ASCII.
 */
/*
 * In the flags of a Ruby object: bits 0 to 4 kind of object; bit 13: the characters are not in the
 * object.
 */
#define RUBY_KIND(flags) ((flags)&31)
#define RUBY_KIND_STRING 5
/* the word 16 bytes after the array's address is the first element */
#define RUBY_KIND_ARRAY 7
#define RUBY_IS_APART(flags) ((flags) >> 13 & 1)
/* number of bytes at the end of a string that tell strings without a hash apart */
#define SCRIPT_TEXT_TAIL 16

/* Where a layout finds the address of a loop's innermost script frame. */
enum script_link {
	SCRIPT_LINK_NONE, /* not known: the offsets of the interpreter's version are not known */
	/*
	 * Not known: the offsets of the interpreter's version are known, but the code of this
	 * build is not understood.
	 */
	SCRIPT_LINK_UNREAD,
	SCRIPT_LINK_FRAME,  /* the address is at CFA - link */
	SCRIPT_LINK_THREAD, /* the address is in the thread's state, whose address lies at CFA -
			       link */
	/*
	 * The address is in the thread's state, whose address lies at the thread pointer - link,
	 * or is in the list of threads.
	 */
	SCRIPT_LINK_TLS,
	/*
	 * The address is in the thread's state, whose address is in the interpreter's list of
	 * threads. The `link - entry` bytes before `loop` run when a frame is linked whose caller
	 * is not known yet.
	 */
	SCRIPT_LINK_LIST,
	SCRIPT_LINK_REGISTER, /* the address is in the register that the rule's operand names */
	SCRIPT_LINK_COUNT,
};

/*
 * The layout of OpenJDK's virtual machine (HotSpot): the places of the data that unwinding through
 * generated code needs (core/unwind/java_rule.c). HotSpot's functions are native frames of
 * generated code, not frames of an interpreter loop: SCRIPT_JAVA stands for those of its
 * interpreter, SCRIPT_JAVA_COMPILED for those of its compilers. Each replaces one native
 * frame. Frames of SCRIPT_JAVA_INLINED are additional: they stand for functions that a compiler has
 * put into the function of the next SCRIPT_JAVA_COMPILED. The layout shares its bytes with the
 * layout of a script, and `link` is 0.
 */

/* How numbers of variable length are stored in descriptions of compiled code (scopes). */
enum java_numbers {
	JAVA_NUMBERS_UNKNOWN,
	JAVA_NUMBERS_FROM_0, /* OpenJDK 17: the digits are bytes */
	JAVA_NUMBERS_FROM_1, /* OpenJDK 21 and 25: the digits are bytes less 1; no byte is 0 */
};

/* The description of an address in compiled code (PcDesc). */
struct java_place {
	s32 distance; /* distance of the address from the code's first byte */
	u32 scope;    /* distance of the scope in the block's scopes; 0: none */
	u32 reserved[2];
};
ABI_SIZE(struct java_place, 16);

struct java_layout {
	/* Addresses in libjvm's file: */
	u32 code_bias;	 /* address of a byte of code, less the byte's offset in the file */
	u32 heaps;	 /* word with the address of the array of code heaps */
	u32 interpreter; /* word with the address of the interpreter's queue of code */
	u32 call_return; /* word with the return address of a stack's first Java function */
	/* Offsets in a code heap; the first two are of address ranges: */
	u16 heap_memory;
	u16 heap_segments; /* a byte for each segment: distance to the first segment of its block */
	u16 heap_shift;	   /* binary logarithm of the bytes of a segment, 32 bits */
	u16 class_pool;	   /* in a class: address of its pool of constants */
	u8 space_low, space_high; /* in an address range: its first address, and its end */
	/* in the array of code heaps: number of elements, 32 bits; address of the elements */
	u8 array_count, array_data;
	/* in the interpreter's queue of code (StubQueue): address of the code; bytes of the code,
	 * 32 bits */
	u8 queue_start, queue_bytes;
	/* in a block's header: a byte that says that the block is used; length of the header */
	u8 block_used, block_bytes;
	u8 blob_code; /* in the object of a block: address of the block's code, or its distance */
	/*
	 * in the object of a block: words of the code's frames, the return address included; 32
	 * bits
	 */
	u8 blob_frame;
	/*
	 * in the object of a block: offset in the code of the first instruction with a complete
	 * frame
	 */
	u8 blob_complete;
	/* 1: the word at blob_code is a distance of 32 bits, that at blob_complete has 16 bits */
	u8 blob_is_short : 4;
	u8 scope_numbers : 4; /* enum java_numbers; JAVA_NUMBERS_UNKNOWN: see below */
	u8 method_const;      /* in a method (Method): address of its constant part (ConstMethod) */
	u8 const_count;	      /* in the constant part: length of the method's bytecode, 16 bits */
	/* in the constant part: length of the constant part; the bytecode follows it */
	u8 const_bytes;
	/*
	 * in a method: address of the interpreter's code that its calls enter; 0: unknown. If
	 * known, a codelet of the interpreter begins with the address of its name, and at byte 8
	 * has its length, 32 bits
	 */
	u8 method_entry;
	u8 has_names;	/* 1: the members below are known, and texts are SCRIPT_TEXT_JAVA */
	u8 const_pool;	/* in a method's constant part: address of the pool of constants */
	u8 const_name;	/* in the constant part: number of the method's name in the pool, 16 bits */
	u8 pool_tags;	/* in a pool: address of an array with a byte for each constant */
	u8 pool_class;	/* in a pool: address of the class */
	u8 pool_file;	/* in a pool: number of the name of the source file, 16 bits; 0: none */
	u8 pool_count;	/* in a pool: number of constants, 32 bits */
	u8 pool_bytes;	/* length of the pool without its constants, which follow it */
	u8 tags_data;	/* in the array at pool_tags: its bytes */
	u8 class_name;	/* in a class: address of its name */
	u8 blob_name;	/* in the object of a block: address of the name of its kind */
	u8 blob_method; /* in the object of a block with a method's code: address of the method */
	/*
	 * The members that lead to functions which a compiler has put into a method (inlined
	 * functions). Some are in units of 4 bytes. scope_numbers says whether they are known.
	 */
	u8 scope_data; /* in the object of a block: address of the scopes */
	/*
	 * in the object of a block, / 4: two distances of 32 bits, of the first described address
	 * and of the end of all described addresses. They count from the object; if scope_apart is
	 * not 0, from the address at scope_data, where the scopes begin at the second distance
	 */
	u8 scope_places;
	/* in the object of a block, / 4: distance, 32 bits, of the array with addresses of methods
	 */
	u8 scope_methods;
	/*
	 * in the object of a block: the address that the distance at scope_methods counts from; 0:
	 * the distance counts from the object
	 */
	u8 scope_apart;
};
ABI_SIZE(struct java_layout, 56);

/*
 * The layout of V8's objects (core/unwind/v8_name.c), which are found from native frames as those
 * of Java: SCRIPT_V8 stands for functions that its interpreter runs, SCRIPT_V8_COMPILED for those
 * of its compilers, SCRIPT_V8_INLINED for functions that the optimizing compiler has put into one
 * of those (core/unwind/v8_inlined.c). `link` is 0. Offsets count from the begin of an object; a
 * word that holds an object's address is this address plus 1.
 */
#define V8_SHARED_WORDS 5 /* number of words of a shared object that are read */
#define V8_OPCODES_MAX 40 /* most opcodes of a layout */
#define V8_OPERANDS_MAX 5 /* most operands of an instruction */
#define V8_CODE_HEADER                                                                             \
	128 /* bytes in front of instructions that lie in the description of code                  \
	     */

struct v8_layout {
	/* Types of objects: */
	u16 function;	    /* the first type of functions */
	u16 shared;	    /* type of shared objects: what all closures of a function share */
	u16 scope;	    /* type of scopes: the description of a function's variables */
	u16 script;	    /* type of scripts: the source files */
	u16 bytecode;	    /* type of a function's code for the interpreter */
	u16 context;	    /* the first type of contexts */
	u16 context_end;    /* the number after the last type of contexts */
	u8 function_shared; /* in a function: its shared object */
	u8 shared_name;	    /* in a shared object: the function's name as a string, or the scope */
	u8 shared_script;   /* in a shared object: the source file */
	u8 has_names;	    /* 1: all members above are known */
	/* Functions that the optimizing compiler has put into others: */
	u16 code;	  /* type of descriptions of code */
	u16 deopt;	  /* type of the array that describes the calls of optimized code */
	u8 function_code; /* in a function: the description of its code */
	u8 code_deopt;	  /* in a description of code: the array that describes the calls */
	/* address of the first instruction; 0: instructions follow the V8_CODE_HEADER */
	u8 code_start;
	u8 code_bytes; /* number of bytes of the instructions, 32 bits */
	u8 code_kind;  /* the kind of code that the optimizing compiler makes */
	/* number of opcodes in lists of frames; 0: no member for inlined functions is known */
	u8 opcodes;
	u8 opcode_sign; /* 1: opcodes have a sign bit, and no list refers to another one */
	/*
	 * the first and the last opcode that begins a list of frames; the first and the last opcode
	 * that stands for a frame of the interpreter
	 */
	u8 begin, begin_last, frame, frame_last;
	u8 operands[V8_OPCODES_MAX / 2]; /* numbers of operands, two opcodes a byte */
	u8 reserved;
};
ABI_SIZE(struct v8_layout, 54);

/*
 * The layout of Perl (core/perl_walk.c). One run of Perl's loop runs many functions of the script,
 * and the native frame of the loop holds the address of the interpreter only. `link` is 0.
 */
enum perl_caller {		  /* functions of the file that run the loop */
		   PERL_RUN,	  /* perl_run(): the program outside of functions */
		   PERL_CALL,	  /* call_sv(): one function that C code calls */
		   PERL_OPERATOR, /* amagic_call(): the function of an overloaded operator */
		   PERL_EVALUATE, /* eval_sv(): code in a string */
		   /* docatch(): the code that the loop further out was about to run */
		   PERL_CATCH,
		   PERL_CALLERS,
};

struct perl_layout {
	u32 caller[PERL_CALLERS]; /* file offset of the function; 0: the file does not have it */
	u16 caller_bytes[PERL_CALLERS]; /* length of the function in bytes */
	u16 stacks;			/* in an interpreter: address of the current stack */
	/* in an interpreter: address of the name of the program's file */
	u16 program;
	/* number of the first of Perl's two operations that begin a statement */
	u16 statement;
	u16 sort;     /* number of Perl's operation `sort` */
	u8 has_names; /* always 1: the names of functions are known */
};
ABI_SIZE(struct perl_layout, 40);

/* The offsets are in bytes. All but `entry_mark` and `first_line` are offsets of whole words. */
struct script_layout {
	u32 runtime; /* enum script_runtime */
	/*
	 * version of the interpreter. CPython: Py_Version; PHP: number of its module interface, a
	 * date; Ruby and Perl: 3.2.1 is 0x030201
	 */
	u32 version;
	u32 loop; /* file offset of a byte in the code of the loop */
	/* distance of the word that link_kind names (enum script_link); 0: no layout is known */
	u32 link;
	union {
		struct {
			/*
			 * Address of the type of code objects, less the address of the byte at
			 * `loop`. In versions whose code objects have no type: the address, less
			 * the same, of the first of SCRIPT_OTHER_PLACES instructions at which a
			 * frame of any function may be
			 */
			s64 type;
			/* Offsets in a script's frame: */
			u8 frame_code;	   /* address of the code object */
			u8 frame_previous; /* address of the next frame further out */
			u8 entry_mark;	   /* a byte that marks the end of the loop's frames */
			/*
			 * value of the bits entry_mask in the byte at entry_mark, in the frame at
			 * which the loop's frames end
			 */
			u8 entry_value;
			u8 entry_is_frame; /* 1: the marked frame runs a function of the script; 0:
					      the frames end before it */
			/*
			 * offset of the characters in a string object that has only ASCII
			 * characters
			 */
			u8 text_ascii;
			/*
			 * offset of the characters in other string objects; Ruby: first bit, in the
			 * flags, of the number of bytes in the object, 0: a word has it
			 */
			u8 text_wide;
			u8 link_kind; /* enum script_link */
			/* Offsets in a code object: */
			u8 code_type;
			u8 code_name; /* address of the qualified name */
			u8 code_file; /* address of the file's name */
			u8 code_lines;
			u8 first_line; /* first line of the function, 32 bits */
			/* offset of a number that no other code object has; 0: none */
			u8 code_number;
			/* bits that do not belong to the address, in the word at frame_code */
			u8 code_tag;
			u8 thread_frame; /* offset of the innermost frame's address in a thread's
					    state */
			/*
			 * Offsets in a thread's state: of the address of the next thread's state,
			 * and of the thread pointer:
			 */
			u8 thread_next;
			u8 thread_id;
			/* The members of versions whose code objects have no type: */
			/* in a frame: address of the current instruction of the function */
			u8 frame_place;
			u8 code_unit; /* bytes of an instruction; 0: code objects have a type */
			u32 threads;  /* offset of the first thread's address in an interpreter's
					 state */
			/*
			 * address of the word with the interpreter's state's address, less the
			 * address of the byte at `loop`
			 */
			s64 interpreter;
			u32 entry; /* the frame that ends the loop's frames lies at CFA - entry; 0:
				      unknown */
			u8 entry_mask;
			/*
			 * number of the function's instructions, 32 bits; the instructions begin at
			 * code_lines
			 */
			u8 code_count;
			u8 code_copied; /* 1: a function may have many code objects, with equal
					   words */
			u8 code_owner;	/* address of the class that a method belongs to; 0: names
					   are qualified */
			u8 owner_name;	/* in a class: address of its name */
			u8 text_kind;	/* enum script_text_kind */
			/* distance from a frame to the address in SCRIPT_WORD_BEHIND */
			u8 frame_bytes;
			u8 entry_from; /* in a frame: address of the word in SCRIPT_WORD_APART; 0:
					  none is read */
			/*
			 * in the object at frame_code: address of the code object; 0: that object
			 * is the code object
			 */
			u8 code_body;
			/*
			 * 1: the innermost frame holds the address of its instruction, as the other
			 * frames do
			 */
			u8 place_kept;
			/* number of bits below the line number in the word at first_line */
			u8 line_shift;
			/*
			 * 1: the instruction's address may be directly after the last instruction,
			 * too
			 */
			u8 code_end;
		};
		struct java_layout java; /* SCRIPT_JAVA */
		struct v8_layout v8;	 /* SCRIPT_V8 */
		struct perl_layout perl; /* SCRIPT_PERL */
	};
};
ABI_SIZE(struct script_layout, 72);

/* A native frame of a loop that a walk has met. */
struct script_mark {
	u64 cfa;
	u64 pc;
	u64 place; /* the pc as a frame, without what FRAME_BEHIND_INTERRUPTED adds */
	u64 index; /* number of the frame in the stack, from the innermost frame on, which is 0 */
	/*
	 * values of the registers RULE_LOOP_FRAME() and RULE_LOOP_PLACE() of the rule; 0: not known
	 */
	u64 frame;
	u64 code_place;
};

/* most loops of a stack that are noted; a power of two. Loops further out stay native */
#define SCRIPT_MARKS_MAX 64

struct script_marks {
	u32 count;
	u32 missed; /* number of loops for which `mark` had no room */
	struct script_mark mark[SCRIPT_MARKS_MAX];
};

/*
 * A cache of ids: direct-mapped, written without a lock by any program. An entry is an id and a
 * seal over the id and its key, which is the code object as a process has it at the moment: the
 * address space, the address of the code object and the words that say which function it is. A
 * process may free a code object and make another one at its address. If the version numbers its
 * code objects, the number is in the key. If not, lengths, hashes and last characters of the code
 * object's strings are in the key, since the new strings may lie at the addresses of the freed
 * ones, too.
 */
#define SCRIPT_CACHE_BITS 16

struct cached_script {
	u64 seal; /* 0: empty */
	u64 id;
};

/*
 * The functions of a process that were new to the engine. A process gets a new id only while it has
 * fewer than SCRIPT_QUOTA() of the ids that are left, so that a program which makes functions
 * without end leaves ids to other programs. Two processes may have the same element of the table;
 * the later process then replaces the former one.
 */
#define SCRIPT_QUOTA_BITS 10
#define SCRIPT_QUOTA(ids_left) ((ids_left) / 4)

struct script_quota {
	u64 owner; /* hash of the address space of the process that has this quota */
	u64 count;
};

struct script_cache {
	struct cached_script entry[1U << SCRIPT_CACHE_BITS];
	struct script_quota quota[1U << SCRIPT_QUOTA_BITS];
};

/*
 * A function of a script, by its id. Ids are the engine's and are never given out twice. Two
 * records with equal contents are one function: a program that meets a function looks for its
 * contents by their hash, compares them whole, and makes SCRIPT_TRIES_MAX tries before it gives up;
 * each hash that another function has already costs one try. The seed of the hash is secret, so
 * that no program can occupy the hashes of another program's functions.
 */
#define SCRIPTS_MAX (1U << 16) /* number of script functions; ids are 1 .. SCRIPTS_MAX - 1 */
#define SCRIPT_TRIES_MAX 5
#define SCRIPT_TEXT_BYTES 512 /* most bytes of a name; functions with longer names stay native */

struct script_text {
	u32 bytes;
	u32 width; /* bytes of a character: 1, 2 or 4, in Latin-1, UCS-2 or UCS-4. 0: UTF-8 */
	u8 text[SCRIPT_TEXT_BYTES]; /* the bytes after the first `bytes` bytes are 0 */
};

struct script_record {
	u32 runtime;
	u32 version;
	u32 first_line;
	u32 reserved;
	/*
	 * name of the function, qualified unless `owner` has the class; empty: the code of the file
	 * outside of functions
	 */
	struct script_text name;
	struct script_text file;
	struct script_text owner; /* class of a method; empty: none */
};
ABI_SIZE(struct script_record, 16 + 3 * (8 + SCRIPT_TEXT_BYTES));

/* The search for the id of a record. */
struct script_search {
	u64 hash;    /* the hash that is tried next */
	u64 differs; /* not 0: `other` differs from `record` */
	s64 id; /* id of the record; 0: none yet; -ENOMEM: no memory; < 0: another record has the
		   hash */
	/* Set if a function of the stack has no id for a reason that may be gone in the callback:
	 */
	u32 lacks_memory; /* 1: a map had no memory at hand; the kernel brings more once interrupts
			     are enabled again */
	u32 name_bytes;	  /* length of the name whose page is not in the task's memory; 0: none */
	u64 name;	  /* address of the name */
	struct script_record record, other;
};

#define SCRIPT_THREADS_MAX 64 /* most threads of an interpreter that are looked at */
/* most steps of one walk: native frames, threads and script frames */
#define SCRIPT_FRAMES_MAX 4096

/* A place in the contexts of an interpreter of Perl, from the innermost one on. */
struct perl_place {
	u64 stack;    /* address of the description of a stack; 0: all contexts were passed */
	u64 next;     /* address of the description of the stack further out; 0: none */
	u64 contexts; /* address of the stack's first context */
	s64 index;    /* index of the next function's context in the stack; < 0: none is left */
	u32 kind;     /* kind of the stack that the place is in */
	u32 depth;    /* number of frames in the resulting stack before the place */
};

struct perl_text {
	u64 address; /* address of the first character; 0: no text */
	u64 bytes;
};

/* The state of perl_walk.c. */
struct perl_walk {
	struct perl_layout layout;
	struct perl_place place;
	struct perl_place
		kept; /* end of the current loop's frames if no further frame belongs to the loop */
	u64 interpreter;  /* address of the interpreter */
	u64 inner, outer; /* CFA of the current loop, and of the next one further out */
	u64 operation; /* number of the interpreter's current operation; 0: a loop has just ended */
	/*
	 * the innermost function of the stack: its code, its CONTEXT_CALLS and the address of its
	 * context
	 */
	u64 first_code;
	u64 first_calls;
	u64 first_context;
	u64 context; /* address of the current context */
	/* the function that was read last: its code, the number of its running calls, and its id */
	u64 last_code;
	s64 last_calls;
	u64 last_id;
	u32 version;
	u32 loop;      /* enum perl_loop: the kind of the current loop */
	u32 last_loop; /* the kind of the loop before */
	u32 passed;    /* number of functions of the current loop so far */
	u32 loops;     /* number of loops so far */
	u32 is_caught; /* 1: an evaluation began in the frame of docatch() */
	/* 1: the loop of docatch(), which lies further in, runs the functions of the next loop */
	u32 is_taken;
	u32 is_unnamed;	 /* 1: a function of the current loop has no id */
	u32 is_complete; /* 1: the native stack has all loops */
	u32 first_line;
	struct perl_text name, owner, file;
	u64 start; /* address of the last function's first operation */
};

/* The memory of one walk over the loops of a stack (core/script_walk.h). */
struct script_walk {
	/* Input: */
	struct address_space space;
	u64 seed;      /* start value of the hashes in seals and keys of the cache */
	u32 max_depth; /* most frames, the leaf included */
	/*
	 * 1: the leaf of the native stack, and of the resulting stack, is the last word of its
	 * array
	 */
	u32 leaf_apart;

	/* Output: */
	u32 joined; /* number of loops whose script frames are in the stack */
	/* number of loops that stay native: a check failed or memory was unreadable */
	u32 unjoined;
	u32 unknown;   /* number of loops that stay native: a function has no id yet */
	u32 is_native; /* 1: the whole stack stays native: too many frames, or code that runs before
			* a frame is filled */

	/* State of the walk: */
	struct script_layout layout; /* layout of the current loop */
	u64 type;		     /* run time address that corresponds to layout.type */
	u64 frame; /* address of the script frame that is read next; 0: not in a loop */
	u64 place; /* address of the current instruction of `frame`; 0: the frame itself holds this
		      address */
	/* address of the script frame that must end the loop's frames; 0: any entry frame does */
	u64 entry;
	/* address of the thread's state that is compared with the current thread; 0: none */
	u64 thread;
	u32 threads_left;
	u32 end;   /* enum script_end of the current step */
	u64 outer; /* address of the script frame after the last loop's frames; 0: unknown */
	u32 at;	   /* index of the native frame that is read next */
	u32 mark;  /* index of the next loop in the list of loops (struct script_marks) */
	u32 depth; /* number of frames so far */
	u32 start; /* `depth` at the begin of the current loop */
	u32 depth_native;
	u32 is_done;
	u64 code;			  /* address of the code object in code_word */
	u64 key;			  /* cache key of the code object */
	u64 text_word[SCRIPT_TEXT_WORDS]; /* words of a string object */
	u64 text_hash;			  /* hash of the string in text_word */
	u64 text_from;			  /* address of the string's characters */
	u64 text_bytes;			  /* bytes of all characters of the string */
	u32 text_width;			  /* bytes of a character, as in struct script_text */
	u32 text_has_hash;
	u64 owner; /* address of the name of a method's class */
	/* words of the script frame that was read; 16 words, so that a mask bounds an index */
	u64 frame_word[SCRIPT_FRAME_WORDS + 6];
	/* words of the code object that was read; 32 words, so that a mask bounds an index */
	u64 code_word[SCRIPT_CODE_WORDS + 12];
	struct perl_walk perl;
};

#endif
