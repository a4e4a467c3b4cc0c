/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of script functions in the file: the functions of all scripts are symbols of one mapping,
 * and their ids are its offsets (abi/script.h).
 */
#ifndef LIB_CAPTURE_SCRIPT_NAMES_H
#define LIB_CAPTURE_SCRIPT_NAMES_H

#include "scalar.h"

struct recording;

/* Writes the mapping unless the file has it. */
int script_names_write_mapping(struct recording *recording, u32 number);

/* Writes the names of functions by the offsets of their frames. */
int script_names_write(struct recording *recording, u32 number, const u64 *offsets, u32 count);

/* Writes the interpreters of the file's mappings whose functions could not be read, each as a
 * symbol (SCRIPT_UNREAD_END). */
int script_names_write_unread(struct recording *recording);

#endif
