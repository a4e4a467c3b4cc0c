/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * by_hand() has its unwind table in .debug_frame alone. The function keeps a number in rbp. The
 * imul is an instruction that a scan does not understand, and the last instructions, which never
 * run, contradict the depth of the stack: an analysis of the code has no rule. The functions that
 * nobody calls make the section large enough to be worth a compression.
 */
	.cfi_sections .debug_frame
	.text
	.globl by_hand
	.type by_hand, @function
by_hand:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	sub $32, %rsp
	.cfi_adjust_cfa_offset 32
	mov $12345, %ebp
	call ask
	imul %rax, %rax
	test %rax, %rax
	je 1f
	add $32, %rsp
	.cfi_remember_state
	.cfi_adjust_cfa_offset -32
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	ret
1:	.cfi_restore_state
	push %rax
	ret
	.cfi_endproc
	.size by_hand, . - by_hand
	.rept 64
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.endr
	.section .note.GNU-stack, "", @progbits
