/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds members of the kernel's structures by name in the kernel's BTF. */
#ifndef LIB_CAPTURE_BTF_MEMBER_H
#define LIB_CAPTURE_BTF_MEMBER_H

#include <bpf/btf.h>

#include "source_question.h"

/* Sets the size and the sign of the number *out by a BTF type. -EINVAL: the type is a structure, or
 * has no bytes. */
int btf_number_set_size_and_sign(const struct btf *btf, u32 type, struct source_number *out);

/*
 * Follows a path of members from a word of the event, such as an argument. `type`: BTF type of the
 * word; `path`: begins with "->" if the word is a pointer, and goes on as in C, for example
 * "->f_inode->i_sb.s_dev"; out->number.offset: offset of the word in the event, set by the caller.
 * On failure `reason` gets a text. -EINVAL: the value before "->" is not a pointer, the value
 * before "." is not a structure, or the last member is not a number; -ENOENT: the structure does
 * not have the member; -E2BIG: more than NUMBER_STEPS_MAX pointers; -EOPNOTSUPP: the member is a
 * bit field.
 */
int btf_member_follow(const struct btf *btf, u32 type, const char *path, struct source_number *out,
		      char *reason, size_t reason_bytes);

#endif
