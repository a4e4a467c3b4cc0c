/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Says whose files gave no names: recordings only count such files. */
#ifndef CLI_RECORDING_NAMELESS_H
#define CLI_RECORDING_NAMELESS_H

#include "capture/capture.h"

/* Each owner once, with one of the files. */
void nameless_tell(struct capture *capture);

#endif
