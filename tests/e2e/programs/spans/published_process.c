// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "published_process.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct head *map_head(int is_anonymous)
{
	int file = is_anonymous ? -1 : memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct head *head;

	if (!is_anonymous && (file < 0 || ftruncate(file, PAGE)))
		return MAP_FAILED;
	head = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | (is_anonymous ? MAP_ANONYMOUS : 0), file, 0);
	if (!is_anonymous)
		close(file);
	if (head != MAP_FAILED && madvise(head, PAGE, MADV_DONTFORK))
		return MAP_FAILED;
	return head;
}

void publish_message(struct head *head, const uint8_t *message, uint32_t bytes, int is_named)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	head->published = 0;
	atomic_thread_fence(memory_order_seq_cst);
	head->version = 2;
	head->message = (uint64_t)(uintptr_t)message;
	head->bytes = bytes;
	atomic_thread_fence(memory_order_seq_cst);
	head->published = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	atomic_thread_fence(memory_order_seq_cst);
	if (is_named)
		memcpy(head->signature, "OTEL_CTX", sizeof(head->signature));
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, head, PAGE, "OTEL_CTX");
}

uint8_t *put_field(uint8_t *to, uint8_t number, const void *data, size_t bytes)
{
	*to++ = (uint8_t)(number << 3 | 2);
	if (bytes >= 0x80)
		*to++ = (uint8_t)(bytes | 0x80);
	*to++ = (uint8_t)(bytes < 0x80 ? bytes : bytes >> 7);
	memcpy(to, data, bytes);
	return to + bytes;
}

uint8_t *put_attribute(uint8_t *to, const char *key, const char *text)
{
	uint8_t value[64], message[128], *end;
	size_t value_bytes = (size_t)(put_field(value, 1, text, strlen(text)) - value);

	end = put_field(message, 1, key, strlen(key));
	end = put_field(end, 2, value, value_bytes);
	return put_field(to, 1, message, (size_t)(end - message));
}
