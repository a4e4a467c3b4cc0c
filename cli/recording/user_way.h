/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How user stacks are taken, in words. */
#ifndef CLI_USER_WAY_H
#define CLI_USER_WAY_H

#include "capture/capture.h"
#include "capture/instance/status.h"

const char *user_way_name(enum user_way way);
const char *user_way_meaning(enum user_way way);

/* Says what the kernel refused, why, and what the capture does without it. */
void user_way_tell(struct capture *capture);

/* Says how many user stacks were unwound at the event, and how many were left for later and why. Of
 * the whole recording, or of all the life of the instance. */
void user_way_tell_counts(struct capture *capture);

#endif
