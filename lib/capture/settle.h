/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The end of an instance whose sources are off: tasks that are still in the kernel, asleep in
 * read() perhaps for days, wait with a cookie. They are unwound from outside, out of their living
 * memory. That it was the right stack is proven by taking the cookie afterwards: it can be had only
 * while the task has not left the kernel (abi/deferral.h).
 */
#ifndef LIB_CAPTURE_SETTLE_H
#define LIB_CAPTURE_SETTLE_H

#include "capture/assisted.h"
#include "capture/instance.h"

/* Queues an answer for each task that could be settled; those that run on deliver by themselves,
 * and are waited for, a second at most. 0 or the first error; cookies may be left either way. */
int settle_pending(struct capture *capture);

#endif
