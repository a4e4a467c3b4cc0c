/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of OTEP 4947, without attributes, and the function that sets it. */
#ifndef SPANS_PUBLISHED_H
#define SPANS_PUBLISHED_H

#include <stdint.h>

struct published {
	uint8_t trace[16];
	uint8_t span[8];
	uint8_t valid;
	uint8_t flags;
	uint16_t attribute_bytes;
};

/* Sets the thread's record; NULL: no record. */
void publish(struct published *record);

#endif
