/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stop of an instance by an event (capture/instance/self_stop.h), as text. */
#ifndef CLI_SELF_STOP_TEXT_H
#define CLI_SELF_STOP_TEXT_H

#include "capture/capture.h"
#include "capture/instance/self_stop.h"

/* Reports the event by which an instance has stopped itself, if one has. */
void self_stop_tell(struct capture *capture, const char *instance);

/* The same for a process that looks again and again: each stop is reported once. *told: 0 before
 * the first look. */
void self_stop_tell_once(struct capture *capture, const char *instance, u64 *told);

/* "2026-11-29 12:00:00.123456", local time; cut to `bytes`. Returns `text`. */
const char *self_stop_time(const struct self_stop *stop, char *text, size_t bytes);

#endif
