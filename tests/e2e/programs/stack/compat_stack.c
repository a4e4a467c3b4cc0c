/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A 32-bit program that needs no 32-bit libraries: goes through enter(), outer(), middle() and
 * inner() into CALLS system calls, each after some work. Built for i386 or for Arm's A32, with
 * frame pointers: those of i386 are the only way to unwind its tasks.
 */
#define APART __attribute__((noinline, noclone, used))
#define AFTER_CALL()                                                                               \
	__asm__ volatile("" ::                                                                     \
				 : "memory") /* the call is not the function's last act            \
					      */
#define CALLS 2000

#define EXIT 1
#define GETPPID 64

void _start(void);
void enter(void);

#ifdef __arm__
static APART void call(long number)
{
	register long place __asm__("r7") = number;
	register long result __asm__("r0") = 0;

	__asm__ volatile("svc #0" : "+r"(result) : "r"(place) : "memory");
}

/* r11 is the frame pointer. */
__asm__(".globl _start\n"
	"_start:\n"
	"mov r11, #0\n"
	"bl enter\n"
	"udf #0\n");
#else
static APART void call(long number)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0) : "memory");
}

/* Sets ebp to 0, the end of the chain, as the C library's _start does. */
__asm__(".globl _start\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined eip\n"
	"xor %ebp, %ebp\n"
	"call enter\n"
	"hlt\n"
	".cfi_endproc\n");
#endif

static APART void work(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

static APART void inner(void)
{
	for (int i = 0; i < CALLS; i++) {
		work();
		call(GETPPID);
	}
	AFTER_CALL();
}

static APART void middle(void)
{
	inner();
	AFTER_CALL();
}

static APART void outer(void)
{
	middle();
	AFTER_CALL();
}

APART void enter(void)
{
	outer();
	call(EXIT);
}
