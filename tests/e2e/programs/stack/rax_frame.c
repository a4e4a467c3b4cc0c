/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * by_rax() has its caller's rsp in rax, as hand-written code of libcrypto does. by_rax() calls
 * kept(), which does not change rax, and changing(), which has another value in rax while it calls
 * changed().
 */
void by_rax(void);

__asm__(".pushsection .text\n"
	".globl by_rax, kept, changing, changed\n"
	".type by_rax, @function\n"
	"by_rax:\n"
	".cfi_startproc\n"
	"	lea (%rsp), %rax\n"
	".cfi_def_cfa rax, 8\n"
	"	push %rbp\n"
	".cfi_offset rbp, -16\n"
	"	add $-128, %rsp\n"
	"	and $-128, %rsp\n"
	"	call kept\n"
	"	call changing\n"
	"	mov -8(%rax), %rbp\n"
	".cfi_restore rbp\n"
	"	lea (%rax), %rsp\n"
	".cfi_def_cfa_register rsp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size by_rax, .-by_rax\n"
	".type kept, @function\n"
	"kept:\n"
	".cfi_startproc\n"
	"	nop\n"
	"	ret\n"
	".cfi_endproc\n"
	".size kept, .-kept\n"
	".type changing, @function\n"
	"changing:\n"
	".cfi_startproc\n"
	"	push %rax\n"
	".cfi_adjust_cfa_offset 8\n"
	"	lea 32(%rsp), %rax\n"
	"	call changed\n"
	"	pop %rax\n"
	".cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size changing, .-changing\n"
	".type changed, @function\n"
	"changed:\n"
	".cfi_startproc\n"
	"	nop\n"
	"	ret\n"
	".cfi_endproc\n"
	".size changed, .-changed\n"
	".popsection\n");

static volatile int sum;

__attribute__((noinline)) static void middle(void)
{
	by_rax();
	sum++;
}

int main(void)
{
	for (int i = 0; i < 50; i++)
		middle();
	return 0;
}
