/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lookups in a cache built here, byte by byte, and in every prefix and every corruption of it. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/source/program_file.h"
#include "scalar.h"
#include "unit_test.h"

#if defined(__x86_64__)
#define NATIVE 0x0303
#else
#define NATIVE 0x0a03
#endif
#define FOREIGN 0x0803

#define HEADER_BYTES 48
#define ENTRY_BYTES 24

static const struct {
	u32 flags;
	const char *name, *path;
} libraries[] = {
	{FOREIGN, "libc.so.6", "/foreign/libc.so.6"},
	{NATIVE, "libcap.so.2", "/lib/libcap.so.2"},
	{NATIVE, "libc.so.6", "/lib/libc.so.6"},
};

#define LIBRARY_COUNT (sizeof(libraries) / sizeof(libraries[0]))

static void put_u32(unsigned char *at, u32 value)
{
	memcpy(at, &value, sizeof(value));
}

static u32 put_string(unsigned char *cache, size_t *bytes, const char *string)
{
	u32 offset = *bytes;

	strcpy((char *)cache + offset, string);
	*bytes += strlen(string) + 1;
	return offset;
}

static size_t build_cache(unsigned char *cache)
{
	size_t bytes = HEADER_BYTES + LIBRARY_COUNT * ENTRY_BYTES;

	memset(cache, 0, bytes);
	memcpy(cache, "glibc-ld.so.cache1.1", 20);
	put_u32(cache + 20, LIBRARY_COUNT);
	for (size_t i = 0; i < LIBRARY_COUNT; i++) {
		unsigned char *entry = cache + HEADER_BYTES + i * ENTRY_BYTES;

		put_u32(entry, libraries[i].flags);
		put_u32(entry + 4, put_string(cache, &bytes, libraries[i].name));
		put_u32(entry + 8, put_string(cache, &bytes, libraries[i].path));
	}
	return bytes;
}

TEST(names_of_this_architecture_are_found)
{
	unsigned char cache[512];
	size_t bytes = build_cache(cache);
	char path[PATH_MAX];

	assert_int_equal(library_cache_search(cache, bytes, "libc.so.6", path), 0);
	assert_string_equal(path, "/lib/libc.so.6");
	assert_int_equal(library_cache_search(cache, bytes, "libc", path), 0);
	assert_string_equal(path, "/lib/libc.so.6");
	assert_int_equal(library_cache_search(cache, bytes, "libca", path), -ENOENT);
	assert_int_equal(library_cache_search(cache, bytes, "libc.so.7", path), -ENOENT);
}

/* In memory of exactly its size, so that the sanitizer sees a step too far. */
static void search_library_cache_of_exact_size(const unsigned char *cache, size_t bytes)
{
	unsigned char *copy = malloc(bytes ? bytes : 1);
	char path[PATH_MAX];

	memcpy(copy, cache, bytes);
	library_cache_search(copy, bytes, "libc", path);
	free(copy);
}

TEST(a_cache_cut_off_anywhere_is_survived)
{
	unsigned char cache[512];
	size_t bytes = build_cache(cache);

	for (size_t length = 0; length <= bytes; length++)
		search_library_cache_of_exact_size(cache, length);
}

TEST(a_wrong_byte_anywhere_is_survived)
{
	unsigned char cache[512];
	size_t bytes = build_cache(cache);

	for (size_t i = 0; i < bytes; i++) {
		cache[i] ^= 0xff;
		search_library_cache_of_exact_size(cache, bytes);
		cache[i] ^= 0xff;
	}
}
