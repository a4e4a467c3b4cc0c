/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mappings that an instance meets for the first time: their files are opened at once. */
#ifndef LIB_CAPTURE_NEW_CODE_H
#define LIB_CAPTURE_NEW_CODE_H

#include "capture/drain/recording.h"

/* 0 or -errno. */
int new_code_create(struct recording *recording);
void new_code_free(struct recording *recording);

/* Requests what is to be known of all mappings that were told since the last call. */
void new_code_take(struct recording *recording);

/* Is readable while mappings are there to be taken. */
int new_code_fd(const struct recording *recording);

#endif
