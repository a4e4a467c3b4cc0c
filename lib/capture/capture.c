/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The life of an instance: memory, programs, attaching, the end. */
#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/about.h"
#include "capture/answers.h"
#include "capture/assisted.h"
#include "capture/feature/task_work.h"
#include "capture/instance.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/skeleton.h"
#include "capture/load/text_ranges.h"
#include "capture/naming.h"
#include "capture/settle.h"
#include "error.h"
#include "interrupt.h"
#include "privilege/capability.h"
#include "privilege/limit.h"
#include "rule_cache.h"
#include "symbol/symbolizer/symbolizers.h"

static int share(struct shared_array *array, int fd, u64 value_bytes, u32 count)
{
	u64 page = sysconf(_SC_PAGESIZE);
	void *memory;

	array->stride = (value_bytes + 7) & ~7ULL;
	array->bytes = (array->stride * count + page - 1) & ~(page - 1);
	memory = mmap(NULL, array->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	array->memory = memory;
	return 0;
}

static void unshare(struct shared_array *array)
{
	if (array->memory)
		munmap(array->memory, array->bytes);
	array->memory = NULL;
}

struct ring_view capture_ring(const struct capture *capture, u32 cpu)
{
	return ring_view_at(capture->rings.memory, cpu, capture->rings.stride,
			    capture->plan.config.ring_slots, capture->plan.config.slot_size);
}

struct ring_view capture_task_ring(const struct capture *capture, u32 cpu)
{
	return ring_view_at(capture->task_rings.memory, cpu, capture->task_rings.stride,
			    capture->plan.config.task_slots, sizeof(struct task_slot));
}

struct mapping_record *capture_mapping(const struct capture *capture, u32 number)
{
	return (struct mapping_record *)((u8 *)capture->mappings.memory +
					 number * capture->mappings.stride);
}

u32 capture_bits(const struct capture *capture)
{
	return capture->plan.config.bits;
}

bool capture_is_flight(const struct capture *capture)
{
	return capture->plan.config.flight;
}

bool capture_lacks_deferral(const struct capture *capture)
{
	return capture->plan.frame_pointers_only && capture->plan.config.user_stacks;
}

bool capture_lacks_engine(const struct capture *capture)
{
	return capture->plan.config.user_stacks && !engine_is_shared(capture->engine);
}

struct capture_bpf *capture_programs(const struct capture *capture)
{
	return capture->attachment.sets[0].object;
}

static int share_arrays(struct capture *capture)
{
	const struct capture_config *config = &capture->plan.config;
	struct capture_bpf *programs = capture_programs(capture);
	int result;

	result = share(&capture->rings, bpf_map__fd(programs->maps.rings),
		       RING_BYTES(config->ring_slots, config->slot_size), config->cpus);
	result = result
			 ?: share(&capture->task_rings, bpf_map__fd(programs->maps.task_rings),
				  RING_BYTES(config->task_slots, sizeof(struct task_slot)),
				  config->cpus);
	result = result
			 ?: share(&capture->lanes, bpf_map__fd(programs->maps.lanes),
				  LANES_PER_CPU * sizeof(struct lane), config->cpus);
	result = result
			 ?: share(&capture->mappings, bpf_map__fd(programs->maps.mappings),
				  sizeof(struct mapping_record), MAPPINGS_MAX);
	result = result
			 ?: share(&capture->rules, bpf_map__fd(programs->maps.rules),
				  sizeof(struct rule_cache), 1);
	return result
		       ?: share(&capture->cgroup_paths, bpf_map__fd(programs->maps.cgroup_paths),
				sizeof(struct cgroup_path), CGROUP_PATHS);
}

/* What it takes to answer requests. */
static int prepare_answers(struct capture *capture)
{
	const struct capture_config *config = &capture->plan.config;

	if (!config->user_stacks || config->user_unwind != USER_UNWIND_AUTO)
		return 0;
	return answer_join_create(&capture->join) ?: assisted_create(capture, &capture->assisted);
}

static bool has_tracepoints(const struct source_list *sources)
{
	u32 kind;

	for (kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].type == SOURCE_TRACEPOINT ||
		    sources->sources[kind].type == SOURCE_SYSCALL ||
		    sources->sources[kind].type == SOURCE_WAKER)
			return true;
	return false;
}

