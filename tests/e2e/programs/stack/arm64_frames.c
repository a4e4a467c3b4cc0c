/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that only arm64 has. Each calls mark() a given number of times: the handler of a fault
 * behind which the kernel saves vectors of SVE, a function that is called by a tagged address, and
 * functions whose return address, frame pointer or stack pointer has a tag (TBI: the CPU ignores
 * the upper byte of an address). Code and pages are guarded (BTI), so that indirect branches must
 * meet landing pads. Then the clock is read, in the vdso. Built without frame pointers.
 *
 * Prints the bytes of a saved vector, and whether the pages are guarded.
 *
 * usage: arm64_frames CALLS CLOCK_READS
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define noinline __attribute__((noinline))
#define INSTRUCTION_BYTES 4
#define VECTOR_BYTES_MAX 256   /* of SVE on the emulated CPU; the kernel takes the next shorter */
#define HAS_TAGGED_ADDRESSES 1 /* PR_TAGGED_ADDR_ENABLE */

static int saved_vector_bytes; /* of the last signal's frame; 0 = no vectors of SVE there */

void mark(void);
void tagged_return_frame(void);
void tagged_pointer_frame(void);
void tagged_stack_frame(void);

noinline void mark(void)
{
	__asm__ volatile("" ::: "memory");
}

/*
 * The frames have tables, which give the CFA by sp in the first function and by x29 in the second.
 * x29 and sp keep their values across mark().
 */
__asm__(".pushsection .text\n"
	".macro frame name\n"
	".type \\name, %function\n"
	".globl \\name\n"
	"\\name:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset x29, -16\n"
	"	.cfi_offset x30, -8\n"
	"	mov x29, sp\n"
	"	mov x9, #0x5a00000000000000\n"
	".endm\n"
	".macro frame_end name\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_def_cfa_offset 0\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size \\name, .-\\name\n"
	".endm\n"
	"frame tagged_return_frame\n"
	"	orr x9, x9, x30\n"
	"	str x9, [sp, #8]\n"
	"	bl mark\n"
	"frame_end tagged_return_frame\n"
	"frame tagged_pointer_frame\n"
	"	.cfi_def_cfa_register x29\n"
	"	orr x29, x29, x9\n"
	"	bl mark\n"
	"	.cfi_def_cfa_register sp\n"
	"frame_end tagged_pointer_frame\n"
	"frame tagged_stack_frame\n"
	"	orr x9, x9, x29\n"
	"	mov sp, x9\n"
	"	bl mark\n"
	"	mov sp, x29\n"
	"frame_end tagged_stack_frame\n"
	".popsection\n");

static noinline void call_tagged_frames(long n)
{
	while (n--) {
		tagged_return_frame();
		tagged_pointer_frame();
		tagged_stack_frame();
	}
	__asm__ volatile("" ::: "memory");
}

/* The CPU drops the tag when it jumps. */
static noinline void call_tagged_address(long n)
{
	void (*volatile tagged)(void) = (void (*)(void))((uintptr_t)mark | 0x5aUL << 56);

	while (n--)
		tagged();
	__asm__ volatile("" ::: "memory");
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	const char *record = (const char *)interrupted->uc_mcontext.__reserved;
	struct sve_context vectors;
	struct extra_context extra;

	(void)number;
	/* Another fault than the program's own, such as a missing landing pad, would repeat. */
	if (*(const uint32_t *)info->si_addr)
		abort();
	/* Records follow each other; vectors that are too long for them are behind a pointer. */
	for (;;) {
		memcpy(&vectors, record, sizeof(vectors));
		memcpy(&extra, record, sizeof(extra));
		if (vectors.head.magic == SVE_MAGIC && vectors.head.size > sizeof(vectors))
			saved_vector_bytes = vectors.vl;
		if (!vectors.head.magic)
			break;
		record = extra.head.magic == EXTRA_MAGIC ? (const char *)extra.datap
							 : record + vectors.head.size;
	}
	mark();
	interrupted->uc_mcontext.pc += INSTRUCTION_BYTES;
}

/* An undefined instruction while vectors are in use: a system call would drop them. */
static noinline void faulting_frame(long n)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	int has_vectors = !!(getauxval(AT_HWCAP) & HWCAP_SVE);

	if (has_vectors)
		prctl(PR_SVE_SET_VL, VECTOR_BYTES_MAX);
	sigaction(SIGILL, &action, NULL);
	while (n--) {
		if (has_vectors)
			__asm__ volatile(".arch_extension sve\n\tptrue p0.b\n\tdup z0.b, #1" ::
						 : "v0", "memory");
		__asm__ volatile(".inst 0" ::: "memory");
	}
}

static noinline void read_clock(long n)
{
	struct timespec now;

	while (n--)
		clock_gettime(CLOCK_MONOTONIC, &now);
	__asm__ volatile("" : : "r"(&now) : "memory");
}

/*
 * Files of Debian 12 do not ask for guarded pages, since the start files have no landing pads, and
 * neither has the stub that binds functions at their first call: this program binds all at its
 * start. Returns true if the kernel has "bt" among the flags of the mapping.
 */
static int guard_pages(void)
{
	extern char __executable_start[], etext[];
	uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t)__executable_start & -page;
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long from, to;
	int is_here = 0, found = 0;
	char line[512];

	mprotect((void *)start, ((uintptr_t)etext - start + page - 1) & -page,
		 PROT_READ | PROT_EXEC | PROT_BTI);
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			is_here = (uintptr_t)mark >= from && (uintptr_t)mark < to;
		else if (is_here && !strncmp(line, "VmFlags:", 8) && strstr(line, " bt"))
			found = 1;
	}
	if (maps)
		fclose(maps);
	return found;
}

int main(int count, char **arguments)
{
	long calls = count > 1 ? atol(arguments[1]) : 1, reads = count > 2 ? atol(arguments[2]) : 0;
	int is_guarded = guard_pages();

	/* Without this, the kernel reads no memory at a tagged address for a system call. */
	prctl(PR_SET_TAGGED_ADDR_CTRL, HAS_TAGGED_ADDRESSES, 0, 0, 0);
	faulting_frame(calls);
	call_tagged_address(calls);
	call_tagged_frames(calls);
	read_clock(reads);
	printf("vectors of %d bytes, pages are%s guarded\n", saved_vector_bytes,
	       is_guarded ? "" : " not");
	fflush(stdout);
	_exit(0); /* what runs at an exit has no landing pads */
}
