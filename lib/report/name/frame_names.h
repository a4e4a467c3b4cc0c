/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of the frames of a recording. Each distinct frame is looked up and demangled once. The
 * label of a frame is its name in reports. All frames of a function have the same label:
 *
 *   FUNCTION               if a symbol covers it
 *   FILE+0xSTART..0xEND    user code without a symbol: the bounds of its function
 *   FILE+0xOFFSET          the bounds are unknown
 *   0xADDRESS              kernel or JIT code without a symbol
 *   [unknown]              the mapping could not be read
 *
 * The names of a frame that the unwinder guessed begin with "? ".
 *
 * A label also has the object (the file) of the code, so functions of one name in two files have
 * two labels. Equal labels have equal ids, so stacks are compared by the ids of their labels.
 */
#ifndef LIB_REPORT_FRAME_NAMES_H
#define LIB_REPORT_FRAME_NAMES_H

#include "symbol/debuginfo/debug_lookup.h"
#include "symbol/demangle/demangler.h"
#include "symbol/elf/elf_layout.h"
#include "trace/read/reader.h"

/*
 * The segments of the ELF file of a mapping, derived from the functions of a recording: each
 * function has a file offset and the address that the file gives it. With the segments debug
 * information can be used when the file itself is gone.
 */

/* Sets *layout to the segments of a mapping: to no segments if the recording has no addresses.
 * Functions with equal address - offset form one segment, with the code between them. */
void code_layout_find(const struct trace_reader *reader, u32 mapping, struct elf_segments *layout);

/*
 * Demangled names: each mangled name is demangled once. A recording has far more frames and inlined
 * functions than names.
 */

struct demangle_cache;

int demangle_cache_create(struct demangle_cache **out);
void demangle_cache_free(struct demangle_cache **cache);

/* The demangled name, which lives as long as `cache`; `mangled` itself if it is not a mangled
 * name, or without memory. */
const char *demangle_cache_find(struct demangle_cache *cache, const char *mangled);

struct demangle_failures demangle_cache_failures(const struct demangle_cache *cache);

struct debug_lookup;
struct kernel_names;

/* How frames get their names. All zero: demangled, by the symbols of the recording. */
struct frame_naming {
	bool mangled;		    /* true: names are shown as in the symbol table */
	struct debug_lookup *debug; /* debug information, which gives inlined functions and source
				       lines; or NULL */
	bool no_inline; /* true: inlined functions are left out, so that a frame is one function */
	bool fold_recursion; /* true: a sequence of labels that repeats in a stack is kept once */
	struct kernel_names *kernel; /* kernel symbols of this machine, for addresses without a
					symbol in the recording; or NULL */
	/* true: the recordings are of several boots, and `kernel` only names the recordings that
	 * prove to be of its boot */
	bool many_boots;

	/* Called with the reason if `kernel` is of another kernel or boot than the recording. May
	 * be NULL. */
	void (*note)(void *arg, const struct trace_info *info, const char *why);
	void *arg;
	/* Called for a recording that breaks off before its symbols, if `kernel` cannot name the
	 * kernel frames either. May be NULL. */
	void (*unfinished)(const struct trace_info *info);
	/* Called by frame_names_free() if names could not be demangled, with the number of such
	 * names and the reason for the first ("it takes too long to read"). May be NULL. */
	void (*undemangled)(u64 count, const char *why);
};

struct frame_names;

/* name of the frame that stands for omitted frames; its address is their number */
#define FRAME_OMITTED_NAME "[frames omitted]"
#define FRAME_GUESSED_MARK "? " /* prefix of the label of a guessed frame */
/* ends the label of an inlined function, which may be one of several functions of a frame, or have
 * a frame of its own (frame_name_is_of_inlined_function) */
#define FRAME_INLINED_MARK " (inlined)"

/* A function at the code of a frame: an inlined function, or the function that was called. */
struct frame_function {
	const char *name; /* name of the function; NULL: the code has no symbol */
	/* label id; the label of an inlined function ends with FRAME_INLINED_MARK */
	u32 label;
	bool inlined;	  /* true: the frame has a further function, which contains this function */
	const char *file; /* source file; NULL: unknown */
	u32 line;	  /* line in the source file; 0: unknown */
};

struct frame_name {
	u64 frame;
	bool return_address;
	const char *function; /* name of the frame's function; NULL: the code has no symbol */
	u64 offset;	      /* distance of the frame from the start of its function */
	u64 size;	      /* size of the function; 0: unknown, then `offset` is 0 */
	const char *object;   /* object that has the code: path of the file, "[kernel.kallsyms]",
				 "[MODULE]", "[unknown]" */
	u64 address; /* for kernel and JIT code the address of the frame, else its offset in the
			file */
	u32 label;
	u32 function_count;			/* number of `functions`, never 0 */
	const struct frame_function *functions; /* functions at the frame's code, innermost first;
						   all but the last are inlined */
	u32 chain; /* id of the list of the functions' labels; equal lists have equal ids */
};

/* The reader and the objects that `naming` points to must outlive the names. -ENOMEM. */
int frame_names_create(struct trace_reader *reader, const struct frame_naming *naming,
		       struct frame_names **out);
void frame_names_free(struct frame_names **names);

/* True if the frame stands for a function that the compiler of a script's runtime has put into
 * another function (SCRIPT_JAVA_INLINED, SCRIPT_V8_INLINED). The label then ends with
 * FRAME_INLINED_MARK, and `function` has no mark. */
bool frame_name_is_of_inlined_function(const struct frame_name *name);

const struct frame_naming *frame_names_naming(const struct frame_names *names);

/* Whether debug information was found, so that frames may have source lines. */
bool frame_names_have_lines(const struct frame_names *names);

/* Finds or makes the name of a frame. The name belongs to `names`. NULL: out of memory. */
const struct frame_name *frame_names_find(struct frame_names *names, u64 frame,
					  bool return_address);

/* Calls `each` for all frames found so far, in any order. Stops at the first non-zero return and
 * returns it. */
int frame_names_each(const struct frame_names *names,
		     int (*each)(void *arg, const struct frame_name *name), void *arg);

/* The labels of the list with the id `chain`, innermost first. The array is valid until the next
 * frame_names_find(). */
const u32 *frame_names_labels_of_chain(const struct frame_names *names, u32 chain, u32 *count);

/* The id of a label for a text that is not a frame, or UINT32_MAX without memory. */
u32 frame_names_intern_text(struct frame_names *names, const char *text);
/* Returns the number of labels. The id of each label is less than this number. */
u32 frame_names_label_count(const struct frame_names *names);
const char *frame_names_label(const struct frame_names *names, u32 label);
/* The object of the frames with this label; NULL: the label is not of a frame. */
const char *frame_names_label_object(const struct frame_names *names, u32 label);

/* The file name of an object, without its folder. Frames of two recordings are equal if their
 * functions and file names are equal: a program may be in another folder the second time. */
const char *frame_names_base_name(const char *object);

#endif
