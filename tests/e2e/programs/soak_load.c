/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soak_load: tasks that begin, work and end in all ways, round by round. A line of input with a
 * number makes one round with so many threads at a time. The line is echoed when all of them have
 * ended, and the resident threads, which live as long as the process, have been in user mode and
 * sleep again.
 *
 * A round has threads, programs started by processes and by threads, tasks that are killed in a
 * system call, signal handlers, mappings that come and go, and computation.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESIDENTS 16
#define PROGRAMS 50
#define KILLED 20
#define SIGNALS 500
#define MAPPINGS 200
#define STACK_BYTES (64 << 10)

static const char *self;
static sem_t resident_go[RESIDENTS], resident_done;
static sem_t born, leave;
static volatile unsigned sum;

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	_exit(1);
}

static __attribute__((noinline)) unsigned compute(unsigned depth)
{
	unsigned result = depth;

	if (depth)
		result += compute(depth - 1);
	for (int i = 0; i < 1000; i++)
		result = result * 1103515245 + 12345;
	sum += result;
	return result;
}

static void *resident(void *arg)
{
	sem_t *go = arg;

	for (;;) {
		sem_wait(go);
		compute(20);
		sem_post(&resident_done);
	}
	return NULL;
}

static void *short_lived(void *arg)
{
	sem_post(&born);
	sem_wait(&leave);
	compute(5);
	return arg;
}

static void thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	check(pthread_create(thread, &attributes, run, arg), "pthread_create");
	pthread_attr_destroy(&attributes);
}

static void threads(long count)
{
	pthread_t *thread = calloc(count, sizeof(*thread));

	check(!thread, "calloc");
	for (long i = 0; i < count; i++)
		thread_start(&thread[i], short_lived, NULL);
	for (long i = 0; i < count; i++)
		sem_wait(&born);
	for (long i = 0; i < count; i++)
		sem_post(&leave);
	for (long i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

static void *become_program(void *arg)
{
	execl(self, self, "leaf", NULL);
	return arg;
}

/* A thread calls execve: the kernel ends all other threads, and the thread gets the id of the
 * process. */
static void child_of_threads(void)
{
	pthread_t thread;

	thread_start(&thread, become_program, NULL);
	for (;;)
		pause();
}

static void wait_for(pid_t pid)
{
	int status;

	check(waitpid(pid, &status, 0) != pid, "waitpid");
}

static void programs(void)
{
	for (int i = 0; i < PROGRAMS; i++) {
		pid_t pid = fork();

		check(pid < 0, "fork");
		if (!pid && i % 2)
			child_of_threads();
		if (!pid) {
			become_program(NULL);
			_exit(1);
		}
		wait_for(pid);
	}
}

static void killed(void)
{
	for (int i = 0; i < KILLED; i++) {
		pid_t pid = fork();

		check(pid < 0, "fork");
		for (; !pid;)
			pause();
		kill(pid, SIGKILL);
		wait_for(pid);
	}
}

static void on_signal(int number)
{
	compute(number % 3);
	getppid();
}

static void signals(void)
{
	for (int i = 0; i < SIGNALS; i++)
		raise(SIGUSR1);
}

static void mappings(void)
{
	for (int i = 0; i < MAPPINGS; i++) {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		check(page == MAP_FAILED, "mmap");
		page[0] = 1;
		munmap(page, 4096);
	}
}

static void residents(void)
{
	for (int i = 0; i < RESIDENTS; i++)
		sem_post(&resident_go[i]);
	for (int i = 0; i < RESIDENTS; i++)
		sem_wait(&resident_done);
}

static void round_run(long count)
{
	threads(count);
	programs();
	killed();
	signals();
	mappings();
	for (int i = 0; i < 100; i++)
		compute(100);
	residents();
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[32];

	self = argv[0];
	if (argc > 1)
		return compute(10) == 0;
	signal(SIGUSR1, on_signal);
	sem_init(&born, 0, 0);
	sem_init(&leave, 0, 0);
	sem_init(&resident_done, 0, 0);
	for (int i = 0; i < RESIDENTS; i++) {
		sem_init(&resident_go[i], 0, 0);
		thread_start(&thread, resident, &resident_go[i]);
	}
	while (fgets(line, sizeof(line), stdin)) {
		round_run(atol(line));
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
