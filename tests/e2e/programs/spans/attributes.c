// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads that publish attributes of their work (OTEP 4947), in a process that publishes the list
 * of their keys and an attribute of its own, service.name=shop (OTEP 4719). A thread publishes a
 * record before it enters a function, and removes it afterwards.
 *
 *   attributes SECONDS         two threads; the functions below say which attributes their events
 * have attributes SECONDS forged  records that no honest thread would write attributes SECONDS
 * flood   one thread; each record has another span N, and N as its attribute
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "published_process.h"
#include "spans_published.h"

#define THREADS 2
#define DATA_BYTES 1024

enum key { ROUTE, WORKER, SERVICE, ODD_KEY, KEYS, NO_KEY = 99 };

struct record {
	struct published head;
	uint8_t data[DATA_BYTES];
};

static double seconds;

#define FUNCTION(name)                                                                             \
	__attribute__((noinline, noclone)) static void name(void)                                  \
	{                                                                                          \
		getppid();                                                                         \
		usleep(100);                                                                       \
	}

FUNCTION(route_1)   /* a span; http.route=/1, published after /0, and worker.id */
FUNCTION(route_2)   /* no span; http.route=/2 */
FUNCTION(service_3) /* a span; service.name=thread: more than the process's */
FUNCTION(nothing_4) /* a span without attributes */
FUNCTION(cut_5)	    /* a span; http.route=/5, then an attribute that does not end in the record */
FUNCTION(invalid_6) /* a record that is not valid */
FUNCTION(full_7)    /* a span; http.route of 255 bytes and worker.id, in 612 bytes */

FUNCTION(control_1) /* a value with a control character */
FUNCTION(bytes_2)   /* a value that is not UTF-8 */
FUNCTION(number_3)  /* a number that the list of keys lacks */
FUNCTION(key_4)	    /* a key with a control character */
FUNCTION(service_5) /* service.name with a control character: the process's does not count either */
FUNCTION(long_6)    /* more bytes than are read */
FUNCTION(page_7)    /* attributes in a page that cannot be read */
FUNCTION(half_8)    /* a trace without a span */
FUNCTION(many_9)    /* 255 keys */

/* attributes in a page that cannot be read; the process ends before a callback */
__attribute__((noinline, noclone)) static void ending_7(void)
{
	_exit(0);
}

FUNCTION(flood_0)

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Begins a record; span 0: without a trace. */
static void begin(struct record *record, uint32_t span)
{
	*(volatile uint8_t *)&record->head.valid = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memset(record->head.trace, span ? 0x70 : 0, sizeof(record->head.trace));
	memset(record->head.span, 0, sizeof(record->head.span));
	for (int i = 0; i < 4; i++)
		record->head.span[7 - i] = (uint8_t)(span >> 8 * i);
	record->head.attribute_bytes = 0;
}

static void add(struct record *record, uint8_t key, const char *value, size_t length)
{
	uint8_t *to = &record->data[record->head.attribute_bytes];

	to[0] = key;
	to[1] = (uint8_t)length;
	memcpy(to + 2, value, length);
	record->head.attribute_bytes += (uint16_t)(2 + length);
}

static void add_text(struct record *record, uint8_t key, const char *value)
{
	add(record, key, value, strlen(value));
}

static void work(struct record *record, uint8_t valid, void (*body)(void))
{
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint8_t *)&record->head.valid = valid;
	publish(&record->head);
	body();
	publish(NULL);
}

static void *work_honestly(void *arg)
{
	const char *worker = arg ? "second" : "first";
	static struct record records[THREADS];
	struct record *record = &records[arg != NULL];
	char full[255];

	memset(full, 'f', sizeof(full));
	for (double end = now() + seconds; now() < end;) {
		begin(record, 1);
		add_text(record, ROUTE, "/0");
		add_text(record, WORKER, worker);
		add_text(record, ROUTE, "/1");
		work(record, 1, route_1);
		begin(record, 0);
		add_text(record, ROUTE, "/2");
		work(record, 1, route_2);
		begin(record, 3);
		add_text(record, SERVICE, "thread");
		work(record, 1, service_3);
		begin(record, 4);
		work(record, 1, nothing_4);
		begin(record, 5);
		add_text(record, ROUTE, "/5");
		add(record, WORKER, full, 200);
		record->head.attribute_bytes -= 1;
		work(record, 1, cut_5);
		begin(record, 6);
		add_text(record, ROUTE, "/6");
		work(record, 2, invalid_6);
		begin(record, 7);
		add(record, ROUTE, full, 255);
		add(record, WORKER, full, 255);
		add(record, WORKER, full, 96);
		work(record, 1, full_7);
	}
	return NULL;
}

