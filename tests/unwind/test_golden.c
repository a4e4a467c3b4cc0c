/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds a program at its markers, and expects the frames and the stop reason that the program
 * itself knows (shadow.h). No other unwinder is involved.
 *
 *   test_golden [--every-stop | --sframe VERSION] PROGRAM
 *
 * With --every-stop all stop reasons must occur. With --sframe the program's SFrame section is
 * replaced by one of another version, and its .eh_frame is removed; frames before main() may then
 * be missing. Exit: 0, 1 a stack is wrong, 77 ptrace is not possible here.
 */
#include "shadow.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "sframe_rewrite.h"
#include "traced.h"

#define SKIP 77
#define SMALL_BUDGET 300
#define SEGMENT_SFRAME 0x6474e554
#define SEGMENTS_MAX 32
#define SECTION_MAX 65536
#define SECTION_DISTANCE (1ULL << 29) /* from the image to an unused address */

static const char *const stop_names[] = {
#define X(id, name, meaning) name,
	STOP_REASONS(X)
#undef X
};

static struct traced traced;
static struct unwind unwind;
static struct shadow shadow;
static u64 stops[STOP_COUNT];
static bool start_unknown; /* frames before main() need not be found */

static void unwind_here(void)
{
	unwind_drop_mapping_and_tables(&unwind);
	unwind.memory = &traced;
	unwind.registers = traced.registers;
	unwind.is_compat = traced.is_compat;
	unwind.budget = shadow.stop == STOP_BUDGET ? SMALL_BUDGET : UNWIND_BUDGET;
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
}

/* The number of true frames that the unwinder must find after the pc. */
static u32 expected_callers(void)
{
	u32 callers = shadow.depth - shadow.base;

	if (shadow.stop == STOP_DEPTH)
		return STACK_USER_DEPTH_MAX - 1;
	if (shadow.stop == STOP_BUDGET)
		return unwind.depth ? unwind.depth - 1 : 0;
	return callers;
}

/* The number of callers that equal the true ones. */
static u32 true_callers(void)
{
	u32 i = 0;

	while (i + 1 < unwind.depth && i < shadow.depth &&
	       unwind.frame[i + 1] == shadow.frame[shadow.depth - 1 - i])
		i++;
	return i;
}

static bool are_expected_callers_found(void)
{
	u32 callers = expected_callers(), found = true_callers();

	if ((unwind.stop != shadow.stop && !(start_unknown && shadow.stop == STOP_ROOT)) ||
	    found < callers || unwind.frame[0] != traced.registers.value[REGISTER_RIP])
		return false;
	return shadow.stop == STOP_ROOT || shadow.stop == STOP_GUESSED ||
	       unwind.depth == 1 + callers;
}

static bool check(void)
{
	if (!traced_read(&traced, traced.registers.value[REGISTER_RBX], &shadow, sizeof(shadow)) ||
	    shadow.depth > SHADOW_FRAMES || shadow.stop >= STOP_COUNT) {
		printf("a marker without a shadow\n");
		return false;
	}
	traced_maps(&traced);
	unwind_here();
	stops[unwind.stop]++;
	if (are_expected_callers_found())
		return true;
	printf("wrong at %#llx: %u frames, %u callers are right of %u, stop %s, expected %s\n",
	       (unsigned long long)traced.registers.value[REGISTER_RIP], unwind.depth,
	       true_callers(), expected_callers(), stop_names[unwind.stop],
	       stop_names[shadow.stop]);
	return false;
}

static void patch_add(u64 start, const void *data, u32 bytes)
{
	traced.patch[traced.patch_count++] =
		(struct traced_patch){.start = start, .bytes = bytes, .data = data};
}

/* Puts another section in place of the SFrame section that a program header names. */
static bool section_replace(Elf64_Phdr *segment, u64 bias, u32 version)
{
	static u8 old[SECTION_MAX], new[SFRAME_REWRITTEN_MAX(SECTION_MAX)];
	u64 place = bias + SECTION_DISTANCE;
	u32 bytes;

	if (segment->p_memsz > sizeof(old) ||
	    !traced_read(&traced, bias + segment->p_vaddr, old, segment->p_memsz))
		return false;
	bytes = sframe_rewrite(old, segment->p_memsz, version, SECTION_DISTANCE - segment->p_vaddr,
			       new);
	segment->p_vaddr = place - bias;
	segment->p_filesz = bytes;
	segment->p_memsz = bytes;
	patch_add(place, new, bytes);
	return bytes != 0;
}

/* Removes .eh_frame along with its index, as the unwinder would find the section without the index.
 */
static void eh_frame_hide(Elf64_Phdr *segment, u64 bias)
{
	static const u8 nothing[SECTION_MAX];
	u64 start = bias + segment->p_vaddr;

	for (u32 i = 0; i < traced.mapping_count; i++)
		if (start >= traced.mapping[i].start && start < traced.mapping[i].end)
			patch_add(start, nothing, traced.mapping[i].end - start);
	segment->p_type = PT_NULL;
}

static Elf64_Phdr *segment_find(Elf64_Phdr *segments, u32 count, u32 type)
{
	for (u32 i = 0; i < count; i++)
		if (segments[i].p_type == type)
			return &segments[i];
	return NULL;
}

/* The program is position-independent, and its image is the lowest mapping. */
static bool sframe_replace(u32 version)
{
	static Elf64_Phdr segments[SEGMENTS_MAX];
	u64 image = traced.mapping[0].start;
	Elf64_Phdr *sframe, *eh_frame;
	Elf64_Ehdr header;

	if (!traced_read(&traced, image, &header, sizeof(header)) ||
	    header.e_phnum > SEGMENTS_MAX ||
	    !traced_read(&traced, image + header.e_phoff, segments,
			 header.e_phnum * sizeof(*segments)))
		return false;
	sframe = segment_find(segments, header.e_phnum, SEGMENT_SFRAME);
	eh_frame = segment_find(segments, header.e_phnum, PT_GNU_EH_FRAME);
	if (!sframe || !eh_frame || !section_replace(sframe, image, version))
		return false;
	eh_frame_hide(eh_frame, image);
	patch_add(image + header.e_phoff, segments, header.e_phnum * sizeof(*segments));
	start_unknown = true;
	return true;
}

static u32 missing_stops(void)
{
	u32 missing = 0;

	for (u32 i = STOP_ROOT; i < STOP_COUNT; i++) {
		if (stops[i])
			continue;
		printf("no walk ended by %s\n", stop_names[i]);
		missing++;
	}
	return missing;
}

int main(int argc, char **argv)
{
	bool every_stop = argc == 3 && !strcmp(argv[1], "--every-stop");
	bool sframe = argc == 4 && !strcmp(argv[1], "--sframe");
	u32 markers = 0, wrong = 0;
	enum traced_stop stop;

	if (argc != 2 && !every_stop && !sframe)
		return 2;
	if (!traced_start(&traced, argv + argc - 1)) {
		printf("skipped: %s cannot be traced\n", argv[argc - 1]);
		return SKIP;
	}
	if (sframe && !sframe_replace(atoi(argv[2]))) {
		printf("no SFrame section of version 1 or 2\n");
		return 1;
	}
	while ((stop = traced_resume(&traced, PTRACE_CONT)) != TRACED_EXITED) {
		if (stop != TRACED_MARKER)
			continue;
		markers++;
		wrong += !check();
	}
	printf("%u stacks, %u wrong\n", markers, wrong);
	traced_end(&traced);
	return !markers || wrong || (every_stop && missing_stops());
}
