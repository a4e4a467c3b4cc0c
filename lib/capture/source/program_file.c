/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A name without a slash is searched for as a command in $PATH, then as the soname of a library in
 * the cache of ld.so.
 *
 * The cache is read in the format that glibc has written since 2.32 (described in its elf/cache.c):
 * a header, entries, and strings, which entries name by their offset in the file. Offsets are
 * checked. A cache that cannot be read has no libraries.
 */
#include "program_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/host.h"
#include "error.h"
#include "scalar.h"
#include "symbol/elf/elf_layout.h"

#define CACHE_PATH "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_BYTES_MAX (64 << 20)

struct cache_header {
	char magic[sizeof(CACHE_MAGIC) - 1];
	u32 count;
	u32 string_bytes;
	u32 reserved[5];
};
ABI_SIZE(struct cache_header, 48);

struct cache_entry {
	s32 flags;
	u32 name;
	u32 path;
	u32 reserved;
	u64 hwcap;
};
ABI_SIZE(struct cache_entry, 24);

/* Returns the string at an offset of the cache; "": the string does not end within the cache. */
static const char *string_in_library_cache(const void *cache, size_t bytes, u32 offset)
{
	const char *string = (const char *)cache + offset;

	return offset < bytes && memchr(string, '\0', bytes - offset) ? string : "";
}

/* True if `name` is the soname, "libc.so.6", or its short form, "libc". */
static bool has_library_name(const char *soname, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(soname, name, length))
		return false;
	return !soname[length] || !strncmp(soname + length, ".so", 3);
}

int library_cache_search(const void *cache, size_t bytes, const char *name, char path[PATH_MAX])
{
	const struct cache_header *header = cache;
	const struct cache_entry *entries = (const void *)(header + 1);

	if (bytes < sizeof(*header) || memcmp(header->magic, CACHE_MAGIC, sizeof(header->magic)) ||
	    header->count > (bytes - sizeof(*header)) / sizeof(*entries))
		return -ENOENT;
	for (u32 i = 0; i < header->count; i++) {
		if (entries[i].flags != LIBRARY_CACHE_FLAGS ||
		    !has_library_name(string_in_library_cache(cache, bytes, entries[i].name), name))
			continue;
		snprintf(path, PATH_MAX, "%s",
			 string_in_library_cache(cache, bytes, entries[i].path));
		return 0;
	}
	return -ENOENT;
}

static void *read_library_cache(size_t *bytes)
{
	FILE *file = fopen(CACHE_PATH, "re");
	void *cache = NULL;
	long end;

	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) > 0 && end < CACHE_BYTES_MAX)
		cache = malloc(end);
	rewind(file);
	*bytes = cache ? fread(cache, 1, end, file) : 0;
	fclose(file);
	return cache;
}

static int find_library(const char *name, char path[PATH_MAX])
{
	char candidate[PATH_MAX];
	size_t bytes;
	void *cache = read_library_cache(&bytes);
	int err = cache ? library_cache_search(cache, bytes, name, candidate) : -ENOENT;

	free(cache);
	if (err)
		return err;
	return realpath(candidate, path) ? 0 : -errno;
}

int program_file_find(const char *name, char path[PATH_MAX])
{
	const char *directory = getenv("PATH");
	struct stat file, resolved;
	char candidate[PATH_MAX];

	if (strchr(name, '/')) {
		if (stat(name, &file))
			return -errno;
		/* realpath() of a path through /proc/PID/root into another mount namespace gives a
		 * path that leads to another file, or to no file, in the mount namespace of this
		 * process. */
		if (realpath(name, path) && !stat(path, &resolved) &&
		    resolved.st_dev == file.st_dev && resolved.st_ino == file.st_ino)
			return 0;
		if (name[0] != '/' || strlen(name) >= PATH_MAX)
			return -ENOENT;
		strcpy(path, name);
		return 0;
	}
	while (directory && *directory) {
		int length = (int)strcspn(directory, ":");

		snprintf(candidate, sizeof(candidate), "%.*s/%s", length, directory, name);
		if (access(candidate, X_OK) == 0 && realpath(candidate, path))
			return 0;
		directory += length + (directory[length] == ':');
	}
	return find_library(name, path);
}

/* Opens a file if it is a regular file. Opening a FIFO or a device could block or have effects;
 * O_NONBLOCK prevents that the call blocks. */
int program_file_open(const char *path, struct program_file *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char ident[EI_NIDENT] = {};
	struct stat status;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		err = -errno;
	else if (!S_ISREG(status.st_mode) || pread(fd, ident, sizeof(ident), 0) != sizeof(ident) ||
		 memcmp(ident, ELFMAG, SELFMAG))
		err = -ENOEXEC;
	if (err) {
		close(fd);
		return err;
	}
	*out = (struct program_file){fd, status.st_size, ident[EI_CLASS] == ELFCLASS64};
	return 0;
}

int program_file_check_probes_can_run(const struct program_file *file, const char *subject,
				      struct stackmap_error *error)
{
	if (file->is_64_bit || COMPAT_IS_PROBED)
		return 0;
	return error_set(error, EOPNOTSUPP,
			 "%s: a 32-bit program, in which kernels for arm64 run no probes", subject);
}

/*
 * libelf checks the file's tables as it reads them; damaged parts count as absent. The file is
 * read, not mapped, so a file that shrinks meanwhile gives an error instead of SIGBUS.
 */

#define NAME_BYTES 1024

struct walk {
	Elf *elf;
	struct elf_segments segments;
	elf_function_visit visit;
	void *arg;
};

static int visit_symbol(const struct walk *walk, const GElf_Sym *symbol, const char *name)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);
	char plain[NAME_BYTES];
	const struct elf_segment *segment =
		elf_segment_of_address(&walk->segments, symbol->st_value);
	struct elf_function function = {
		.name = plain,
		.is_ifunc = type == STT_GNU_IFUNC,
	};

	if (!name || !name[0] || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    symbol->st_shndx == SHN_UNDEF || !segment)
		return 0;
	function.offset = symbol->st_value - segment->address + segment->offset;
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "@"), name);
	return walk->visit(walk->arg, &function);
}

static int visit_symbol_tables(const struct walk *walk, GElf_Word type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	int err = 0;

	while (!err && (section = elf_nextscn(walk->elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == type)
			data = elf_getdata(section, NULL);
		for (int i = 0; data && !err && gelf_getsym(data, i, &symbol); i++)
			err = visit_symbol(walk, &symbol,
					   elf_strptr(walk->elf, header.sh_link, symbol.st_name));
	}
	return err;
}

int elf_function_each(int fd, elf_function_visit visit, void *arg)
{
	struct walk walk = {.visit = visit, .arg = arg};
	int err = -ENOEXEC;

	elf_version(EV_CURRENT);
	walk.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf_kind(walk.elf) == ELF_K_ELF) {
		elf_segments_read(walk.elf, &walk.segments);
		err = visit_symbol_tables(&walk, SHT_SYMTAB)
			      ?: visit_symbol_tables(&walk, SHT_DYNSYM);
	}
	elf_end(walk.elf);
	return err;
}