/* Tells the programs which frames are the tracer's own, and which an interrupt's. */
static int set_kernel_text(struct capture *capture)
{
	struct shared_array text = {};
	int result;

	if (!has_tracepoints(capture->sources))
		return 0;
	result = share(&text, bpf_map__fd(capture_programs(capture)->maps.kernel_text),
		       sizeof(struct kernel_text), 1);
	result = result ?: text_ranges_read(text.memory);
	unshare(&text);
	return result;
}

static void init_rings(struct capture *capture)
{
	u32 cpu;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);
		struct ring_view task_ring = capture_task_ring(capture, cpu);

		ring_view_init(&ring);
		ring_view_init(&task_ring);
	}
}

/* A cgroup's id is its directory's inode number. */
static int filter_cgroup(struct capture_config *config, const char *path,
			 struct stackmap_error *error)
{
	struct statfs system;
	struct stat directory;

	if (!path)
		return 0;
	if (stat(path, &directory) || statfs(path, &system))
		return error_set(error, errno, "--cgroup %s: %s", path, strerror(errno));
	if (!S_ISDIR(directory.st_mode))
		return error_set(error, ENOTDIR, "--cgroup %s: %s", path, strerror(ENOTDIR));
	if (system.f_type != CGROUP2_SUPER_MAGIC)
		return error_set(error, EINVAL,
				 "--cgroup %s: not a directory of a cgroup2 file system", path);
	config->cgroup = directory.st_ino;
	return 0;
}

static int allocate_reader(struct capture *capture)
{
	const struct capture_config *config = &capture->plan.config;

	capture->cpus = calloc(config->cpus, sizeof(*capture->cpus));
	if (!capture->cpus || task_log_create(pid_namespace_zero(&config->pids), &capture->tasks))
		return -ENOMEM;
	task_log_use_paths(capture->tasks, capture->cgroup_paths.memory);
	return 0;
}

int capture_share(struct capture *capture)
{
	return share_arrays(capture) ?: allocate_reader(capture) ?: prepare_answers(capture);
}

/* Checked first: most refusals are of this kind. */
static int check_bpf(struct stackmap_error *error)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, sizeof(u32), sizeof(u64), 1, NULL);
	int code = errno;

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (code == ENOSYS)
		return error_set(error, code,
				 "this kernel has no bpf() system call (CONFIG_BPF_SYSCALL)");
	if (code != EPERM && code != EACCES)
		return error_set(error, code, "a BPF map: %s", strerror(code));
	return error_set(error, code, "the kernel refuses BPF maps to this user: %s; %s",
			 strerror(code), capability_advice());
}

static int build(struct capture *capture, const struct capture_options *options,
		 struct stackmap_error *error)
{
	int result = check_bpf(error)
			     ?: plan_make(options, &capture->plan, error)
			     ?: filter_cgroup(&capture->plan.config, options->cgroup, error);

	if (result)
		return result;
	result = capture_prepare_naming(capture);
	if (result)
		return error_set(error, -result, "the process that reads symbols: %s%s",
				 strerror(-result), limit_advice(-result));
	result = engine_open(capture->plan.config.pids.inode, &capture->engine)
			 ?: generations_create(capture)
			 ?: interrupted() ? -EINTR : 0;
	if (result)
		return error_set(error, -result, "stack map of %llu bytes: %s",
				 (unsigned long long)capture->plan.geometry.bytes,
				 strerror(-result));
	result = attachment_load(&capture->attachment, capture->generations.tables[0].fd,
				 capture->engine, error);
	if (result)
		return result;
	capture->settle_program = bpf_program__fd(capture_programs(capture)->progs.settle);
	result = generations_begin(capture) ?: capture_share(capture);
	result = result ?: set_kernel_text(capture);
	if (result)
		return error_set(error, -result, "rings: %s", strerror(-result));
	init_rings(capture);
	capture_leave_out_self(capture);
	return attachment_hooks(&capture->attachment, error);
}

