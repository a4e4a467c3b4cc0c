/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs as they are given to the kernel. libbpf opens an object, makes its maps, and fits its
 * programs to this kernel, one after the other. That is done once, and each fitted program is kept.
 * Then programs are loaded as often as they are needed, each time with constants of their own, and
 * several at once: nearly all the time before a recording begins is spent in the verifier.
 *
 * This holds for programs in sections "stackmap.". libbpf loads the others: programs whose target
 * it looks up (typed tracepoints, fentry, iterators), and small programs that are loaded once.
 */
#ifndef LIB_CAPTURE_PROGRAM_IMAGE_H
#define LIB_CAPTURE_PROGRAM_IMAGE_H

#include <bpf/bpf.h>

#include "scalar.h"

struct bpf_object;
struct bpf_program;

struct program_image {
	struct bpf_program *program;
	enum bpf_prog_type type;
	const char *name; /* of the program */
	struct bpf_insn *code;
	u32 count;
	struct bpf_prog_load_opts options; /* its pointers belong to the image */
};

struct program_images {
	struct program_image *images;
	u32 count, room;
};

/* One program to load. */
struct program_load {
	const struct program_image *image;
	int constants;	   /* the object's map of constants */
	int own_constants; /* the map to use instead; the same = keep the object's */
	int fd;		   /* result, for the caller to close; or -errno */
};

/* Call before the object is opened. 0 or -errno. */
int program_images_prepare(void);

/* Between the two calls, programs that this thread loads by libbpf are kept in *images, and the
 * kernel gets empty programs in their place, until the second call. */
void program_images_begin(struct program_images *images);
void program_images_end(struct program_images *images);

void program_images_free(struct program_images *images);

/* The image of a program, or NULL. */
const struct program_image *program_image_of(const struct program_images *images,
					     const struct bpf_program *program);

/* Work of this thread while others load: called again and again; must not wait. */
struct meanwhile {
	void (*call)(void *arg); /* NULL = no work */
	void *arg;
};

/* Loads all programs, in a thread per CPU, the longest first. After a failure or an interruption
 * (lib/interrupt.h) no more loads begin. 0; or the -errno of a failed load, which is *failed;
 * -EINTR. On failure all programs are closed. */
int program_loads_run(struct program_load *loads, u32 count, const struct meanwhile *meanwhile,
		      const struct program_load **failed);

#endif
