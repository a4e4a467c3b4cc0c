/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls in functions without unwind tables and without a frame, followed by instructions
 * that a scan cannot decode. The return address of `frameless` is where rsp points, that of
 * `pushing` lies further out. Compiled with frame pointers, so rbp is the caller's.
 */
int frameless(void);
int pushing(void);

__asm__(".pushsection .text\n"
	".type frameless, @function\n"
	"frameless:\n"
	"	mov $110, %eax\n" /* getppid */
	"	syscall\n"
	"	imul %rax, %rax\n"
	"	ret\n"
	".size frameless, .-frameless\n"
	".type pushing, @function\n"
	"pushing:\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	mov $110, %eax\n"
	"	syscall\n"
	"	imul %rax, %rax\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	ret\n"
	".size pushing, .-pushing\n"
	".popsection\n");

static volatile int sum;

__attribute__((noinline)) static void call_frameless(void)
{
	sum += frameless();
}

__attribute__((noinline)) static void call_pushing(void)
{
	sum += pushing();
}

__attribute__((noinline)) static void middle(void)
{
	for (int i = 0; i < 50; i++) {
		call_frameless();
		call_pushing();
	}
	sum++;
}

int main(void)
{
	middle();
	sum++;
	return 0;
}
