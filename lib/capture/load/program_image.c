/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbpf calls the handler that is registered for a program's section before it loads the program,
 * and the handler may replace the program. Handlers are registered for the whole process and all
 * objects, so the sections have names that no other object has.
 */
#include "capture/load/program_image.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "array.h"
#include "capture/load/program_trim.h"
#include "interrupt.h"

#define LICENSE "Dual BSD/GPL"
#define THREADS_MAX 16
#define JOIN_MS 2

static _Thread_local struct program_images *taken;

static void *duplicate_bytes(const void *bytes, size_t count)
{
	void *copy = bytes && count ? malloc(count) : NULL;

	return copy ? memcpy(copy, bytes, count) : NULL;
}

/* Gives an image its own copies of what its pointers lead to. On failure image_free() is still to
 * be called. */
static int image_copy_referenced_memory(struct program_image *image)
{
	struct bpf_prog_load_opts *options = &image->options;

	image->code = duplicate_bytes(image->code, image->count * sizeof(struct bpf_insn));
	options->func_info = duplicate_bytes(
		options->func_info, (size_t)options->func_info_cnt * options->func_info_rec_size);
	options->line_info = duplicate_bytes(
		options->line_info, (size_t)options->line_info_cnt * options->line_info_rec_size);
	return image->code && !options->func_info == !options->func_info_cnt &&
			       !options->line_info == !options->line_info_cnt
		       ? 0
		       : -ENOMEM;
}

static void image_free(struct program_image *image)
{
	free(image->code);
	free((void *)image->options.func_info);
	free((void *)image->options.line_info);
}

static int replace_by_empty_program(struct bpf_program *program, struct bpf_prog_load_opts *options)
{
	static struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	options->func_info_cnt = options->line_info_cnt = 0;
	return bpf_program__set_insns(program, code, sizeof(code) / sizeof(*code));
}

static int keep_program_image(struct bpf_program *program, struct bpf_prog_load_opts *options,
			      long cookie)
{
	size_t bytes = options->sz < sizeof(*options) ? options->sz : sizeof(*options);
	struct program_image *image;

	options->prog_flags |= cookie;
	if (!taken)
		return 0;
	if (array_make_room(taken->images, taken->count, taken->room))
		return -ENOMEM;
	image = &taken->images[taken->count++];
	*image = (struct program_image){
		.program = program,
		.type = bpf_program__type(program),
		.name = bpf_program__name(program),
		.code = (struct bpf_insn *)bpf_program__insns(program),
		.count = bpf_program__insn_cnt(program),
	};
	memcpy(&image->options, options, bytes);
	image->options.sz = sizeof(image->options);
	/* The array has descriptors for calls of module functions, which no program makes. */
	image->options.fd_array = NULL;
	return image_copy_referenced_memory(image) ?: replace_by_empty_program(program, options);
}

static int register_result;

static void register_handlers(void)
{
	static const struct {
		const char *section; /* name of an ELF section; "+": the name of a tracepoint may
					follow */
		enum bpf_prog_type type;
		enum bpf_attach_type attach;
		u32 flags;
	} handled[] = {
		{"stackmap.perf_event", BPF_PROG_TYPE_PERF_EVENT},
		{"stackmap.raw_tp+", BPF_PROG_TYPE_RAW_TRACEPOINT},
		{"stackmap.tracepoint", BPF_PROG_TYPE_TRACEPOINT},
		{"stackmap.kprobe", BPF_PROG_TYPE_KPROBE},
		{"stackmap.kprobe.multi", BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI},
		{"stackmap.uprobe", BPF_PROG_TYPE_KPROBE},
		{"stackmap.syscall", BPF_PROG_TYPE_SYSCALL, 0, BPF_F_SLEEPABLE},
	};
	LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_prepare_load_fn = keep_program_image);

	for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++) {
		int id;

		options.cookie = handled[i].flags;
		id = libbpf_register_prog_handler(handled[i].section, handled[i].type,
						  handled[i].attach, &options);
		if (id < 0)
			register_result = id;
	}
}

int program_images_register_handlers(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_handlers);
	return register_result;
}

void program_images_free(struct program_images *images)
{
	while (images->count)
		image_free(&images->images[--images->count]);
	free(images->images);
	*images = (struct program_images){};
}

const struct program_image *program_images_find(const struct program_images *images,
						const struct bpf_program *program)
{
	for (u32 i = 0; i < images->count; i++)
		if (images->images[i].program == program)
			return &images->images[i];
	return NULL;
}

void program_images_begin_keeping(struct program_images *images)
{
	taken = images;
}

void program_images_end_keeping(struct program_images *images)
{
	taken = NULL;
	for (u32 i = 0; i < images->count; i++)
		bpf_program__unload(images->images[i].program);
}

/* Removes code that cannot run from an image. If the constants cannot be read, which the kernel may
 * refuse, the image keeps all its code. */
