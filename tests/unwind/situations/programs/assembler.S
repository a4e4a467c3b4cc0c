/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of hand-written assembler, as codecs and libraries of big numbers have them: without unwind tables. Each
 * works for a while with its argument. With LARGE they are part of much code without tables, as in such a library.
 */
	.text
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	ret
	.size \name, . - \name
	.endm

/* It has no frame. */
	function kernel_leaf
	xor	%eax, %eax
1:	lea	1(%rax,%rax,2), %rax
	imul	%rdi, %rax
	dec	%rdi
	jnz	1b
	end kernel_leaf

/* It saves registers, and keeps a number in rbp. */
	function kernel_pushing
	push	%rbx
	push	%rbp
	push	%r12
	sub	$40, %rsp
	mov	%rdi, %rbp
	mov	%rdi, %rbx
1:	lea	1(%rax,%rbx,2), %rax
	imul	%rbx, %rax
	mov	%rax, 8(%rsp)
	dec	%rbx
	jnz	1b
	add	$40, %rsp
	pop	%r12
	pop	%rbp
	pop	%rbx
	end kernel_pushing

/* It aligns its stack, and finds the old rsp in its frame. */
	function kernel_aligned
	mov	%rsp, %rax
	sub	$96, %rsp
	and	$-32, %rsp
	mov	%rax, 64(%rsp)
	mov	%rdi, %rcx
1:	imul	%rcx, %rdx
	mov	%rdx, (%rsp)
	dec	%rcx
	jnz	1b
	mov	64(%rsp), %rsp
	end kernel_aligned

/* It counts in rbp, from 0: what a frame pointer is where a program begins. */
	function kernel_zero
	push	%rbx
	push	%rbp
	mov	%rdi, %rbx
	xor	%ebp, %ebp
1:	imul	%rdi, %rax
	lea	3(%rax,%rbx,2), %rax
	add	%rbp, %rax
	dec	%rbx
	jnz	1b
	pop	%rbp
	pop	%rbx
	end kernel_zero

/* It uses rsp as a number: no unwinder that has only the registers can know the caller. */
	function kernel_lost
	movq	%rsp, %xmm0
	mov	$1, %rsp
1:	imul	%rdi, %rsp
	dec	%rdi
	jnz	1b
	movq	%xmm0, %rsp
	end kernel_lost

/* It calls leaf(), with a frame pointer or without. */
	function kernel_framed
	push	%rbp
	mov	%rsp, %rbp
	call	leaf
	pop	%rbp
	end kernel_framed

	function kernel_frameless
	push	%rbx
	sub	$32, %rsp
	call	leaf
	add	$32, %rsp
	pop	%rbx
	end kernel_frameless

#ifdef LARGE
	.skip	4096, 0xcc
#endif

	.section .note.GNU-stack,"",@progbits
