/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds the calling thread's own stack. The walk begins with the registers of stackmap_here(),
 * whose frame is then removed. This file has its own copy of the core (CORE_EMBEDDED), so that the
 * whole copy can be checked to be async-signal-safe, and lib/user_unwind can have another copy.
 *
 * Rules are not cached: the process is not told when a library is replaced by another one at the
 * same address.
 *
 * Memory is read by a system call (process_vm_readv on this process), which returns EFAULT where a
 * load would kill the process. Some blocks are cached: neighbouring words are read one by one, and
 * frames of one file use the same tables. The system calls are made directly, because the wrappers
 * of libc or of a sanitizer need not be safe in a signal handler.
 *
 * The objects of the dynamic linker come from _dl_find_object(), which glibc made for unwinders: it
 * takes no lock. Other code (of a JIT) is looked up in /proc/self/maps.
 *
 * All of this is async-signal-safe and leaves errno unchanged.
 */
#include "stackmap/here.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/host.h"

#define CORE_EMBEDDED
#include "unwind/unwind.h"

_Static_assert(STACKMAP_HERE_DEPTH_MAX == STACK_USER_DEPTH_MAX - 1, "one frame is our own");

/* A block lies within one page, so it is readable as a whole or not at all. */
#define OWN_BLOCK 256U
#define OWN_BLOCKS 16U

/*
 * A cache of the process's own memory. All zero at first. It is valid for one walk, which assumes
 * that the cached blocks do not change.
 */
struct own_memory {
	int process;	     /* id of this process; 0: no memory was read yet */
	int error;	     /* -errno of the last read that failed */
	u64 tag[OWN_BLOCKS]; /* address of the block in each entry, plus 1; 0: the entry is empty */
	u8 block[OWN_BLOCKS][OWN_BLOCK];
};

#define PAGE 4096ULL
#define SEGMENTS_MAX 64

static bool read_own_memory_by_system_call(struct own_memory *memory, u64 address, void *buffer,
					   u32 bytes)
{
	struct iovec local = {buffer, bytes};
	struct iovec remote = {(void *)address, bytes};
	int saved = errno;
	long got;

	if (!memory->process)
		memory->process = syscall(SYS_getpid);
	got = syscall(SYS_process_vm_readv, memory->process, &local, 1UL, &remote, 1UL, 0UL);
	if (got != (long)bytes)
		memory->error = got < 0 ? -errno : -EFAULT;
	errno = saved;
	return got == (long)bytes;
}

/* Returns the cached block at an address that is a multiple of the block size; NULL: it cannot be
 * read. */
static const u8 *get_cached_block(struct own_memory *memory, u64 address)
{
	u32 index = address / OWN_BLOCK % OWN_BLOCKS;

	if (memory->tag[index] == address + 1)
		return memory->block[index];
	memory->tag[index] = 0;
	if (!read_own_memory_by_system_call(memory, address, memory->block[index], OWN_BLOCK))
		return NULL;
	memory->tag[index] = address + 1;
	return memory->block[index];
}

/* Reads own memory: all bytes or none. */
static bool own_memory_read(struct own_memory *memory, u64 address, void *buffer, u32 bytes)
{
	u8 *to = buffer;

	while (bytes) {
		u32 at = address % OWN_BLOCK;
		u32 count = bytes < OWN_BLOCK - at ? bytes : OWN_BLOCK - at;
		const u8 *block = get_cached_block(memory, address - at);

		if (!block)
			return false;
		memcpy(to, block + at, count);
		to += count;
		address += count;
		bytes -= count;
	}
	return true;
}

/* The segments of a loaded object, from its program headers. */
struct object {
	u64 header;
	u64 bias;
	bool has_bias; /* the first loaded segment was seen, so the load bias is known */
	Elf64_Ehdr elf;
};

static bool find_loaded_object(struct own_memory *memory, u64 address, struct object *object)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)address, &found))
		return false;
	*object = (struct object){.header = (u64)found.dlfo_map_start};
	return own_memory_read(memory, object->header, &object->elf, sizeof(object->elf)) &&
	       !memcmp(object->elf.e_ident, ELFMAG, SELFMAG) &&
	       object->elf.e_phentsize == sizeof(Elf64_Phdr);
}

