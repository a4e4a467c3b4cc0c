/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The types that the kernel passes to a program which prints when a file is read. */
#ifndef BPF_ITERATOR_H
#define BPF_ITERATOR_H

#include "scalar.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file {
	unsigned long size;
	unsigned long count;
};

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};

/* The members that the contexts of all iterators share. */
struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
};

#pragma clang attribute pop

#endif
