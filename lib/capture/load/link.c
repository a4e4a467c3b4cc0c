/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/load/link.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "array.h"
#include "capture/feature/bpf_attr.h"

static int call_bpf_system_call(int command, void *attr, u32 bytes)
{
	int fd = syscall(__NR_bpf, command, attr, bytes);

	return fd < 0 ? -errno : fd;
}

/* Adds a descriptor to the list; a negative `fd` is returned as it is. */
static int add_descriptor(struct link_list *links, int fd)
{
	if (fd < 0)
		return fd;
	if (array_make_room(links->fds, links->count, links->room)) {
		close(fd);
		return -ENOMEM;
	}
	links->fds[links->count++] = fd;
	return 0;
}

/* Detaches in the reverse order, so that a link goes before its perf event. */
void link_list_clear(struct link_list *links)
{
	while (links->count)
		close(links->fds[--links->count]);
	free(links->fds);
	*links = (struct link_list){};
}

static int open_perf_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int event;

	attr->size = sizeof(*attr);
	event = syscall(__NR_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return event < 0 ? -errno : event;
}

int link_perf_event(struct link_list *links, struct perf_event_attr *attr, pid_t pid, int cpu,
		    int program_fd, u64 cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = cookie);
	int event = open_perf_event(attr, pid, cpu), result = add_descriptor(links, event);

	if (result)
		return result;
	return add_descriptor(links, bpf_link_create(program_fd, event, BPF_PERF_EVENT, &options));
}

int link_reopen_perf_event(struct link_list *links, u32 index, struct perf_event_attr *attr,
			   int cpu, int program_fd)
{
	int event = open_perf_event(attr, -1, cpu), link;

	if (event < 0)
		return event;
	link = bpf_link_create(program_fd, event, BPF_PERF_EVENT, NULL);
	if (link < 0) {
		close(event);
		return link;
	}
	close(links->fds[index + 1]);
	close(links->fds[index]);
	links->fds[index] = event;
	links->fds[index + 1] = link;
	return 0;
}

int link_enable_perf_event(const struct link_list *links, u32 index)
{
	return ioctl(links->fds[index], PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int link_set_period(const struct link_list *links, u32 index, u64 period)
{
	return ioctl(links->fds[index], PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}

int link_read_final_count(const struct link_list *links, u32 index, u64 *count)
{
	int event = links->fds[index];

	if (ioctl(event, PERF_EVENT_IOC_DISABLE, 0))
		return -errno;
	return read(event, count, sizeof(*count)) == sizeof(*count) ? 0 : -EIO;
}

int link_raw_tracepoint(struct link_list *links, const char *name, int program_fd, bool with_cookie,
			u64 cookie)
{
	struct raw_tracepoint_attr attr = {
		.name = (u64)name,
		.prog_fd = program_fd,
		.cookie = cookie,
	};

	if (!with_cookie)
		return add_descriptor(links, bpf_raw_tracepoint_open(name, program_fd));
	return add_descriptor(links,
			      call_bpf_system_call(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr)));
}

int link_user_functions(struct link_list *links, const struct link_places *places, bool on_return,
			int program_fd)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = program_fd,
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (u64)places->path,
		.offsets = (u64)places->offsets,
		.ref_ctr_offsets = (u64)places->semaphores,
		.cookies = (u64)places->cookies,
		.count = places->count,
		.flags = on_return ? UPROBE_MULTI_RETURN : 0,
	};

	return add_descriptor(links, call_bpf_system_call(BPF_LINK_CREATE, &attr, sizeof(attr)));
}

int link_kernel_functions(struct link_list *links, const char **names, const u64 *cookies,
			  u32 count, bool on_return, int program_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .kprobe_multi.syms = names,
		    .kprobe_multi.cookies = (const __u64 *)cookies, .kprobe_multi.cnt = count,
		    .kprobe_multi.flags = on_return ? BPF_F_KPROBE_MULTI_RETURN : 0);

	return add_descriptor(links,
			      bpf_link_create(program_fd, 0, BPF_TRACE_KPROBE_MULTI, &options));
}

int link_typed_program(struct link_list *links, int program_fd)
{
	return add_descriptor(links, bpf_raw_tracepoint_open(NULL, program_fd));
}

int link_task_iterator(struct link_list *links, int program_fd)
{
	int result = add_descriptor(links, bpf_link_create(program_fd, 0, BPF_TRACE_ITER, NULL));
	int fd = result ?: bpf_iter_create(links->fds[links->count - 1]);

	return fd < 0 ? fd : add_descriptor(links, fd) ?: fd;
}
