/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A second thread is stepped through: its stack ends in clone, not in _start. */
#include <pthread.h>
#include <stdlib.h>

static volatile long sink;

static void *work(void *arg)
{
	__asm__ volatile("int3");
	for (long i = 0; i < 20; i++)
		sink += labs(i) + (long)arg;
	free(malloc(100));
	__asm__ volatile("int3");
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