/*
 * True if the segment contains the code at an address. An object is mapped from its first loaded
 * segment on.
 */
static bool is_code_segment_at(struct object *object, const Elf64_Phdr *segment, u64 address,
			       struct unwind_mapping *code)
{
	if (segment->p_type != PT_LOAD)
		return false;
	if (!object->has_bias)
		object->bias = object->header - (segment->p_vaddr & -PAGE);
	object->has_bias = true;
	*code = (struct unwind_mapping){
		.start = object->bias + segment->p_vaddr,
		.end = object->bias + segment->p_vaddr + segment->p_memsz,
		.image = object->header,
	};
	return segment->p_flags & PF_X && address >= code->start && address < code->end;
}

static bool find_code_segment_of_loaded_object(struct own_memory *memory, u64 address,
					       struct unwind_mapping *code)
{
	struct object object;
	Elf64_Phdr segment;

	if (!find_loaded_object(memory, address, &object))
		return false;
	for (u32 i = 0; i < object.elf.e_phnum && i < SEGMENTS_MAX; i++) {
		u64 from = object.header + object.elf.e_phoff + i * sizeof(segment);

		if (!own_memory_read(memory, from, &segment, sizeof(segment)))
			return false;
		if (is_code_segment_at(&object, &segment, address, code))
			return true;
	}
	return false;
}

/* The parser of a line of /proc/self/maps, byte by byte: "START-END rwxp ...". */
struct maps_line {
	u64 number[2];
	u32 field; /* which part of the line is read: 0: START, 1: END, 2: access, 3: the rest of
		      the line */
	bool is_code;
};

static void parse_maps_byte(struct maps_line *line, char byte)
{
	if (byte == '\n')
		*line = (struct maps_line){};
	else if (byte == ' ' || (byte == '-' && line->field == 0))
		line->field += line->field < 3;
	else if (line->field < 2)
		line->number[line->field] = line->number[line->field] << 4 |
					    (byte <= '9' ? byte - '0' : byte - 'a' + 10);
	else if (line->field == 2)
		line->is_code |= byte == 'x';
}

static bool search_proc_maps_for_code(int fd, u64 address, struct unwind_mapping *code)
{
	struct maps_line line = {};
	char buffer[OWN_BLOCK];
	long got;

	while ((got = syscall(SYS_read, fd, buffer, sizeof(buffer))) > 0) {
		for (long i = 0; i < got; i++) {
			parse_maps_byte(&line, buffer[i]);
			if (line.field != 3 || !line.is_code || address < line.number[0] ||
			    address >= line.number[1])
				continue;
			*code = (struct unwind_mapping){.start = line.number[0],
							.end = line.number[1]};
			return true;
		}
	}
	return false;
}

static bool find_mapped_code(u64 address, struct unwind_mapping *code)
{
	int saved = errno;
	int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && search_proc_maps_for_code(fd, address, code);

	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = saved;
	return found;
}

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return own_memory_read(unwind->memory, address, buffer, bytes);
}

/* Code that belongs to no file gets the image address 0. */
bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	struct unwind_mapping code;

	if (!find_code_segment_of_loaded_object(unwind->memory, pc, &code) &&
	    !find_mapped_code(pc, &code))
		return false;
	unwind->mapping = code;
	return true;
}

#include "unwind/unwind_alone.c"

/* The function's own frame must exist until it returns, so it must not end with a tail call. */
__attribute__((noinline)) int stackmap_here(uint64_t *frames, int max)
{
	struct own_memory memory = {};
	struct unwind unwind = {.memory = &memory, .budget = UNWIND_BUDGET};
	int count = 0;

	if (max < 1 || !frames)
		return -EINVAL;
	registers_here(&unwind.registers);
	unwind_stack(&unwind, max < STACKMAP_HERE_DEPTH_MAX ? max + 1 : STACK_USER_DEPTH_MAX);
	/* Frame 0 is that of this function and is left out. */
	for (u32 i = 1; i < unwind.depth && count < max; i++)
		frames[count++] = unwind.frame[i];
	if (!count)
		return memory.error ? memory.error : -EFAULT;
	return count;
}