struct capture *capture_new(void)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	if (!capture)
		return NULL;
	generations_init(&capture->generations);
	capture->about_fd = capture->settle_program = -1;
	return capture;
}

/* *refused: whether it was the programs that the kernel refused. */
static int create(const struct capture_options *options, bool *refused, struct capture **out,
		  struct stackmap_error *error)
{
	struct capture *capture = capture_new();
	int result;

	if (!capture)
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	capture->sources = options->sources;
	capture->attachment = (struct attachment){
		.sources = options->sources,
		.plan = &capture->plan,
		.command = options->command,
	};
	result = build(capture, options, error);
	*refused = capture->attachment.refused;
	if (result)
		capture_free(&capture);
	else
		*out = capture;
	return result;
}

/* To the next way to user stacks. False: there is none. An instance that nobody reads cannot be
 * assisted. */
static bool way_lower(struct capture_options *options)
{
	if (options->no_user_stacks || options->user_unwind == USER_UNWIND_FP)
		return false;
	if (options->no_task_work || options->has_files || !task_work_works())
		options->user_unwind = USER_UNWIND_FP;
	options->no_task_work = true;
	return true;
}

/* Why a way that this kernel should have is not taken. */
static void note_refusal(struct capture *capture, const struct stackmap_error *refusal)
{
	const struct capture_config *config = &capture->plan.config;

	capture->refusal = *refusal;
	if (!refusal->message[0] && config->user_stacks && config->deferral == DEFERRAL_ASSISTED &&
	    task_work_form() != TASK_WORK_NONE)
		error_set(&capture->refusal, 0, "BPF task work: %s", task_work_why());
}

int capture_create(const struct capture_options *options, struct capture **out,
		   struct stackmap_error *error)
{
	struct capture_options lower = *options;
	struct stackmap_error refusal = {}, again;
	bool refused = false;
	int first = create(options, &refused, out, &refusal), result = first;

	while (result && refused && !interrupted() && way_lower(&lower))
		result = create(&lower, &refused, out, &again);
	if (result && interrupted())
		first = error_set(&refusal, EINTR, "%s", strerror(EINTR));
	if (!result)
		note_refusal(*out, &refusal);
	else if (error)
		*error = refusal;
	return result ? first : 0;
}

static void close_programs(struct capture *capture)
{
	while (capture->program_count)
		close(capture->programs[--capture->program_count]);
	free(capture->programs);
	if (capture->about && capture->settle_program >= 0)
		close(capture->settle_program);
}

void capture_free(struct capture **capture)
{
	struct capture *gone = *capture;

	if (!gone)
		return;
	attachment_free(&gone->attachment);
	assisted_free(&gone->assisted);
	answer_join_free(&gone->join);
	symbolizers_free(&gone->symbolizers);
	capture_forget_names(gone);
	pending_list_clear(&gone->pending);
	generations_free(gone);
	unshare(&gone->rings);
	unshare(&gone->task_rings);
	unshare(&gone->lanes);
	unshare(&gone->mappings);
	unshare(&gone->rules);
	unshare(&gone->cgroup_paths);
	engine_close(&gone->engine);
	close_programs(gone);
	if (gone->about_fd >= 0)
		close(gone->about_fd);
	about_free(&gone->about);
	if (gone->tasks)
		task_log_free(&gone->tasks);
	free(gone->cpus);
	free(gone);
	*capture = NULL;
}

int capture_attach(struct capture *capture, struct stackmap_error *error)
{
	capture->running = true;
	return attachment_start(&capture->attachment, error);
}

bool capture_is_by_cpu(const struct capture *capture)
{
	return attachment_is_by_cpu(&capture->attachment);
}