static void forge(void)
{
	static struct record record;
	uint8_t *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct record *last = (void *)(pages + PAGE - sizeof(record.head));

	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE))
		exit(1);
	for (double end = now() + seconds; now() < end;) {
		begin(&record, 1);
		add_text(&record, ROUTE, "\033[2J");
		work(&record, 1, control_1);
		begin(&record, 2);
		add_text(&record, ROUTE, "\xff\xfe");
		work(&record, 1, bytes_2);
		begin(&record, 3);
		add_text(&record, NO_KEY, "x");
		work(&record, 1, number_3);
		begin(&record, 4);
		add_text(&record, ODD_KEY, "x");
		work(&record, 1, key_4);
		begin(&record, 5);
		add_text(&record, SERVICE, "a\nb");
		work(&record, 1, service_5);
		begin(&record, 6);
		add_text(&record, ROUTE, "x");
		record.head.attribute_bytes = 65535;
		work(&record, 1, long_6);
		begin(last, 7);
		last->head.attribute_bytes = 3;
		work(last, 1, page_7);
		begin(&record, 8);
		add_text(&record, ROUTE, "x");
		memset(record.head.span, 0, sizeof(record.head.span));
		work(&record, 1, half_8);
		begin(&record, 9);
		for (int key = 255; key > 0; key--)
			add(&record, (uint8_t)key, "", 0);
		work(&record, 1, many_9);
	}
	begin(last, 7);
	last->head.attribute_bytes = 3;
	work(last, 1, ending_7);
}

static void flood(void)
{
	static struct record record;
	uint32_t span = 1;

	for (double end = now() + seconds; now() < end; span++) {
		char value[64];

		snprintf(value, sizeof(value), "/%u", span);
		begin(&record, span);
		add_text(&record, ROUTE, value);
		atomic_signal_fence(memory_order_seq_cst);
		*(volatile uint8_t *)&record.head.valid = 1;
		publish(&record.head);
		getppid();
		publish(NULL);
	}
	flood_0();
}

/* The message: the process's own attribute, and the list of keys. */
static uint32_t make_message(uint8_t *message)
{
	static const char *const keys[KEYS] = {"http.route", "worker.id", "service.name",
					       "odd\nkey"};
	static const char name[] = "threadlocal.attribute_key_map";
	uint8_t resource[128], list[256], pair[512], value[300], item[64];
	uint8_t *end = list, *pair_end;

	for (int key = 0; key < KEYS; key++) {
		uint8_t *item_end = put_field(item, 1, keys[key], strlen(keys[key]));

		end = put_field(end, 1, item, (size_t)(item_end - item));
	}
	end = put_field(value, 5, list, (size_t)(end - list));
	pair_end = put_field(pair, 1, name, strlen(name));
	pair_end = put_field(pair_end, 2, value, (size_t)(end - value));
	end = put_attribute(resource, "service.name", "shop");
	end = put_field(message, 1, resource, (size_t)(end - resource));
	end = put_field(end, 2, pair, (size_t)(pair_end - pair));
	return (uint32_t)(end - message);
}

int main(int count, char **arguments)
{
	static uint8_t message[1024];
	struct head *head = map_head(0);
	pthread_t threads[THREADS];

	if (count < 2 || head == MAP_FAILED)
		return 2;
	seconds = atof(arguments[1]);
	publish_message(head, message, make_message(message), 1);
	if (count > 2 && !strcmp(arguments[2], "forged"))
		forge();
	else if (count > 2 && !strcmp(arguments[2], "flood"))
		flood();
	else
		for (long i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, work_honestly, (void *)i))
				return 1;
	for (int i = 0; i < THREADS && count == 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
