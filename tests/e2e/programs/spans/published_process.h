/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The process context of OTEP 4719: its mapping, and the fields of its message. */
#ifndef PUBLISHED_PROCESS_H
#define PUBLISHED_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#define PAGE 4096

struct head {
	char signature[8];
	uint32_t version;
	uint32_t bytes;
	volatile uint64_t published;
	uint64_t message;
};

/* The head's page, in a file in memory or in anonymous memory with a name. MAP_FAILED. */
struct head *map_head(int is_anonymous);

/* Publishes a message. The head's mapping has its name from the first call on. */
void publish_message(struct head *head, const uint8_t *message, uint32_t bytes, int is_named);

/* Appends a field. */
uint8_t *put_field(uint8_t *to, uint8_t number, const void *data, size_t bytes);

/* Appends a field with an attribute that is a text, and returns the end. */
uint8_t *put_attribute(uint8_t *to, const char *key, const char *text);

#endif
