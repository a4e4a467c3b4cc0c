/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two instructions: r0 = 0; exit. */
#include "empty_program.h"

#include <bpf/bpf.h>

int empty_program_load(enum bpf_prog_type type, u32 attach_type, u32 btf_id)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type,
		    .attach_btf_id = btf_id);

	return bpf_prog_load(type, "empty", "GPL", code, sizeof(code) / sizeof(code[0]), &options);
}
