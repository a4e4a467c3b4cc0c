/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Removes from a BPF program the code that cannot be executed, given the values of the program's
 * constants, before the kernel loads the program.
 *
 * The kernel's verifier removes such code, too, but only after it has checked the whole program,
 * and it moves all instructions that follow for each removal. A program of events has code for
 * every feature of a recording, and each recording uses few features.
 */
#ifndef LIB_CAPTURE_PROGRAM_TRIM_H
#define LIB_CAPTURE_PROGRAM_TRIM_H

#include <stddef.h>

#include "capture/load/program_image.h"

/* Trims image->code, and with it the descriptions of functions and lines in image->options; all
 * three are overwritten. `memory` is the content of the map of constants whose descriptor is
 * `constants`, of `bytes` bytes. 0, or -ENOMEM: the image is unchanged. */
int program_trim(struct program_image *image, int constants, const void *memory, size_t bytes);

#endif
