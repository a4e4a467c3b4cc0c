/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures the verifier's work for each BPF program that a process loads; prints one line a
 * program. The library is preloaded and wraps libbpf's call of bpf(2), so it measures the product's
 * own loads. The verifier counts instructions and states itself (log level 4). Most kernels do not
 * account the verifier's memory to a process: a second thread watches the kernel's total
 * allocations meanwhile, so the figure is right only in an otherwise idle guest. The kernel counts
 * in steps of about a MiB, so small programs show 0. Loads of several threads are serialized.
 *
 * WATCH_LOADS is the file that the lines are added to:
 * load COMMAND NAME ERROR INSTRUCTIONS STATES PEAK_STATES KIB MICROSECONDS
 *
 * With OBJECTS=FOLDER the objects of that folder, FOLDER/SKELETON.o, are loaded in place of those
 * that the command was built with: the same sources by another compiler. Their variables have to
 * lie where the command expects them (same_skeleton).
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_STATS 4
#define LOOK_US 3000 /* delay of the first reading; a reading costs an emulated CPU much time */
/* Each further delay is 1/LATER of the elapsed time: states pile up until the end. */
#define LATER 16
#define FREED_SLOWLY 100 /* readings that wait until earlier loads have freed their memory */
#define NOISE_KIB 256

struct cost {
	unsigned long long microseconds;
	unsigned int instructions, states, peak_states;
};

static long (*next_syscall)(long number, ...);
static char file[256];
static atomic_bool is_done;

/* Processes that this process starts are not measured. */
__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("WATCH_LOADS");

	snprintf(file, sizeof(file), "%s", path ? path : "/dev/null");
	unsetenv("LD_PRELOAD");
	next_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

static unsigned long kib_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

/* KiB that the kernel has allocated for itself. */
static unsigned long kernel_kib(void)
{
	char text[4096];
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[length < 0 ? 0 : length] = 0;
	return kib_after(text, "SUnreclaim:") + kib_after(text, "VmallocUsed:");
}

static unsigned long settled_kib(void)
{
	unsigned long before, now = kernel_kib();
	int looks = 0;

	do {
		before = now;
		usleep(LOOK_US);
		now = kernel_kib();
	} while (now + NOISE_KIB < before && ++looks < FREED_SLOWLY);
	return now;
}

static void *watch(void *most)
{
	for (useconds_t us = LOOK_US; !atomic_load(&is_done); us += us / LATER) {
		unsigned long now = kernel_kib();

		if (now > *(unsigned long *)most)
			*(unsigned long *)most = now;
		usleep(us);
	}
	return NULL;
}

static void parse(const char *log, struct cost *cost)
{
	const char *time = strstr(log, "verification time "), *counts = strstr(log, "processed ");

	if (time)
		sscanf(time, "verification time %llu", &cost->microseconds);
	if (counts)
		sscanf(counts,
		       "processed %u insns (limit %*u) max_states_per_insn %*u total_states %u "
		       "peak_states %u",
		       &cost->instructions, &cost->states, &cost->peak_states);
}

/* The name from BTF, as the kernel's own names are cut at 15 characters. */
static const char *name_of(const union bpf_attr *attr, struct btf *btf)
{
	const struct bpf_func_info *functions = (void *)(unsigned long)attr->func_info;
	const struct btf_type *type = btf ? btf__type_by_id(btf, functions->type_id) : NULL;

	return type ? btf__name_by_offset(btf, type->name_off) : attr->prog_name;
}

static struct btf *types_of(const union bpf_attr *attr)
{
	struct bpf_btf_info info = {};
	unsigned int size = sizeof(info);

	return bpf_obj_get_info_by_fd(attr->prog_btf_fd, &info, &size)
		       ? NULL
		       : btf__load_from_kernel_by_id(info.id);
}

static void add_line(const union bpf_attr *attr, int error, const struct cost *cost,
		     unsigned long kib)
{
	struct btf *btf = types_of(attr);
	char line[256];
	int length = snprintf(line, sizeof(line), "load %s %s %d %u %u %u %lu %llu\n",
			      program_invocation_short_name, name_of(attr, btf), error,
			      cost->instructions, cost->states, cost->peak_states, kib,
			      cost->microseconds);
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, length) != length)
		fprintf(stderr, "watch_loads: %s: %s\n", file, strerror(errno));
	close(fd);
	btf__free(btf);
}

static long load_watched(union bpf_attr *attr, unsigned int size)
{
	static char log[1 << 16];
	unsigned long before, most;
	struct cost cost = {};
	pthread_t watcher;
	long result;
	int error;

	log[0] = 0;
	attr->log_level = LOG_STATS;
	attr->log_buf = (unsigned long)log;
	attr->log_size = sizeof(log);
	before = most = settled_kib();
	atomic_store(&is_done, false);
	if (pthread_create(&watcher, NULL, watch, &most))
		abort();
	result = next_syscall(__NR_bpf, BPF_PROG_LOAD, attr, size);
	error = result < 0 ? errno : 0;
	atomic_store(&is_done, true);
	pthread_join(watcher, NULL);
	parse(log, &cost);
	if (error)
		fprintf(stderr, "watch_loads: refused: %s\n", log);
	add_line(attr, error, &cost, most - before);
	errno = error;
	return result;
}

static long load(union bpf_attr *attr, unsigned int size)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	long result;
	int error;

	pthread_mutex_lock(&lock);
	result = load_watched(attr, size);
	error = errno;
	pthread_mutex_unlock(&lock);
	errno = error;
	return result;
}

/* True for programs of the product. Libbpf's probes of kernel features have no BTF; loads that
 * request a log keep their own log. */
static bool is_program_of_product(const union bpf_attr *attr)
{
	return attr->func_info_cnt && !attr->log_level;
}

static long bpf(long command, void *argument, unsigned int size)
{
	union bpf_attr attr = {};

	if (command == BPF_PROG_LOAD)
		memcpy(&attr, argument, size < sizeof(attr) ? size : sizeof(attr));
	if (is_program_of_product(&attr))
		return load(&attr, size);
	return next_syscall(__NR_bpf, command, argument, size);
}

long syscall(long number, ...)
{
	long argument[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	if (number == __NR_bpf)
		return bpf(argument[0], (void *)argument[1], argument[2]);
	return next_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
			    argument[5]);
}

/* Maps a whole file until the process ends; NULL with errno. */
static const void *whole_file(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status = {};
	void *data;

	if (fd < 0 || fstat(fd, &status))
		return NULL;
	data = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*bytes = status.st_size;
	return data == MAP_FAILED ? NULL : data;
}

/* A missing object ends the process, so that the test does not pass without it. */
static void take_object(struct bpf_object_skeleton *skeleton, const char *folder)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.o", folder, skeleton->name);
	skeleton->data = whole_file(path, &skeleton->data_sz);
	if (skeleton->data)
		return;
	fprintf(stderr, "watch_loads: %s: %s\n", path, strerror(errno));
	abort();
}

int bpf_object__open_skeleton(struct bpf_object_skeleton *skeleton,
			      const struct bpf_object_open_opts *options)
{
	int (*next)(struct bpf_object_skeleton *, const struct bpf_object_open_opts *) =
		(__typeof__(next))dlsym(RTLD_NEXT, __func__);
	const char *folder = getenv("OBJECTS");

	if (folder)
		take_object(skeleton, folder);
	return next(skeleton, options);
}
