/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stack for each way in which a walk can end: frames whose tables are wrong, use unsupported
 * operations, or lead to no code. The frames up to the odd one are known.
 */
#define SHADOW_KEPT
#include "shadow.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rule.h"

#define EH_FRAME_HDR 0x6474e550

static volatile long sink;
static unsigned expected;

noinline void odd_callback(void);
noinline void odd_callback(void)
{
	marker(expected == STOP_GUESSED ? 0 : shadow.depth - 1, expected);
	sink++;
}

/*
 * Defines a function `name` with a frame of 16 bytes. `code` follows the prologue, and `table` has
 * the wrong entries of its unwind table. A scan of the code cannot decode the instructions behind
 * the call.
 */
#define ODD(name, code, table)                                                                     \
	void name(void);                                                                           \
	__asm__(".type " #name ", @function\n"                                                     \
		".globl " #name "\n" #name ":\n"                                                   \
		".cfi_startproc\n"                                                                 \
		"push %rbx\n"                                                                      \
		"push %rbp\n"                                                                      \
		"sub $24, %rsp\n"                                                                  \
		".cfi_def_cfa_offset 48\n" code "\n" table "\n"                                    \
		"call odd_callback\n"                                                              \
		"nop\n"                                                                            \
		"add $24, %rsp\n"                                                                  \
		"pop %rbp\n"                                                                       \
		"pop %rbx\n"                                                                       \
		"ret\n"                                                                            \
		".cfi_endproc\n")

/* DW_CFA_restore_state without DW_CFA_remember_state */
ODD(malformed, "", ".cfi_escape 0x0b");
/* The CFA by an expression of DW_OP_call_frame_cfa */
ODD(unsupported, "", ".cfi_escape 0x0f, 1, 0x9c");
ODD(by_lost_register, "", ".cfi_def_cfa %r11, 16");
ODD(in_place, "", ".cfi_def_cfa_offset 0");
ODD(unaligned, "", ".cfi_def_cfa_offset 49");
ODD(unreadable, "movabs $0x7ffffffff000, %rbx", ".cfi_def_cfa %rbx, 16");
ODD(null_return, "movq $0, 8(%rsp)", ".cfi_def_cfa_offset 16");
ODD(not_code, "mov %rsp, 8(%rsp)", ".cfi_def_cfa_offset 16");
/* A function without a table, with an rbp that is no frame pointer. If the function is called
 * through a pointer, no call instruction names it. If it is called by name, there is such an
 * instruction, but its return address is not where rsp points. */
void no_table(void);
__asm__(".type no_table, @function\n"
	".globl no_table\n"
	"no_table:\n"
	"push %rbp\n"
	"mov $1, %ebp\n"
	"call odd_callback\n"
	"nop\n"
	"pop %rbp\n"
	"ret\n");

noinline static void odd(void (*function)(void), unsigned stop)
{
	expected = stop;
	function();
	sink++;
}

extern const char behind_no_table[];

noinline static void guess(void)
{
	expected = STOP_GUESSED;
	shadow_push(behind_no_table);
	__asm__ volatile("call no_table\n"
			 "behind_no_table:" ::
				 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
				   "cc", "memory");
	shadow.depth--;
	sink++;
}

/* A walk that takes more work than the test allows. */
noinline static void much(int depth)
{
	if (depth)
		much(depth - 1);
	else
		marker(0, STOP_BUDGET);
	sink++;
}

noinline static void deep(int depth)
{
	if (depth)
		deep(depth - 1);
	else
		marker(0, STOP_DEPTH);
	sink++;
}

plain static int take_table(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		unsigned long start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != EH_FRAME_HDR)
			continue;
		*(int *)arg = munmap((void *)(start & -4096UL), 4096) == 0;
	}
	return 1; /* the first object is the program */
}

/* Here only the leaf can be unwound. */
noinline static void without_table(void)
{
	int is_gone = 0;

	dl_iterate_phdr(take_table, &is_gone);
	if (is_gone)
		marker(shadow.depth, STOP_TABLE_UNREADABLE);
	_exit(0);
}

int main(void)
{
	marker(0, STOP_ROOT);
	odd(malformed, STOP_BAD_TABLE);
	odd(unsupported, STOP_UNSUPPORTED);
	odd(by_lost_register, STOP_UNKNOWN_REGISTER);
	odd(in_place, STOP_NO_PROGRESS);
	odd(unaligned, STOP_UNALIGNED);
	odd(unreadable, STOP_STACK_UNREADABLE);
	odd(null_return, STOP_NULL_RETURN);
	odd(not_code, STOP_NOT_CODE);
	odd(no_table, STOP_NO_RULE);
	guess();
	much(100);
	deep(520);
	without_table();
}