static int remove_unreachable_code(struct program_image *image, int constants)
{
	struct bpf_map_info map = {};
	u32 bytes = sizeof(map), key = 0;
	void *memory;
	int result = 0;

	if (bpf_obj_get_info_by_fd(constants, &map, &bytes))
		return 0;
	memory = malloc(map.value_size);
	if (!memory)
		return -ENOMEM;
	if (!bpf_map_lookup_elem(constants, &key, memory))
		result = program_trim(image, constants, memory, map.value_size);
	free(memory);
	return result;
}

static int load_program(const struct program_load *load)
{
	struct program_image image = *load->image;
	int result = image_copy_referenced_memory(&image), fd;

	if (!result) {
		/* The instructions use the map of constants of this load instead of the first one.
		 */
		for (u32 i = 0; i < image.count; i++)
			if (image.code[i].code == (BPF_LD | BPF_IMM | BPF_DW) &&
			    image.code[i].src_reg == BPF_PSEUDO_MAP_VALUE &&
			    image.code[i].imm == load->constants)
				image.code[i].imm = load->own_constants;
		result = remove_unreachable_code(&image, load->own_constants);
	}
	if (!result) {
		fd = bpf_prog_load(image.type, image.name, LICENSE, image.code, image.count,
				   &image.options);
		result = fd < 0 ? -errno : fd;
	}
	image_free(&image);
	return result;
}

struct load_queue {
	struct program_load **loads; /* longest program first, so that the last load, which runs
					alone, is short */
	u32 count;
	u32 next;	 /* index of the next load that a thread takes; atomic */
	bool has_failed; /* a load has failed, so no more loads begin; atomic */
};

static void *load_queued_programs(void *arg)
{
	struct load_queue *queue = arg;
	u32 i;

	while (!__atomic_load_n(&queue->has_failed, __ATOMIC_RELAXED) && !interrupted()) {
		i = __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED);
		if (i >= queue->count)
			break;
		queue->loads[i]->fd = load_program(queue->loads[i]);
		if (queue->loads[i]->fd < 0)
			__atomic_store_n(&queue->has_failed, true, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Waits for a loading thread, and calls `meanwhile`. A signal to a thread stops the verifier in it,
 * but signals to the process go to its first thread. When the process gives up
 * (cli/process/signals.c), the signal is therefore forwarded to the loading thread. */
static void join_loading_thread(pthread_t thread, const struct meanwhile *meanwhile)
{
	struct timespec until;

	do {
		if (interrupted())
			pthread_kill(thread, SIGALRM);
		else if (meanwhile->call)
			meanwhile->call(meanwhile->arg);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += JOIN_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
}

/* Loads the queue in threads, or in this thread if no thread can be made. */
static void run_load_queue(struct load_queue *queue, const struct meanwhile *meanwhile)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN),
	     most = queue->count < THREADS_MAX ? queue->count : THREADS_MAX;
	pthread_t threads[THREADS_MAX];
	u32 started = 0;

	if (cpus < most)
		most = cpus;
	while (started < most &&
	       !pthread_create(&threads[started], NULL, load_queued_programs, queue))
		started++;
	if (!started)
		load_queued_programs(queue);
	while (started)
		join_loading_thread(threads[--started], meanwhile);
}

static int find_first_failed_load(const struct load_queue *queue,
				  const struct program_load **failed)
{
	for (u32 i = 0; i < queue->count; i++)
		if (queue->loads[i]->fd < 0 && queue->loads[i]->fd != -ECANCELED) {
			*failed = queue->loads[i];
			return queue->loads[i]->fd;
		}
	return interrupted() ? -EINTR : 0;
}

static int longest_program_first(const void *left, const void *right)
{
	const struct program_load *const *a = left, *const *b = right;
	u32 count = (*a)->image->count, other = (*b)->image->count;

	return count < other ? 1 : count > other ? -1 : 0;
}

static int load_queue_create(struct program_load *loads, u32 count, struct load_queue *queue)
{
	*queue = (struct load_queue){.loads = calloc(count, sizeof(*queue->loads)), .count = count};
	if (count && !queue->loads)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		loads[i].fd = -ECANCELED;
		queue->loads[i] = &loads[i];
	}
	if (count)
		qsort(queue->loads, count, sizeof(*queue->loads), longest_program_first);
	return 0;
}

int program_loads_run(struct program_load *loads, u32 count, const struct meanwhile *meanwhile,
		      const struct program_load **failed)
{
	struct load_queue queue;
	int result;

	*failed = NULL;
	result = load_queue_create(loads, count, &queue);
	if (result)
		return result;
	run_load_queue(&queue, meanwhile);
	result = find_first_failed_load(&queue, failed);
	free(queue.loads);
	for (u32 i = 0; i < count && result; i++)
		if (loads[i].fd >= 0)
			close(loads[i].fd);
	return result;
}
