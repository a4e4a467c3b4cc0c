/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A frame goes out as a struct of its own, so that what names frames inside may change. */
#include "recording/public_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "intern.h"
#include "report/name/frame_names.h"

struct known_frame {
	struct intern_key key;
	struct stackmap_frame frame; /* without a label: not named yet */
};

struct public_frames {
	struct trace_reader *reader;
	struct frame_names *names;
	struct intern known;
};

static void set_build_id(const struct trace_reader *reader, struct stackmap_frame *frame)
{
	const struct trace_mapping *mapping =
		frame->in_kernel ? NULL : trace_reader_mapping(reader, FRAME_MAPPING(frame->frame));

	if (!mapping || !mapping->build_id_bytes)
		return;
	frame->build_id = mapping->build_id;
	frame->build_id_bytes = mapping->build_id_bytes;
}

static int name_frame(struct public_frames *frames, u64 frame, bool return_address,
		      struct stackmap_frame *out)
{
	const struct frame_name *name =
		trace_reader_take(frames->reader, sizeof(struct known_frame))
			? NULL
			: frame_names_find(frames->names, frame, return_address);

	if (!name)
		return -ENOMEM;
	*out = (struct stackmap_frame){
		.frame = frame,
		.in_kernel = FRAME_IS_KERNEL(frame),
		.label = frame_names_label(frames->names, name->label),
		.function = name->function,
		.offset = name->function ? name->offset : 0,
		.object = name->object,
		.address = name->address,
	};
	set_build_id(frames->reader, out);
	return 0;
}

const struct stackmap_frame *public_frames_find(struct public_frames *frames, u64 frame,
						bool return_address)
{
	const struct intern_key key = {{frame, return_address}};
	struct known_frame *known = intern_entry(&frames->known, &key);

	if (!known)
		return NULL;
	if (!known->frame.label && name_frame(frames, frame, return_address, &known->frame))
		return NULL;
	return &known->frame;
}

int public_frames_create(struct trace_reader *reader, struct public_frames **out)
{
	static const struct frame_naming by_recording;
	struct public_frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	*frames = (struct public_frames){.reader = reader, .known = INTERN(struct known_frame)};
	if (frame_names_create(reader, &by_recording, &frames->names)) {
		public_frames_free(&frames);
		return -ENOMEM;
	}
	*out = frames;
	return 0;
}

void public_frames_free(struct public_frames **frames)
{
	struct public_frames *old = *frames;

	if (!old)
		return;
	frame_names_free(&old->names);
	intern_clear(&old->known);
	free(old);
	*frames = NULL;
}
