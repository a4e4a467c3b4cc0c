/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader's part in a reset (capture/instance/reset.h), in each round of a drain. */
#ifndef LIB_CAPTURE_GENERATION_READER_H
#define LIB_CAPTURE_GENERATION_READER_H

#include <stdbool.h>

#include "capture/drain/recording.h"

/* Before reading: notes how far the rings may name stacks of the generation before the current
 * one. */
void generation_peek(struct recording *recording);

/* After reading: if so, nothing asks for that generation any more. -ENOMEM. */
int generation_retire(struct recording *recording);

#endif