void capture_follow_cpus(struct capture *capture)
{
	cpu_hotplug_look(&capture->attachment);
}

void capture_detach(struct capture *capture)
{
	attachment_stop(&capture->attachment);
	generation_wait(capture);
	capture->running = false;
}

int capture_settle(struct capture *capture)
{
	bool defers = capture->join && capture->plan.config.deferral == DEFERRAL_TASK_WORK;

	return defers ? settle_pending(capture) : 0;
}

void capture_leave_out_self(struct capture *capture)
{
	if (!capture->foreign)
		__atomic_store_n(&capture_programs(capture)->bss->own_tgid, getpid(),
				 __ATOMIC_RELAXED);
}

static void pause_begin(struct capture *capture, enum pause why)
{
	__atomic_fetch_or(&capture_programs(capture)->bss->paused, why, __ATOMIC_SEQ_CST);
	generation_wait(capture);
}

static void pause_end(struct capture *capture, enum pause why)
{
	__atomic_fetch_and(&capture_programs(capture)->bss->paused, ~why, __ATOMIC_SEQ_CST);
}

void capture_pause(struct capture *capture)
{
	pause_begin(capture, PAUSE_USER);
}

void capture_resume(struct capture *capture)
{
	pause_end(capture, PAUSE_USER);
}

bool capture_is_paused(const struct capture *capture)
{
	const u32 *paused = &capture_programs(capture)->bss->paused;

	return __atomic_load_n(paused, __ATOMIC_RELAXED) & PAUSE_USER;
}

/* If this process is killed meanwhile, the hook at its exit ends it; of a reader from another PID
 * namespace, which the hook does not know, only the next snapshot does. */
static void freeze_begin(struct capture *capture)
{
	pid_t freezer = capture->foreign ? 0 : getpid();

	__atomic_store_n(&capture_programs(capture)->bss->freezer_tgid, freezer, __ATOMIC_SEQ_CST);
	pause_begin(capture, PAUSE_SNAPSHOT);
}

static void freeze_end(struct capture *capture)
{
	pause_end(capture, PAUSE_SNAPSHOT);
	__atomic_store_n(&capture_programs(capture)->bss->freezer_tgid, 0, __ATOMIC_SEQ_CST);
}

static int copy_array(struct shared_array *array)
{
	void *copy = malloc(array->bytes);

	if (!copy)
		return -ENOMEM;
	array->live = array->memory;
	array->memory = memcpy(copy, array->live, array->bytes);
	return 0;
}

static void drop_copy(struct shared_array *array)
{
	if (!array->live)
		return;
	free(array->memory);
	array->memory = array->live;
	array->live = NULL;
}

int capture_freeze(struct capture *capture)
{
	int result;

	freeze_begin(capture);
	result = copy_array(&capture->rings);
	result = result ?: copy_array(&capture->task_rings);
	result = result ?: copy_array(&capture->lanes);
	if (capture->join)
		result = result ?: answers_look(capture);
	freeze_end(capture);
	if (result)
		capture_thaw(capture);
	return result;
}

void capture_thaw(struct capture *capture)
{
	drop_copy(&capture->rings);
	drop_copy(&capture->task_rings);
	drop_copy(&capture->lanes);
}

static void forget_written(struct capture *capture)
{
	u32 cpu;

	generations_forget_written(capture);
	capture_forget_names(capture);
	memset(capture->mapping_written, 0, sizeof(capture->mapping_written));
	memset(&capture->written, 0, sizeof(capture->written));
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++)
		capture->cpus[cpu].events = capture->cpus[cpu].passed_over = 0;
}

int capture_forget_written(struct capture *capture)
{
	forget_written(capture);
	if (!capture->join)
		return 0;
	answer_join_free(&capture->join);
	return answer_join_create(&capture->join);
}

void capture_next_file(struct capture *capture)
{
	forget_written(capture);
	if (capture->join)
		answers_forget_names(capture);
}
