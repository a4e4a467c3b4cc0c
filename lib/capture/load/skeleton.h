/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The generated skeleton of bpf/capture.bpf.c, after the types of its global variables. */
#ifndef LIB_CAPTURE_SKELETON_H
#define LIB_CAPTURE_SKELETON_H

#include "config.h"
#include "stack_table.h"

#include "capture.skel.h"

#endif
