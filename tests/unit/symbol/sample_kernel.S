/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A kernel image in little: linked at the kernel's address, never run. */
	.text
	.globl	_stext
_stext:
	.skip	16
	.globl	schedule
	.type	schedule, %function
schedule:
	.skip	32
	.size	schedule, 32
	.skip	16
	.globl	do_exit
	.type	do_exit, %function
do_exit:
	.skip	64
	.size	do_exit, 64
	.section .note.GNU-stack, "", %progbits
