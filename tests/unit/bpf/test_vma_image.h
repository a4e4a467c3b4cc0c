/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that the test and its program share. */
#ifndef TESTS_TEST_VMA_IMAGE_H
#define TESTS_TEST_VMA_IMAGE_H

#include "scalar.h"

/* The context of the program. */
struct image_question {
	u64 address; /* in: an address of the task that runs the program */
	u64 start;
	u64 end;
	u64 file_offset;
	u64 image;
	s32 error;
	u32 number;
};

#endif
