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
 *   process_context SECONDS replaced   half of the time later another program (execve), which
 *                                      publishes no message
 *   process_context SECONDS silent     publishes no message
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

struct head {
	char signature[8];
	uint32_t version;
	uint32_t bytes;
	volatile uint64_t published;
	uint64_t message;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Appends a field of bytes shorter than 128. */
static uint8_t *put_field(uint8_t *to, uint8_t number, const void *data, size_t bytes)
{
	*to++ = (uint8_t)(number << 3 | 2);
	*to++ = (uint8_t)bytes;
	memcpy(to, data, bytes);
	return to + bytes;
}

static uint8_t *put_attribute(uint8_t *to, const char *key, const char *text)
{
	uint8_t value[64], message[128], *end;
	size_t value_bytes = (size_t)(put_field(value, 1, text, strlen(text)) - value);

	end = put_field(message, 1, key, strlen(key));
	end = put_field(end, 2, value, value_bytes);
	return put_field(to, 1, message, (size_t)(end - message));
}

/* A page of which the kernel waits for this process to bring it, which never happens. */
static void *map_endless_page(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {(uintptr_t)page, PAGE},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (page == MAP_FAILED || faults < 0 || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &range))
		_exit(3);
	return page;
}

static void publish(struct head *head, const char *version, const char *kind)
{
	static uint8_t messages[2][256];
	static int turn;
	uint8_t resource[128], *message = messages[turn++ % 2], *end;

	end = put_attribute(resource, "service.name", "shop");
	end = put_attribute(end, "service.version", version);
	if (!strcmp(kind, "damaged"))
		end = put_attribute(end, "service.instance.id", "\033[2J");
	end = put_field(message, 1, resource, (size_t)(end - resource));
	if (!strcmp(kind, "damaged"))
		*end++ = 0xff;
	head->published = 0;
	atomic_thread_fence(memory_order_seq_cst);
	head->message = (uint64_t)(uintptr_t)message;
	head->bytes = (uint32_t)(end - message);
	if (!strcmp(kind, "nowhere")) {
		head->message = 4096;
		head->bytes = UINT32_MAX;
	}
	if (!strcmp(kind, "endless"))
		head->message = (uint64_t)(uintptr_t)map_endless_page();
	atomic_thread_fence(memory_order_seq_cst);
	head->published = (uint64_t)(now() * 1e9);
}

static struct head *map_head(int is_anonymous)
{
	int file = is_anonymous ? -1 : memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct head *head;

	if (!is_anonymous && (file < 0 || ftruncate(file, PAGE)))
		return MAP_FAILED;
	head = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | (is_anonymous ? MAP_ANONYMOUS : 0), file, 0);
	if (!is_anonymous)
		close(file);
	return head;
}

int main(int count, char **arguments)
{
	const char *kind = count > 2 ? arguments[2] : "";
	double begin = now(), seconds;
	struct head *head = map_head(!strcmp(kind, "anonymous"));
	int is_updated = 0;

	if (count < 2 || head == MAP_FAILED || madvise(head, PAGE, MADV_DONTFORK))
		return 2;
	seconds = atof(arguments[1]);
	head->version = 2;
	publish(head, "1.0", kind);
	atomic_thread_fence(memory_order_seq_cst);
	if (strcmp(kind, "silent"))
		memcpy(head->signature, "OTEL_CTX", sizeof(head->signature));
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, head, PAGE, "OTEL_CTX");
	while (now() < begin + seconds) {
		getppid();
		usleep(1000);
		if (!is_updated && now() > begin + seconds / 2) {
			if (!strcmp(kind, "replaced"))
				execl("/proc/self/exe", arguments[0], arguments[1], "silent", NULL);
			publish(head, "2.0", kind);
			is_updated = 1;
		}
	}
	return 0;
}
