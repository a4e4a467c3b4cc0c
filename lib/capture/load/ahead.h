/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What takes long before a recording and needs none of its programs, done by a thread of its own
 * while these are loaded: the kernel's functions are read, and the kernel is made ready for events
 * of tasks.
 */
#ifndef LIB_CAPTURE_AHEAD_H
#define LIB_CAPTURE_AHEAD_H

#include <pthread.h>
#include <stdbool.h>

#include "kernel_text.h"
#include "symbol/kernel/kernel_image.h"

struct ahead {
	bool reads_text; /* the caller says what is to be done */
	bool opens_event;
	bool has_thread;
	bool is_done;
	pthread_t thread;
	struct kernel_text *text;
	struct kernel_copy copy;
	int result;
};

void ahead_begin(struct ahead *ahead);

/* Waits until what the caller said is done. -errno: the functions could not be read. */
int ahead_take_text(struct ahead *ahead, struct kernel_text *text);

/* Takes the copy of the kernel's list that was read for it, for the caller to close. */
struct kernel_copy ahead_take_copy(struct ahead *ahead);

/* Whatever has happened since it began. */
void ahead_end(struct ahead *ahead);

#endif
