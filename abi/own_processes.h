/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The most processes, besides the recorder, that its programs can leave out: a power of two. */
#ifndef STACKMAP_ABI_OWN_PROCESSES_H
#define STACKMAP_ABI_OWN_PROCESSES_H

#define OWN_PROCESSES 64

#endif
