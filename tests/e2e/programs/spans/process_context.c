// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Publishes attributes of its process as OTEP 4719 says, and calls getppid() for SECONDS.
 *
 *   process_context SECONDS            service.name and service.version; half of the time later,
 *                                      another version
 *   process_context SECONDS anonymous  in anonymous memory with a name, if the kernel gives names
 *   process_context SECONDS damaged    a message that ends early, and an attribute that is no text
 *   process_context SECONDS nowhere    a message where no memory is, of the greatest size
 *   process_context SECONDS endless    a message in a page that never comes: a read by another
 *                                      process does not end. Exit status 3: the kernel has no
 *                                      such pages (userfaultfd)
 *   process_context SECONDS late       100 such processes of another user, not dumpable; the page
 *                                      comes after 2 seconds, at each read
 *   process_context SECONDS replaced   half of the time later another program (execve), which
 *                                      publishes no message
 *   process_context SECONDS silent     publishes no message
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "published_process.h"

#define LATE_PROCESSES 100
#define LATE_SECONDS 2
#define NOBODY 65534

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Brings the page of the fault that `faults` tells of, and takes it away again. */
static void *bring_page_late(void *faults)
{
	static char empty[PAGE];
	struct uffd_msg message;

	while (read((int)(intptr_t)faults, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_copy copy = {.src = (uintptr_t)empty, .len = PAGE};

		copy.dst = message.arg.pagefault.address & ~(PAGE - 1ULL);
		sleep(LATE_SECONDS);
		ioctl((int)(intptr_t)faults, UFFDIO_COPY, &copy);
		usleep(20000);
		madvise((void *)(uintptr_t)copy.dst, PAGE, MADV_DONTNEED);
	}
	return NULL;
}

/* A page of which the kernel waits for this process to bring it: it never does, or late. */
static void *map_awaited_page(int is_late)
{
	pthread_t thread;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {(uintptr_t)page, PAGE},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (page == MAP_FAILED || faults < 0 || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &range) ||
	    (is_late && (setgid(NOBODY) || setuid(NOBODY) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
			 pthread_create(&thread, NULL, bring_page_late, (void *)(intptr_t)faults))))
		_exit(3);
	return page;
}

static void publish(struct head *head, const char *version, const char *kind)
{
	static uint8_t messages[2][256];
	static int turn;
	uint8_t resource[128], *message = messages[turn++ % 2], *end;
	uint32_t bytes;

	end = put_attribute(resource, "service.name", "shop");
	end = put_attribute(end, "service.version", version);
	if (!strcmp(kind, "damaged"))
		end = put_attribute(end, "service.instance.id", "\033[2J");
	end = put_field(message, 1, resource, (size_t)(end - resource));
	if (!strcmp(kind, "damaged"))
		*end++ = 0xff;
	bytes = (uint32_t)(end - message);
	if (!strcmp(kind, "nowhere")) {
		message = (uint8_t *)PAGE;
		bytes = UINT32_MAX;
	}
	if (!strcmp(kind, "endless"))
		message = map_awaited_page(0);
	if (!strcmp(kind, "late"))
		message = map_awaited_page(1);
	publish_message(head, message, bytes, strcmp(kind, "silent") != 0);
}

int main(int count, char **arguments)
{
	const char *kind = count > 2 ? arguments[2] : "";
	double begin = now(), seconds;
	int is_late = !strcmp(kind, "late"), is_updated = is_late;
	struct head *head;

	for (int i = 1; is_late && i < LATE_PROCESSES && fork(); i++) {
	}
	head = map_head(!strcmp(kind, "anonymous"));
	if (count < 2 || head == MAP_FAILED)
		return 2;
	seconds = atof(arguments[1]);
	publish(head, "1.0", kind);
	while (now() < begin + seconds) {
		getppid();
		usleep(is_late ? 50000 : 1000);
		if (!is_updated && now() > begin + seconds / 2) {
			if (!strcmp(kind, "replaced"))
				execl("/proc/self/exe", arguments[0], arguments[1], "silent", NULL);
			publish(head, "2.0", kind);
			is_updated = 1;
		}
	}
	return 0;
}
