/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds each system call of a program three times: by elfutils and by the native unwinder while
 * the program is stopped at the entry, and by the same unwinder in the kernel when the program goes
 * on. Reads in the kernel cannot fault pages in; the native reads before have done so.
 *
 *   test_bpf DIRECT_OBJECT FAULTING_OBJECT LIMIT PROGRAM...
 *
 * Exit: 0, 1 a stack differs, 77 BPF or ptrace is not possible here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

#include "reference.h"
#include "unwind_walk.h"

#define SKIP 77

static struct traced traced;
static struct unwind native;
static struct reference *reference;
static u64 expected[UNWIND_FRAMES];

static struct walk_control *control;
static const struct unwind *walked;

static void skip(const char *what)
{
	printf("skipped: %s\n", what);
	exit(SKIP);
}

static struct bpf_object *load(const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	int code = object ? bpf_object__load(object) : -errno;

	if (code == -EPERM)
		skip("no permission to load BPF programs");
	if (code) {
		fprintf(stderr, "%s does not load: %s\n", path, strerror(-code));
		exit(1);
	}
	return object;
}

/* The number of instructions that the verifier processed; 0: this kernel does not report it. */
static u32 verified(struct bpf_object *object)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "walk");
	struct bpf_prog_info info = {0};
	u32 bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes))
		return 0;
	return info.verified_insns;
}

static void *map_memory(struct bpf_object *object, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		void *memory;

		if (!strstr(bpf_map__name(map), suffix))
			continue;
		memory = mmap(NULL, bpf_map__value_size(map), PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(map), 0);
		return memory == MAP_FAILED ? NULL : memory;
	}
	return NULL;
}

static void give_mappings(void)
{
	traced_list_code(&traced, &control->mappings);
	control->tid = traced.tid;
}

static void unwind_native(void)
{
	unwind_drop_mapping_and_tables(&native);
	native.memory = &traced;
	native.registers = traced.registers;
	native.budget = UNWIND_BUDGET;
	unwind_stack(&native, STACK_USER_DEPTH_MAX);
}

static bool are_frames_equal(const u64 *frames, u32 depth)
{
	return depth == walked->depth && !memcmp(frames, walked->frame, depth * sizeof(*frames));
}

/*
 * Called at the entry of a system call, returns at its exit. True if the three stacks agree. The
 * return from a signal is left out, as elfutils gives up there: the pc is behind the trampoline's
 * last instruction.
 */
static bool compare_call(void)
{
	u64 walks = control->walks;
	u32 depth;

	traced_maps(&traced);
	give_mappings();
	unwind_native();
	depth = reference_unwind(reference, &traced, expected, STACK_USER_DEPTH_MAX);
	if (traced_resume(&traced, PTRACE_SYSCALL) == TRACED_EXITED || control->walks == walks)
		return true;
	if (are_frames_equal(native.frame, native.depth) && walked->stop == native.stop &&
	    (are_frames_equal(expected, depth) ||
	     (walked->stop == STOP_ROOT && depth < walked->depth)))
		return true;
	printf("different: kernel %u frames, stop %u; native %u, stop %u; elfutils %u\n",
	       walked->depth, walked->stop, native.depth, native.stop, depth);
	return false;
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	u64 calls = 0, same_calls = 0, limit;
	enum traced_stop stop;

	if (argc < 5)
		return 2;
	limit = atoll(argv[3]);
	object = load(argv[2]);
	printf("faulting: %u instructions verified\n", verified(object));
	bpf_object__close(object);
	object = load(argv[1]);
	printf("direct: %u instructions verified\n", verified(object));
	control = map_memory(object, ".data.control");
	walked = map_memory(object, "walks");
	if (!control || !walked ||
	    !bpf_program__attach(bpf_object__find_program_by_name(object, "walk")))
		skip("the program cannot be attached");
	if (!traced_start(&traced, argv + 4))
		skip("the program cannot be traced");
	reference = reference_create();
	while (calls < limit && (stop = traced_resume(&traced, PTRACE_SYSCALL)) != TRACED_EXITED) {
		if (stop != TRACED_SYSCALL)
			continue;
		calls++;
		same_calls += compare_call();
	}
	printf("%llu system calls, %llu unwound in the kernel, %llu equal\n",
	       (unsigned long long)calls, (unsigned long long)control->walks,
	       (unsigned long long)same_calls);
	reference_free(&reference);
	traced_end(&traced);
	bpf_object__close(object);
	return !calls || !control->walks || same_calls != calls;
}
