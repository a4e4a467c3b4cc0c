/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the images that a BPF program finds for mappings of this process with those of the
 * dynamic linker. The test is built by several linkers, with and without a fixed address, as their
 * images differ.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_vma_image.h"
#include "test_vma_image.skel.h"
#include "unit_test.h"

int in_first_page(int number); /* small_library.c */

#define PAGE 4096UL
/* DECIDED (meson.build): looks; the load of the machine says how many more are undecided */
#define LOOKS_MAX (100 * DECIDED)

static struct test_vma_image_bpf *programs;

/* Code of an object, and the address of the object's first segment. */
struct code {
	u64 address;
	u64 file_offset; /* ~0: unknown */
	u64 image;
};

static struct image_question find_vma_image_of_address(u64 address)
{
	struct image_question question = {.address = address};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &question,
		    .ctx_size_in = sizeof(question));

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(programs->progs.look), &options),
			 0);
	assert_int_equal(options.retval, 0);
	return question;
}

static void assert_found(const struct image_question *found, const struct code *code)
{
	assert_int_equal(found->error, 0);
	assert_true(found->number);
	assert_in_range(code->address, found->start, found->end - 1);
	assert_int_equal(code->address - found->start + found->file_offset, code->file_offset);
	assert_int_equal(found->image, code->image);
}

static void assert_finds(const struct code *code)
{
	struct image_question found = find_vma_image_of_address(code->address);

	assert_found(&found, code);
}

static void assert_segment(const struct dl_phdr_info *object, const ElfW(Phdr) * segment, u64 image)
{
	for (u64 offset = 0; offset < segment->p_memsz; offset += segment->p_memsz - 1)
		assert_finds(&(struct code){
			.address = object->dlpi_addr + segment->p_vaddr + offset,
			.file_offset = segment->p_offset + offset,
			.image = image,
		});
}

static u64 image_of(const struct dl_phdr_info *object)
{
	for (u32 i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD && !object->dlpi_phdr[i].p_offset)
			return object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
	return 0;
}

static int assert_object(struct dl_phdr_info *object, size_t bytes, void *segments)
{
	(void)bytes;
	for (u32 i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		assert_segment(object, segment, image_of(object));
		++*(u32 *)segments;
	}
	return 0;
}

static void assert_all_objects(void)
{
	u32 segments = 0;

	dl_iterate_phdr(assert_object, &segments);
	assert_in_range(segments, 5, 1000); /* this program, three libraries, the vdso */
}

TEST(images_are_those_of_the_dynamic_linker)
{
	assert_int_equal(in_first_page(0), 1);
	assert_all_objects();
}

static int first_image(struct dl_phdr_info *object, size_t bytes, void *image)
{
	(void)bytes;
	*(u64 *)image = image_of(object);
	return 1;
}

/* Maps all of this program's file, as readers of their own symbols do, right below the program. */
TEST(a_mapping_below_does_not_belong_to_the_image)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat stat;
	u64 image, bytes;
	void *copy;

	assert_int_equal(fstat(fd, &stat), 0);
	bytes = (stat.st_size + PAGE - 1) & ~(PAGE - 1);
	dl_iterate_phdr(first_image, &image);
	copy = mmap((void *)(image - bytes), bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
		    fd, 0);
	close(fd);
	if (copy == MAP_FAILED) {
		printf("skip: something else is mapped below the image: %s\n", strerror(errno));
		skip();
	}
	assert_all_objects();
	munmap(copy, bytes);
}

TEST(pieces_of_code_are_one_image)
{
	void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	void *code = library ? dlsym(library, "fma") : NULL;
	void *page = (void *)((uintptr_t)code & ~(PAGE - 1));

	assert_non_null(code);
	assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	assert_all_objects();
	dlclose(library);
}

