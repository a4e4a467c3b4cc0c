/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of a recording as stackmap/recording.h has them: each is named once, and stays. */
#ifndef LIB_RECORDING_PUBLIC_FRAMES_H
#define LIB_RECORDING_PUBLIC_FRAMES_H

#include "stackmap/recording.h"
#include "trace/read/reader.h"

struct public_frames;

/* The reader must outlive them. -ENOMEM. */
int public_frames_create(struct trace_reader *reader, struct public_frames **out);
void public_frames_free(struct public_frames **frames);

/* NULL: no memory. */
const struct stackmap_frame *public_frames_find(struct public_frames *frames, u64 frame,
						bool return_address);

#endif
