/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program with USDT probes, N times each (its argument). The notes are written by hand, as
 * sys/sdt.h is not on every machine.
 *
 * counted: i in a register, -i in memory, i & 0xffff as a short, the constant 7, i in memory
 * guarded: i; only while its semaphore counts a tracer
 * twice: 1 and 2, at two places
 * otel_memory:alloc, otel_memory:free: blocks of 16 + i bytes, each of which stands for 512 KiB;
 * every second block is freed. As OpenTelemetry's profiler expects them of an allocator.
 */
#include <stdlib.h>

#define NOTE(semaphore, name, arguments) NOTE_OF("known", semaphore, name, arguments)
#define NOTE_OF(provider, semaphore, name, arguments)                                              \
	"990:	nop\n"                                                                               \
	".pushsection .note.stapsdt, \"\", \"note\"\n"                                             \
	".balign 4\n"                                                                              \
	".4byte 992f - 991f, 994f - 993f, 3\n"                                                     \
	"991: .asciz \"stapsdt\"\n"                                                                \
	"992: .balign 4\n"                                                                         \
	"993: .8byte 990b, 0, " semaphore "\n"                                                     \
	".asciz \"" provider "\", \"" name "\", \"" arguments "\"\n"                               \
	"994: .balign 4\n"                                                                         \
	".popsection\n"

#ifdef __aarch64__
#define CONSTANT "4@7"
#else
#define CONSTANT "4@$7"
#endif

unsigned short guarded_semaphore __attribute__((section(".probes")));

static __attribute__((noinline)) void work(long i)
{
	volatile int negative = -(int)i;
	volatile long kept[3] = {0, 0, i};
	long address = (i + 1) << 12;

	__asm__ volatile(
		NOTE("0", "counted", "8@%[i] -4@%[negative] 2@%[low] " CONSTANT " 8@%[kept]")
		:
		: [i] "r"(i), [negative] "m"(negative), [low] "r"((unsigned short)i),
		  [kept] "m"(kept[2]));
	if (*(volatile unsigned short *)&guarded_semaphore)
		__asm__ volatile(NOTE("guarded_semaphore", "guarded", "8@%[i]") : : [i] "r"(i));
	__asm__ volatile(NOTE("0", "twice", "-8@%[one]") : : [one] "r"(1L));
	__asm__ volatile(NOTE("0", "twice", "-8@%[two]") : : [two] "r"(2L));
	__asm__ volatile(NOTE_OF("otel_memory", "0", "alloc", "8@%[address] 8@%[bytes] 8@%[weight]")
			 :
			 : [address] "r"(address), [bytes] "r"(16 + i), [weight] "r"(512L << 10));
	if (i % 2)
		__asm__ volatile(NOTE_OF("otel_memory", "0", "free", "8@%[address]")
				 :
				 : [address] "r"(address));
}

int main(int count, char **arguments)
{
	long n = count > 1 ? atol(arguments[1]) : 1;

	for (long i = 0; i < n; i++)
		work(i);
	return 0;
}
