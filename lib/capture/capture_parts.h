/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of a capture. The struct is never copied or moved, as its parts point to each other. */
#ifndef LIB_CAPTURE_CAPTURE_PARTS_H
#define LIB_CAPTURE_CAPTURE_PARTS_H

#include "capture/command_code.h"
#include "capture/drain/recording.h"
#include "capture/load/loaded.h"

struct metadata;
struct symbolizers;

struct capture {
	struct loaded loaded;
	struct recording recording;
	struct symbolizers *symbolizers;
	struct command_code command_code;
	struct metadata *metadata; /* metadata of an opened instance, which owns the instance's
				      sources; NULL: this process started the capture */
	struct capture_refusals refusals;
};

#endif
