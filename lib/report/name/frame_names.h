/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the frames of a recording are called. Each distinct frame is looked up and demangled once.
 * Its label is the name for reports, where all frames of a function are one:
 *
 *   FUNCTION               if a symbol covers it
 *   FILE+0xSTART..0xEND    user code without a symbol: the bounds of its function
 *   FILE+0xOFFSET          not even these are known
 *   0xADDRESS              kernel or JIT code without a symbol
 *   [unknown]              nothing is known: the mapping could not be read
 *
 * In front of the names of a frame that was guessed stands "? ".
 *
 * A label also knows the object that its code is in: functions of one name in two files are two.
 * Equal labels have equal ids, so label ids can stand for both when stacks are compared.
 */
#ifndef LIB_REPORT_FRAME_NAMES_H
#define LIB_REPORT_FRAME_NAMES_H

#include "trace/read/reader.h"

struct debug_lookup;
struct kernel_names;

/* How frames get their names. All zero: demangled, by the symbols of the recording. */
struct frame_naming {
	bool mangled;		     /* as in the symbol table */
	struct debug_lookup *debug;  /* says what was inlined and lines of source; or NULL */
	bool no_inline;		     /* a frame is one function, whatever was inlined */
	bool fold_recursion;	     /* labels that repeat on a stack stand there once */
	struct kernel_names *kernel; /* for addresses without a symbol in the recording; or NULL */
	bool many_boots; /* `kernel` is of one of them: a recording must show that it is its own */

	/* Told where `kernel` is not used for a recording, and why; or NULL. */
	void (*note)(void *arg, const struct trace_info *info, const char *why);
	void *arg;
	/* Told of a recording that ends before its symbols, if `kernel` names its kernel frames
	 * neither; or NULL. */
	void (*unfinished)(const struct trace_info *info);
	/* Called by frame_names_free() if names could not be demangled: how many, and the reason
	 * for the first one ("it takes too long to read"); or NULL. */
	void (*undemangled)(u64 count, const char *why);
};

struct frame_names;

#define FRAME_OMITTED_NAME "[frames omitted]" /* the address of such a frame is their number */
#define FRAME_GUESSED_MARK "? "		      /* begins the names of a guessed frame */
#define FRAME_INLINED_MARK " (inlined)"	      /* ends the label of an inlined function */

/* One of the functions that the code of a frame belongs to: it was inlined, or it is the function
 * that was called. */
struct frame_function {
	const char *name; /* NULL without a symbol */
	u32 label;	  /* of inlined ones NAME and FRAME_INLINED_MARK */
	bool inlined;
	const char *file; /* of source; NULL: not known */
	u32 line;	  /* 0: not known */
};

struct frame_name {
	u64 frame;
	bool return_address;
	const char *function; /* NULL without a symbol */
	u64 offset;	      /* of the frame from the function's start, be it named or not */
	u64 size;	      /* of the function; 0: not known, and no offset either */
	const char *object;   /* path of the file, "[kernel.kallsyms]", "[MODULE]", "[unknown]" */
	u64 address;	      /* kernel or JIT: the address; else the offset in the file */
	u32 label;
	u32 function_count;			/* > 0 */
	const struct frame_function *functions; /* innermost first, only the last was not inlined */
	u32 chain;				/* their labels: equal lists have equal ids */
};

/* The reader, and what `naming` points to, must outlive the names. */
int frame_names_create(struct trace_reader *reader, const struct frame_naming *naming,
		       struct frame_names **out);
void frame_names_free(struct frame_names **names);

const struct frame_naming *frame_names_naming(const struct frame_names *names);

/* Belongs to `names`; NULL only without memory. */
const struct frame_name *frame_names_find(struct frame_names *names, u64 frame,
					  bool return_address);

/* All that were found so far, in any order. Stops at the first non-zero return and returns it. */
int frame_names_each(const struct frame_names *names,
		     int (*each)(void *arg, const struct frame_name *name), void *arg);

/* Labels, innermost first. Belongs to `names` until the next frame_names_find(). */
const u32 *frame_names_chain(const struct frame_names *names, u32 chain, u32 *count);

/* The id of a label that is not a frame's, or UINT32_MAX without memory. */
u32 frame_names_intern(struct frame_names *names, const char *text);
u32 frame_names_label_count(const struct frame_names *names); /* ids are below */
const char *frame_names_label(const struct frame_names *names, u32 label);
/* As frame_name's; NULL for a label that is not a frame's. */
const char *frame_names_label_object(const struct frame_names *names, u32 label);

/* The name of an object without its folders. Frames of two recordings are the same if function and
 * this are: a program may lie elsewhere the second time. */
const char *frame_names_file(const char *object);

#endif
