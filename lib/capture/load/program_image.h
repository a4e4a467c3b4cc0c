/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs as they are given to the kernel. libbpf opens an object, makes its maps, and fits its
 * programs to this kernel, one after the other: that is done once, and each program is kept as it
 * is then. So it is loaded as often as it is needed, with constants of its own each time, and
 * several are loaded at once: nearly all the time that a recording takes to begin is the
 * verifier's.
 *
 * These are the programs in sections called "stackmap.". Others libbpf loads: those whose target it
 * looks up (typed tracepoints, fentry, iterators), and those that are small and load once.
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
	const char *name; /* the program's */
	struct bpf_insn *code;
	u32 count;
	struct bpf_prog_load_opts options; /* what it points to belongs to the image */
};

struct program_images {
	struct program_image *images;
	u32 count, room;
};

/* One program to be loaded. */
struct program_load {
	const struct program_image *image;
	int constants;	   /* the map of constants that the object has */
	int own_constants; /* what it has in its place; the same: nothing */
	int fd;		   /* the caller's; or -errno */
};

/* Once, before the object is opened. 0 or -errno. */
int program_images_prepare(void);

/* What this thread has libbpf load between the two is kept in *images. The kernel gets programs
 * that do nothing in their place, until the end. */
void program_images_begin(struct program_images *images);
void program_images_end(struct program_images *images);

void program_images_free(struct program_images *images);

/* NULL: it is not kept. */
const struct program_image *program_image_of(const struct program_images *images,
					     const struct bpf_program *program);

/* What this thread does while others load: called again and again, and never waits. */
struct meanwhile {
	void (*call)(void *arg); /* NULL: nothing */
	void *arg;
};

/* Loads them all, in as many threads as there are CPUs, the longest first; none begins after one
 * that failed, or when interrupted (lib/interrupt.h). 0, or the -errno of the one that failed, and
 * *failed is it; -EINTR. On failure none is left. */
int program_loads_run(struct program_load *loads, u32 count, const struct meanwhile *meanwhile,
		      const struct program_load **failed);

#endif
