/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the mapping of an address of the current task, and its image. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

/* The program belongs to no instance, so the instance's constants are not part of its skeleton. */
#define INSTANCE_CONSTANT static

#include "mapping/user_frame.h"
#include "mapping/vma_image.h"
#include "test_vma_image.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct vma_search);
} searches SEC(".maps");

SEC("syscall")
int look(struct image_question *question)
{
	u32 zero = 0;
	struct vma_search *search = bpf_map_lookup_elem(&searches, &zero);

	if (!search || !set_search_to_current_address_space(search))
		return 1;
	question->error = mapping_find(search, question->address);
	if (!question->error)
		question->error = vma_find_image(search);
	question->start = search->vma.start;
	question->end = search->vma.end;
	question->file_offset = search->vma.file_offset;
	question->image = search->vma.image;
	question->number = search->vma.number;
	return 0;
}
