/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes the code out of a program that its constants rule out, before the kernel sees the program.
 *
 * The kernel's verifier folds constants, too, but only after it has looked at the whole program:
 * each instruction costs it the same whether it is needed or not, and removing one makes it move
 * all that follow. A program of events has code for every feature of a recording, and a recording
 * uses few.
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
