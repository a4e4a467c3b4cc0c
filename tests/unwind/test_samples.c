/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples a running program 999 times in each second of its CPU time, and compares the frames that
 * the product's unwinder found in the kernel with those of elfutils from the same registers and the
 * same copy of the stack (test_samples.bpf.c).
 *
 *   test_samples [--after PROGRAM MODE | --unlisted] SAMPLES ROOT EQUAL PROGRAM...
 *
 * The program is started again until there are SAMPLES. At least ROOT of 10,000 stacks must reach
 * the root, and at least EQUAL must have all frames of elfutils. A stack may be longer than that of
 * elfutils if elfutils gives up or skips a caller, in code without tables. Differences are printed
 * by kind and by the function where they begin.
 *
 * --unlisted: the program has code without tables (V8's builtins). This test makes no tables of
 * whole files, which would list that code, so the unwinder marks steps out of it as guesses. A
 * stack that reaches the root by a guess counts as one that reaches the root.
 *
 * While another program has return probes in a function, the stack has addresses of the kernel's
 * trampoline, which elfutils does not know and this test's unwinder neither: a stack of such a
 * process counts only if it is equal.
 *
 * With --after, a program with false tables runs before and is sampled by the same instance of the
 * unwinder. Its stacks are not compared, but each walk must end within its bounds, the program must
 * exit with 0, and the rules that were cached for it must not be used for other programs.
 *
 * Exit: 0, 1, 77 BPF, perf events or task work are not possible here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "mapping.h"
#include "reference.h"
#include "samples.h"
#include "stack_table.h"

#include "test_samples.skel.h"

#define SKIP 77
#define FREQUENCY 999
#define PROCESSES_MAX 16
#define POLL_MS 20
#define PLACES_MAX 40
#define STARTS_MAX 2000

static const char *const stop_names[] = {
#define X(id, name, meaning) name,
	STOP_REASONS(X)
#undef X
};

enum verdict {
	EQUAL,
	SHORTER_REFERENCE, /* the product's stack goes on to the root where elfutils gives up */
	SKIPPED_CALLER,	   /* elfutils misses only the leaf's caller */
	SHORTER,	   /* the product's stack ends where elfutils goes on */
	DIFFERENT,
	VERDICT_COUNT
};

static const char *const verdict_names[] = {
	"equal", "elfutils ends earlier", "elfutils skips the caller", "ends earlier", "different",
};

struct process {
	struct traced traced;
	struct reference *reference;
};

struct place {
	char text[256];
	u64 count;
};

struct sampling {
	struct test_samples_bpf *program;
	struct sample *samples;
	const struct mapping_record *mappings;
	struct process processes[PROCESSES_MAX];
	u32 process_next;
	bool is_hostile;  /* stacks are not compared */
	bool is_unlisted; /* steps out of code without tables are guesses */
	u64 walks, unbounded;
	u64 limit, count, frames;
	u64 work;   /* sum of all walks, in units of the budget */
	u64 gone;   /* samples of processes that had ended before the reader stopped them */
	u64 probed; /* samples that differ, of processes with user probes */
	u64 verdicts[VERDICT_COUNT];
	u64 stops[STOP_COUNT];
	struct place places[PLACES_MAX];
};

static void skip(const char *what)
{
	printf("skipped: %s\n", what);
	exit(SKIP);
}

static struct process *process_of(struct sampling *sampling, pid_t pid)
{
	struct process *process;

	for (u32 i = 0; i < PROCESSES_MAX; i++)
		if (sampling->processes[i].traced.pid == pid)
			return &sampling->processes[i];
	process = &sampling->processes[sampling->process_next++ % PROCESSES_MAX];
	if (process->reference) {
		reference_free(&process->reference);
		traced_unwatch(&process->traced);
	}
	traced_watch(&process->traced, pid);
	process->reference = reference_create();
	return process;
}

static const struct traced_mapping *mapping_at(const struct traced *traced, u64 address)
{
	for (u32 i = 0; i < traced->mapping_count; i++) {
		const struct traced_mapping *mapping = &traced->mapping[i];

		if (mapping->is_code && address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

/* True if a frame of the product means this address. A process may have mapped the same part of a
 * file twice. */
static bool is_frame_of(const struct sampling *sampling, const struct traced *traced, u64 frame,
			u64 address)
{
	const struct traced_mapping *mapping = mapping_at(traced, address);
	const struct mapping_record *record = &sampling->mappings[FRAME_MAPPING(frame)];
	u64 offset = mapping ? address - mapping->start + mapping->offset : address;

	if (FRAME_MAPPING(frame) >= MAPPINGS_MAX || !mapping)
		return !mapping && FRAME_OFFSET(frame) == FRAME_OFFSET(address);
	if (record->key.kind == MAPPING_ANON)
		offset = address;
	if (record->key.kind == MAPPING_FILE && record->key.inode != mapping->inode)
		return false;
	return FRAME_OFFSET(frame) == FRAME_OFFSET(offset);
}

/* Counts the frames that equal the expected ones, and replaces these frames by their addresses. */
static u32 equal_frames(const struct sampling *sampling, const struct traced *traced,
			struct sample *sample, const u64 *expected, u32 depth)
{
	u32 i = 0;

	while (i < sample->depth && i < depth &&
	       is_frame_of(sampling, traced, sample->frame[i], expected[i])) {
		sample->frame[i] = expected[i];
		i++;
	}
	return i;
}

/* True if elfutils lacks only the caller of the leaf. In a recursion more frames than the leaf are
 * equal nevertheless; equal_frames() has replaced these by addresses. */
static bool is_caller_skipped(const struct sampling *sampling, const struct traced *traced,
			      const struct sample *sample, const u64 *expected, u32 depth,
			      u32 equal)
{
	for (u32 i = 1; i < depth; i++) {
		u64 frame = sample->frame[i + 1];
		bool is_same = i + 1 < equal ? frame == expected[i]
					     : is_frame_of(sampling, traced, frame, expected[i]);

		if (!is_same)
			return false;
	}
	return sample->depth == depth + 1;
}

static bool reaches_root(const struct sampling *sampling, u32 stop)
{
	return stop == STOP_ROOT || (sampling->is_unlisted && stop == STOP_GUESSED);
}

static enum verdict classify_sample(const struct sampling *sampling, const struct process *process,
				    const struct sample *sample, const u64 *expected, u32 depth,
				    u32 equal)
{
	bool is_root = reaches_root(sampling, sample->stop);

	if (equal == depth && equal == sample->depth)
		return EQUAL;
	if (equal == depth)
		return is_root ? SHORTER_REFERENCE : DIFFERENT;
	if (is_root && equal &&
	    is_caller_skipped(sampling, &process->traced, sample, expected, depth, equal))
		return SKIPPED_CALLER;
	return equal == sample->depth ? SHORTER : DIFFERENT;
}

static void place_count(struct sampling *sampling, const char *text)
{
	struct place *place = sampling->places;

	for (u32 i = 0; i < PLACES_MAX; i++, place++) {
		if (place->count && strcmp(place->text, text))
			continue;
		snprintf(place->text, sizeof(place->text), "%s", text);
		place->count++;
		return;
	}
}

static void note_place(struct sampling *sampling, struct process *process,
		       const struct sample *sample, enum verdict verdict, u32 equal)
{
	u64 last = equal ? sample->frame[equal - 1] : sample->value[REGISTER_RIP];
	char text[256];

	snprintf(text, sizeof(text), "%s, %s: frame %s%u, %s", verdict_names[verdict],
		 stop_names[sample->stop], equal > 3 ? ">" : "", equal > 3 ? 3 : equal,
		 reference_name(process->reference, last));
	place_count(sampling, text);
}

static void registers_give(struct traced *traced, const struct sample *sample)
{
	traced->tid = sample->tid;
	traced->stack = sample->stack;
	traced->stack_bytes = sample->stack_bytes;
	memcpy(traced->registers.value, sample->value, sizeof(sample->value));
}

/* Drops the last frame of elfutils if its address has no code, which is the result of a wrong
 * table. */
static u32 depth_without_bad_end(const struct traced *traced, const u64 *expected, u32 depth)
{
	u64 last = depth ? expected[depth - 1] : 0;

	if (mapping_at(traced, last))
		return depth;
	return depth > 1 ? depth - 1 : depth;
}

/* Other threads may change the mappings until the signal has reached them. */
static u32 expected_frames(struct process *process, u64 *expected)
{
	struct traced *traced = &process->traced;
	u64 generation;
	u32 depth;

	traced_maps(traced);
	do {
		generation = traced->generation;
		depth = reference_unwind(process->reference, traced, expected,
					 STACK_USER_DEPTH_MAX);
		traced_maps(traced);
	} while (traced->generation != generation);
	return depth_without_bad_end(traced, expected, depth);
}

static void compare(struct sampling *sampling, struct sample *sample)
{
	struct process *process = process_of(sampling, sample->tgid);
	u64 expected[STACK_WORDS_MAX];
	u32 depth, equal;
	enum verdict verdict;

	registers_give(&process->traced, sample);
	depth = expected_frames(process, expected);
	if (!depth) {
		sampling->gone++;
		return;
	}
	equal = equal_frames(sampling, &process->traced, sample, expected, depth);
	verdict = classify_sample(sampling, process, sample, expected, depth, equal);
	if (verdict != EQUAL && process->traced.has_probes) {
		sampling->probed++;
		return;
	}
	sampling->count++;
	sampling->frames += sample->depth;
	sampling->work += UNWIND_BUDGET - sample->budget_left;
	sampling->verdicts[verdict]++;
	sampling->stops[sample->stop]++;
	if (verdict != EQUAL || sample->stop != STOP_ROOT)
		note_place(sampling, process, sample, verdict, equal);
}

static void check_bounds(struct sampling *sampling, const struct sample *sample)
{
	sampling->walks++;
	if (sample->stop == STOP_NONE || sample->stop >= STOP_COUNT ||
	    sample->depth > STACK_USER_DEPTH_MAX || sample->budget_left > UNWIND_BUDGET)
		sampling->unbounded++;
}

static int take(void *arg, void *data, size_t bytes)
{
	struct sampling *sampling = arg;
	u32 index = *(u32 *)data;
	struct sample *sample = &sampling->samples[index];
	pid_t pid = sample->tgid;

	(void)bytes;
	if (sampling->is_hostile)
		check_bounds(sampling, sample);
	else if (sampling->count < sampling->limit)
		compare(sampling, sample);
	__atomic_store_n(&sample->busy, 0, __ATOMIC_RELEASE);
	kill(pid, SIGCONT);
	return 0;
}

static void child(int go, char **argv)
{
	char byte;

	setpgid(0, 0);
	if (read(go, &byte, 1) != 1 || !freopen("/dev/null", "w", stdout) ||
	    !freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stderr))
		_exit(126);
	unsetenv("DEBUGINFOD_URLS");
	execvp(argv[0], argv);
	_exit(127);
}

static int event_open(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = FREQUENCY,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};

	return syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Samples one run of the program, and returns its exit status. */
static int run(struct sampling *sampling, struct ring_buffer *filled, char **argv)
{
	int go[2], status = 0;
	struct bpf_link *link;
	pid_t pid;

	fflush(stdout);
	if (pipe2(go, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0)
		child(go[0], argv);
	link = bpf_program__attach_perf_event(sampling->program->progs.tick, event_open(pid));
	if (!link)
		skip("perf events are not possible");
	if (write(go[1], "", 1) != 1)
		return -1;
	while (waitpid(pid, &status, WNOHANG) == 0 && sampling->count < sampling->limit)
		ring_buffer__poll(filled, POLL_MS);
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	bpf_link__destroy(link);
	waitpid(pid, NULL, 0);
	ring_buffer__consume(filled);
	close(go[0]);
	close(go[1]);
	return status;
}

static void *map_memory(const struct bpf_map *map)
{
	size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void load(struct sampling *sampling)
{
	struct test_samples_bpf *program = test_samples_bpf__open();
	int code;

	if (!program)
		exit(1);
	program->rodata->config.max_user_depth = STACK_USER_DEPTH_MAX;
	code = test_samples_bpf__load(program);
	if (code == -EPERM)
		skip("no permission to load BPF programs");
	sampling->program = program;
	sampling->samples = code ? NULL : map_memory(program->maps.samples);
	sampling->mappings = code ? NULL : map_memory(program->maps.mappings);
	if (sampling->samples && sampling->mappings)
		return;
	fprintf(stderr, "the program does not load: %s\n", strerror(-code));
	exit(1);
}

static double ratio(u64 part, u64 whole)
{
	return whole ? (double)part / whole : 0;
}

static void report(const struct sampling *sampling, const char *name)
{
	const struct sample_counters *counters = &sampling->program->bss->counters;
	u64 count = sampling->count;

	printf("%s: %llu samples, %.1f frames, %.1f steps of work a frame, root %.2f %%, equal "
	       "%.2f %%\n",
	       name, (unsigned long long)count, ratio(sampling->frames, count),
	       ratio(sampling->work, sampling->frames),
	       100 * ratio(sampling->stops[STOP_ROOT], count),
	       100 * ratio(sampling->verdicts[EQUAL], count));
	for (u32 i = EQUAL + 1; i < VERDICT_COUNT; i++)
		if (sampling->verdicts[i])
			printf("  %s: %llu\n", verdict_names[i],
			       (unsigned long long)sampling->verdicts[i]);
	for (u32 i = 0; i < STOP_COUNT; i++)
		if (sampling->stops[i] && i != STOP_ROOT)
			printf("  stopped by %s: %llu\n", stop_names[i],
			       (unsigned long long)sampling->stops[i]);
	for (u32 i = 0; i < PLACES_MAX && sampling->places[i].count; i++)
		printf("  %llu: %s\n", (unsigned long long)sampling->places[i].count,
		       sampling->places[i].text);
	printf("  %llu ticks: %llu gone, %llu probed, %llu in exit, %llu refused (%lld), %llu "
	       "without "
	       "room\n",
	       (unsigned long long)counters->requested, (unsigned long long)sampling->gone,
	       (unsigned long long)sampling->probed, (unsigned long long)counters->exiting,
	       (unsigned long long)counters->refused, (long long)counters->refused_error,
	       (unsigned long long)counters->no_room);
}

static bool are_enough_frames_equal(const struct sampling *sampling, u64 root, u64 equal)
{
	u64 count = sampling->count;
	u64 wrong = sampling->verdicts[SHORTER] + sampling->verdicts[DIFFERENT], reached = 0;

	for (u32 stop = 0; stop < STOP_COUNT; stop++)
		if (reaches_root(sampling, stop))
			reached += sampling->stops[stop];
	return count && reached * 10000 >= count * root && (count - wrong) * 10000 >= count * equal;
}

/* Runs the program with false tables to its end. */
static bool run_program_with_false_tables(struct sampling *sampling, struct ring_buffer *filled,
					  char **argv)
{
	int status;

	sampling->is_hostile = true;
	sampling->limit = ~0ULL;
	status = run(sampling, filled, argv);
	sampling->is_hostile = false;
	printf("%s %s: status %#x, %llu walks, %llu out of bounds\n", argv[0], argv[1], status,
	       (unsigned long long)sampling->walks, (unsigned long long)sampling->unbounded);
	return !status && sampling->walks && !sampling->unbounded;
}

int main(int argc, char **argv)
{
	static struct sampling sampling;
	char *before[] = {NULL, NULL, NULL};
	struct ring_buffer *filled;

	if (argc > 4 && !strcmp(argv[1], "--after")) {
		memcpy(before, argv + 2, 2 * sizeof(*argv));
		argv += 3;
		argc -= 3;
	}
	if (argc > 1 && !strcmp(argv[1], "--unlisted")) {
		sampling.is_unlisted = true;
		argv++;
		argc--;
	}
	if (argc < 5)
		return 2;
	libbpf_set_print(NULL);
	load(&sampling);
	filled =
		ring_buffer__new(bpf_map__fd(sampling.program->maps.filled), take, &sampling, NULL);
	if (before[0] && !run_program_with_false_tables(&sampling, filled, before))
		return 1;
	sampling.limit = atoll(argv[1]);
	for (u32 i = 0; i < STARTS_MAX && sampling.count < sampling.limit; i++)
		if (run(&sampling, filled, argv + 4) == 127 << 8)
			skip("the program is not installed");
	if (sampling.program->bss->counters.refused_error == -EOPNOTSUPP)
		skip("this kernel has no task work for BPF programs");
	report(&sampling, argv[4]);
	return !are_enough_frames_equal(&sampling, atoll(argv[2]), atoll(argv[3]));
}
