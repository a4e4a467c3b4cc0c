/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapping_swap WAY N FIRST SECOND: maps two libraries (swapped.c) by turns, N times, at one
 * address. Each library has its own caller and callback here, so every stack shows which library
 * was mapped: emit_first always comes with through_first and call_first.
 *
 *   dlopen   dlclose() of one, dlopen() of the other
 *   mmap     one is mapped over the other
 *   threads  the same, while another thread changes other mappings
 *   munmap   one is unmapped, then the other mapped
 *   mremap   one is moved onto the other
 *   fork     each in a new process with the same id
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_syscall.h"

#define APART __attribute__((noinline, noclone))
#define BARRIER() __asm__ volatile("" ::: "memory")

typedef long (*through)(void (*emit)(long), long n);

struct library {
	const char *path;
	const char *function;
	uintptr_t offset; /* file offset of the function */
	size_t bytes;
	void (*call)(through function, long n);
};

static void *place; /* address of both libraries */
static size_t place_bytes;

/* Events are taken at the entry of this function, and in its system call. */
static APART void leaf(long n)
{
	own_syscall(SYS_getppid, n);
}

static APART void emit_first(long n)
{
	leaf(n);
	BARRIER();
}

static APART void emit_second(long n)
{
	leaf(n);
	BARRIER();
}

static APART void call_first(through function, long n)
{
	function(emit_first, n);
	BARRIER();
}

static APART void call_second(through function, long n)
{
	function(emit_second, n);
	BARRIER();
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void check(int is_right, const char *what)
{
	if (!is_right)
		fail(what);
}

static through load(const struct library *library, void **handle)
{
	through function;

	*handle = dlopen(library->path, RTLD_NOW);
	check(*handle != NULL, library->path);
	function = (through)dlsym(*handle, library->function);
	check(function != NULL, library->function);
	return function;
}

/* Finds the function's file offset. The loaded bytes equal the file's bytes, so the function also
 * runs in a mapping of the whole file. */
static void measure(struct library *library)
{
	struct stat stat_of;
	void *handle;
	through function = load(library, &handle);
	Dl_info info;

	check(dladdr((void *)function, &info) && !stat(library->path, &stat_of), "measure");
	library->offset = (uintptr_t)function - (uintptr_t)info.dli_fbase;
	library->bytes = ((size_t)stat_of.st_size + 4095) & ~4095UL;
	if (library->bytes > place_bytes)
		place_bytes = library->bytes;
	dlclose(handle);
}

static void run_loaded(const struct library *library, long n)
{
	static through before;
	void *handle;
	through function = load(library, &handle);

	check(!before || before == function, "the address is another one");
	before = function;
	library->call(function, n);
	dlclose(handle);
}

static void *map_file(const struct library *library, void *address, int flags)
{
	int fd = open(library->path, O_RDONLY | O_CLOEXEC);
	void *mapped =
		mmap(address, library->bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | flags, fd, 0);

	check(mapped != MAP_FAILED, "mmap");
	close(fd);
	return mapped;
}

static void call_mapped(const struct library *library, long n)
{
	library->call((through)((uintptr_t)place + library->offset), n);
}

static void run_mapped(const struct library *library, long n)
{
	map_file(library, place, MAP_FIXED);
	call_mapped(library, n);
}

static void run_unmapped(const struct library *library, long n)
{
	map_file(library, place, MAP_FIXED_NOREPLACE);
	call_mapped(library, n);
	munmap(place, library->bytes);
}

static void run_moved(const struct library *library, long n)
{
	void *elsewhere = map_file(library, NULL, 0);

	check(mremap(elsewhere, library->bytes, library->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		     place) == place,
	      "mremap");
	call_mapped(library, n);
}

/* The next process gets the id `last` + 1 if that is free. */
static void set_last_pid(pid_t last)
{
	FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");

	check(file && fprintf(file, "%d", last) > 0 && !fclose(file), "ns_last_pid");
}

static void run_forked(const struct library *library, long n)
{
	static pid_t before;
	pid_t child;

	if (before)
		set_last_pid(before - 1);
	child = fork();
	check(child >= 0, "fork");
	if (!child) {
		run_loaded(library, n);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	before = child;
}

static atomic_bool done;

static void *change_mappings(void *arg)
{
	while (!done) {
		void *memory = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		mprotect(memory, 4096, PROT_NONE);
		munmap(memory, 8192);
	}
	return arg;
}

typedef void (*way)(const struct library *library, long n);

static APART void swap(way run, const struct library library[2], long n)
{
	for (long i = 0; i < n; i++)
		run(&library[i & 1], i);
}

static void swap_beside_changes(const struct library library[2], long n)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, change_mappings, NULL), "pthread_create");
	swap(run_mapped, library, n);
	done = 1;
	pthread_join(thread, NULL);
}

static way way_of(const char *name)
{
	static const struct {
		const char *name;
		way run;
	} ways[] = {{"dlopen", run_loaded},   {"mmap", run_mapped},  {"threads", run_mapped},
		    {"munmap", run_unmapped}, {"mremap", run_moved}, {"fork", run_forked}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(name, ways[i].name))
			return ways[i].run;
	return NULL;
}

int main(int argc, char **argv)
{
	struct library library[2] = {{.function = "through_first", .call = call_first},
				     {.function = "through_second", .call = call_second}};
	way run = argc == 5 ? way_of(argv[1]) : NULL;

	if (!run)
		return 2;
	library[0].path = argv[3];
	library[1].path = argv[4];
	measure(&library[0]);
	measure(&library[1]);
	place = mmap(NULL, place_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(place != MAP_FAILED, "mmap");
	if (run == run_unmapped)
		munmap(place, place_bytes);
	if (!strcmp(argv[1], "threads"))
		swap_beside_changes(library, atol(argv[2]));
	else
		swap(run, library, atol(argv[2]));
	return 0;
}
