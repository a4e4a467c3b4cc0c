/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members of the kernel's structures, found by name in its BTF. */
#ifndef LIB_CAPTURE_BTF_MEMBER_H
#define LIB_CAPTURE_BTF_MEMBER_H

#include <bpf/btf.h>

#include "source_question.h"

/* Gives a number the bytes and the sign of its type. -EINVAL: the type is a structure, or has no
 * bytes. */
int btf_number_set(const struct btf *btf, u32 type, struct source_number *out);

/*
 * Follows members from a word of the event: `path` begins with "->" if the word of this type is a
 * pointer, and goes on as in C, as "->f_inode->i_sb.s_dev". `out` has the offset of the word in the
 * event. On failure `reason` has a text. -EINVAL: the value before "->" is not a pointer, the value
 * before "." is not a structure, or the last member is not a number; -ENOENT: the structure has not
 * this member; -E2BIG: more than NUMBER_STEPS_MAX pointers; -EOPNOTSUPP: the member is a bit field.
 */
int btf_member_follow(const struct btf *btf, u32 type, const char *path, struct source_number *out,
		      char *reason, size_t reason_bytes);

#endif
