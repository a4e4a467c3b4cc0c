/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The header is read by position, like the blocks behind it. */
#include "trace/read/file_header.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "error.h"
#include "trace_file.h"

static const u8 magic[TRACE_FILE_MAGIC_BYTES] = TRACE_FILE_MAGIC;

bool file_header_is_there(int fd)
{
	u8 bytes[TRACE_FILE_MAGIC_BYTES];

	return pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	       memcmp(bytes, magic, sizeof(bytes)) == 0;
}

static int not_a_recording(const char *path, struct stackmap_error *error)
{
	return error_set_at(error, EBADMSG, 0,
			    "%s: not a recording: its first bytes are not stackmap's", path);
}

static int check(const struct trace_file_header *header, const char *path,
		 struct stackmap_error *error)
{
	u32 checksum =
		(u32)crc32(0, (const u8 *)header, offsetof(struct trace_file_header, checksum));

	if (checksum != header->checksum)
		return error_set_at(error, EBADMSG, 0,
				    "%s: damaged at byte 0: the file header's checksum is wrong",
				    path);
	if (header->version > TRACE_FILE_VERSION_FURTHER ||
	    header->byte_order != TRACE_FILE_LITTLE_ENDIAN)
		return error_set_at(error, EPROTONOSUPPORT, 0,
				    "%s: format version %u, byte order %u: this stackmap reads up "
				    "to version %u",
				    path, header->version, header->byte_order,
				    TRACE_FILE_VERSION_FURTHER);
	if (!header->version || header->reserved)
		return not_a_recording(path, error);
	return 0;
}

int file_header_read(int fd, const char *path, u32 *version, struct stackmap_error *error)
{
	struct trace_file_header header;
	ssize_t got = pread(fd, &header, sizeof(header), 0);
	int err;

	if (got < 0)
		return error_set(error, errno, "%s: cannot be read: %s", path, strerror(errno));
	if (got < (ssize_t)sizeof(header) || memcmp(header.magic, magic, sizeof(magic)) != 0)
		return not_a_recording(path, error);
	err = check(&header, path, error);
	if (!err)
		*version = header.version;
	return err;
}
