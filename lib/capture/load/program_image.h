/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Images of BPF programs, in the form that the kernel gets. libbpf opens a BPF object, makes its
 * maps, and relocates its programs for this kernel, one after the other. This is done once, and
 * each relocated program is kept as an image. Images are then loaded as often as they are needed,
 * each time with constants of their own, and several at once by threads: nearly all the time before
 * a recording begins is spent in the verifier.
 *
 * Programs in sections "stackmap." become images. libbpf itself loads the others: programs whose
 * target it looks up (typed tracepoints, fentry, iterators), and small programs that are loaded
 * once.
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
	const char *name; /* name of the program */
	struct bpf_insn *code;
	u32 count;
	/* Options of loading; the image owns what their pointers lead to. */
	struct bpf_prog_load_opts options;
};

struct program_images {
	struct program_image *images;
	u32 count, room;
};

/* A program that is to be loaded. */
struct program_load {
	const struct program_image *image;
	int constants; /* descriptor of the map of constants that the image's instructions refer to
			*/
	int own_constants; /* descriptor of the map that replaces `constants`; equal to `constants`
			      = no replacement */
	int fd; /* descriptor of the loaded program, which the caller closes; or -errno */
};

/* Tells libbpf how to load programs in sections "stackmap.". Call before the object is opened. 0 or
 * -errno. */
int program_images_register_handlers(void);

/* Between the two calls, the programs in sections "stackmap." that this thread loads by libbpf are
 * kept in *images. The kernel gets empty programs in their place, which the second call unloads. */
void program_images_begin_keeping(struct program_images *images);
void program_images_end_keeping(struct program_images *images);

void program_images_free(struct program_images *images);

/* Returns the image of a program, or NULL. */
const struct program_image *program_images_find(const struct program_images *images,
						const struct bpf_program *program);

/* A function that the calling thread calls again and again while other threads load programs. It
 * must not wait. */
struct meanwhile {
	void (*call)(void *arg); /* the function that is called; NULL = none */
	void *arg;
};

/* Loads all programs, in a thread for each CPU, the longest program first. After a failure or an
 * interruption (lib/interrupt.h) no more loads begin. 0; -EINTR; or the -errno of the failed load,
 * and *failed becomes that load. On failure all programs are closed. */
int program_loads_run(struct program_load *loads, u32 count, const struct meanwhile *meanwhile,
		      const struct program_load **failed);

#endif