/* The same file twice in one process. */
TEST(each_copy_has_its_own_image)
{
	void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	void *code[2] = {dlsym(RTLD_DEFAULT, "qsort"), library ? dlsym(library, "qsort") : NULL};
	struct image_question found[2];

	if (!library) {
		printf("skip: the linker gives no second copy of libc.so.6\n");
		skip();
	}
	for (u32 i = 0; i < 2; i++) {
		Dl_info info;

		assert_true(dladdr(code[i], &info));
		found[i] = find_vma_image_of_address((uintptr_t)code[i]);
		assert_int_equal(found[i].error, 0);
		assert_int_equal(found[i].image, (uintptr_t)info.dli_fbase);
	}
	assert_int_not_equal(found[0].image, found[1].image);
	assert_int_equal(found[0].number, found[1].number);
	dlclose(library);
}

TEST(code_without_a_file_has_no_image)
{
	void *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct image_question found;

	assert_true(code != MAP_FAILED);
	found = find_vma_image_of_address((uintptr_t)code);
	assert_int_equal(found.error, 0);
	assert_int_equal(found.image, 0);
	munmap(code, PAGE);
	assert_int_equal(find_vma_image_of_address((uintptr_t)code).error, -ENOENT);
	assert_int_equal(find_vma_image_of_address((uintptr_t)&found).error, -ENOENT);
}

/* A page of this program's file. */
static void map_page(void *address, u64 file_offset, int access)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_ptr_equal(mmap(address, PAGE, access, MAP_PRIVATE | MAP_FIXED, fd, file_offset),
			 address);
	close(fd);
}

/* Code behind a program's zeroed data, and the same code in a mapping apart from its ELF header. */
TEST(anonymous_memory_may_lie_inside_an_image)
{
	void *base = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *elsewhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct code code = {.file_offset = PAGE, .image = (uintptr_t)base};

	map_page(base, 0, PROT_READ);
	map_page(base + 2 * PAGE, PAGE, PROT_READ | PROT_EXEC);
	code.address = (uintptr_t)base + 2 * PAGE;
	assert_finds(&code);
	munmap(base, PAGE);
	assert_ptr_equal(
		mremap(base + 2 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere),
		elsewhere);
	code = (struct code){.address = (uintptr_t)elsewhere, .file_offset = PAGE};
	assert_finds(&code);
	munmap(elsewhere, PAGE);
	munmap(base + PAGE, PAGE);
}

static atomic_bool done;

/* Splits a mapping at its second page and joins it again, while other mappings come and go. */
static void *change_mappings(void *code)
{
	void *block[64] = {};

	for (u32 i = 0; !done; i = (i + 29) % 64) {
		if (block[i])
			munmap(block[i], 2 * PAGE);
		block[i] = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(code + PAGE, PAGE, PROT_READ);
		mprotect(code + PAGE, PAGE, PROT_READ | PROT_EXEC);
	}
	for (u32 i = 0; i < 64; i++)
		if (block[i])
			munmap(block[i], 2 * PAGE);
	return NULL;
}

/* Three pages of this program's file: the last one stays code while the one before it changes. The
 * only other answer that is allowed is that the mappings are being changed. */
TEST(changes_of_neighbouring_mappings_are_harmless)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, 3 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	struct code last = {
		.address = (u64)code + 2 * PAGE, .file_offset = 2 * PAGE, .image = (u64)code};
	pthread_t thread;
	u32 decided = 0;

	close(fd);
	assert_true(code != MAP_FAILED);
	done = false;
	assert_int_equal(pthread_create(&thread, NULL, change_mappings, code), 0);
	for (u32 i = 0; i < LOOKS_MAX && decided < DECIDED; i++) {
		struct image_question found = find_vma_image_of_address(last.address);

		if (found.error == -EAGAIN)
			continue;
		assert_found(&found, &last);
		decided++;
	}
	done = true;
	pthread_join(thread, NULL);
	assert_int_equal(decided, DECIDED);
	munmap(code, 3 * PAGE);
}

int main(void)
{
	programs = test_vma_image_bpf__open();
	if (!programs || test_vma_image_bpf__load(programs)) {
		if (errno != EPERM)
			return 1;
		puts("skipped: no permission to load BPF programs");
		return 77;
	}
	return unit_tests_run();
}
