/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinding repeatedly needs the same few files, and adjacent bytes of them. OPEN_MAX files stay
 * open, and the least recently used one is closed for a new one. Pages are kept in a direct-mapped
 * cache. A mapping number stands for one version of one file, so cached pages stay valid.
 *
 * A file that could not be opened is not tried again for the same process.
 */
#include "code_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_MAX 96
#define PAGE READERS_PAGE
#define PAGES 512U
#define SEGMENTS_MAX 16U
#define HEADERS_MAX 64U

struct code_file {
	/* mapping that the file was opened for; number MAPPING_NONE: the entry is unused */
	struct reader_file seen;
	u64 used; /* value of `calls` when the entry was last used */
	int fd;	  /* descriptor of the file; READERS_HELD: a worker keeps it open; or -errno */
	u32 segment_count;
	Elf64_Phdr segment[SEGMENTS_MAX]; /* program headers of type PT_LOAD */
};

struct code_page {
	u32 number; /* number of the mapping; MAPPING_NONE: the entry is unused */
	u32 tgid;   /* id of the process that the page was read for, if a worker process keeps the
		       file open; else 0 */
	u64 index;
	u8 data[PAGE];
};

struct code_files {
	struct readers *readers;
	u64 calls;
	struct code_file file[OPEN_MAX];
	struct code_page page[PAGES];
};

int code_files_create(struct readers *readers, struct code_files **files)
{
	struct code_files *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->readers = readers;
	for (u32 i = 0; i < OPEN_MAX; i++)
		made->file[i].fd = -1;
	*files = made;
	return 0;
}

static void close_file_entry(struct code_file *file)
{
	if (file->fd >= 0 && file->fd != READERS_HELD)
		close(file->fd);
	*file = (struct code_file){.fd = -1};
}

void code_files_free(struct code_files **files)
{
	if (!*files)
		return;
	for (u32 i = 0; i < OPEN_MAX; i++)
		close_file_entry(&(*files)->file[i]);
	free(*files);
	*files = NULL;
}

static u32 process_of_held_file(const struct code_file *file)
{
	return file->fd == READERS_HELD ? file->seen.tgid : 0;
}

static const struct code_page *read_cached_page_of_file(struct code_files *files,
							const struct code_file *file, u64 index)
{
	struct code_page *page = &files->page[(index + file->seen.number * 61) % PAGES];
	ssize_t got;

	if (page->number == file->seen.number && page->tgid == process_of_held_file(file) &&
	    page->index == index)
		return page;
	got = file->fd == READERS_HELD
		      ? readers_read_page(files->readers, &file->seen, index, page->data)
		      : pread(file->fd, page->data, PAGE, index * PAGE);
	page->number = MAPPING_NONE;
	if (got <= 0)
		return NULL;
	memset(page->data + got, 0, PAGE - got);
	page->number = file->seen.number;
	page->tgid = process_of_held_file(file);
	page->index = index;
	return page;
}

bool code_file_read(struct code_files *files, const struct code_file *file, u64 offset,
		    void *buffer, u32 bytes)
{
	u8 *to = buffer;

	while (bytes) {
		const struct code_page *page = read_cached_page_of_file(files, file, offset / PAGE);
		u32 at = offset % PAGE;
		u32 count = bytes < PAGE - at ? bytes : PAGE - at;

		if (!page)
			return false;
		memcpy(to, page->data + at, count);
		to += count;
		offset += count;
		bytes -= count;
	}
	return true;
}

/*
 * Reads the program headers. A file that is not ELF has no segments. False: the file cannot be read
 * now.
 */
static bool read_segments(struct code_files *files, struct code_file *file)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (!code_file_read(files, file, 0, &header, sizeof(header)))
		return false;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(segment) ||
	    header.e_phnum > HEADERS_MAX)
		return true;
	for (u32 i = 0; i < header.e_phnum; i++) {
		if (!code_file_read(files, file, header.e_phoff + i * sizeof(segment), &segment,
				    sizeof(segment)))
			return false;
		if (segment.p_type == PT_LOAD && file->segment_count < SEGMENTS_MAX)
			file->segment[file->segment_count++] = segment;
	}
	return true;
}

/*
 * Returns the entry of a file. If the file has none, returns the least recently used entry, which
 * the caller replaces.
 */
static struct code_file *find_or_evict_file_entry(struct code_files *files, u32 number)
{
	struct code_file *oldest = &files->file[0];

	for (u32 i = 0; i < OPEN_MAX; i++) {
		struct code_file *file = &files->file[i];

		if (file->seen.number == number)
			return file;
		if (file->used < oldest->used)
			oldest = file;
	}
	return oldest;
}

/*
 * True if the entry may be used for this mapping. A file that a process does not have stays
 * missing, but a refused request may succeed later.
 */
static bool is_file_entry_usable(const struct code_file *file, const struct reader_file *seen)
{
	if (file->seen.number != seen->number)
		return false;
	if (file->fd >= 0 && file->fd != READERS_HELD)
		return true;
	return file->seen.tgid == seen->tgid && (file->fd == READERS_HELD || file->fd == -ENOENT);
}

const struct code_file *code_files_get(struct code_files *files, const struct reader_file *seen)
{
	struct code_file *file = find_or_evict_file_entry(files, seen->number);

	if (!is_file_entry_usable(file, seen)) {
		close_file_entry(file);
		file->seen = *seen;
		file->fd = readers_open(files->readers, seen);
		if (file->fd >= 0 && !read_segments(files, file) && file->fd == READERS_HELD)
			file->fd = -EAGAIN;
	}
	file->used = ++files->calls;
	return file->fd >= 0 ? file : NULL;
}

bool code_file_is_held(const struct code_file *file)
{
	return file->fd == READERS_HELD;
}

/*
 * Code is mapped in whole pages, so bytes of the file that share a page with the beginning or end
 * of a segment have addresses, too.
 */
bool code_file_address_of_offset(const struct code_file *file, u64 offset, u64 *address)
{
	for (u32 i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segment[i];
		u64 first = segment->p_offset & ~(u64)(PAGE - 1);

		if (!(segment->p_flags & PF_X) || offset < first ||
		    offset - first >= segment->p_filesz + (segment->p_offset - first))
			continue;
		*address = segment->p_vaddr + (offset - segment->p_offset);
		return true;
	}
	return false;
}

bool code_file_address_of_elf_header(const struct code_file *file, u64 *address)
{
	for (u32 i = 0; i < file->segment_count; i++) {
		if (file->segment[i].p_offset)
			continue;
		*address = file->segment[i].p_vaddr;
		return true;
	}
	return false;
}

bool code_file_read_at_address(struct code_files *files, const struct code_file *file, u64 address,
			       void *buffer, u32 bytes)
{
	for (u32 i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segment[i];
		u64 at = address - segment->p_vaddr;

		if (!(segment->p_flags & PF_W) && at < segment->p_filesz &&
		    segment->p_filesz - at >= bytes)
			return code_file_read(files, file, segment->p_offset + at, buffer, bytes);
	}
	return false;
}
