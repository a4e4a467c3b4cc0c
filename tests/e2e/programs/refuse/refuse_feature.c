/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refuse_feature FEATURE[,FEATURE]... COMMAND...: runs the command on a kernel that refuses single
 * features of BPF and perf with EPERM, as LSMs, lockdown and containers do. `callback-ends` is no
 * refusal: programs at the ends of timers' callbacks and of work items seem to be attached, and are
 * never called, as if the kernel skipped them each time. A seccomp filter hands
 * each bpf() and perf_event_open() to a supervisor (seccomp_unotify(2)), which reads the arguments
 * in the memory of the caller and refuses the call or lets it pass. The supervisor is no child of
 * the command and ends with the last process under the filter.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/btf.h>

#define UNSUPPORTED 77
#define ATTACH_UPROBE_MULTI 48
#define INSNS_MAX 65536

enum feature {
	MAP_ITERATORS,
	SYMBOL_ITERATORS,
	TASK_ITERATORS,
	TASK_WORK,
	RAW_TRACEPOINTS,
	TRACEPOINT_COOKIES,
	TYPED_TRACEPOINTS,
	PERF_EVENTS,
	UPROBE_MULTI,
	UPROBES,
	CALLBACK_ENDS,
	FEATURES
};

static const char *const names[FEATURES] = {
	[MAP_ITERATORS] = "map-iterators",	   [SYMBOL_ITERATORS] = "symbol-iterators",
	[TASK_ITERATORS] = "task-iterators",	   [TASK_WORK] = "task-work",
	[RAW_TRACEPOINTS] = "raw-tracepoints",	   [TRACEPOINT_COOKIES] = "raw-tracepoint-cookies",
	[TYPED_TRACEPOINTS] = "typed-tracepoints", [PERF_EVENTS] = "perf-events",
	[UPROBE_MULTI] = "uprobe-multi",	   [UPROBES] = "uprobes",
	[CALLBACK_ENDS] = "callback-ends",
};

/* Kernel functions that a BPF program attaches to; a load for one of them needs the feature. */
static struct {
	const char *name;
	enum feature feature;
	int id; /* id in the kernel's BTF, or negative */
} functions[] = {
	{"bpf_iter_bpf_map_elem", MAP_ITERATORS, 0},
	{"bpf_iter_ksym", SYMBOL_ITERATORS, 0},
	{"bpf_iter_task", TASK_ITERATORS, 0},
	{"bpf_task_work_schedule_resume", TASK_WORK, 0},
	{"bpf_task_work_schedule_resume_impl", TASK_WORK, 0},
	{"bpf_task_work_schedule_signal", TASK_WORK, 0},
	{"bpf_task_work_schedule_signal_impl", TASK_WORK, 0},
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static bool refused[FEATURES];
static unsigned int uprobe_type = -1;

static void find_functions(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	for (size_t i = 0; i < FUNCTIONS; i++)
		functions[i].id =
			btf ? btf__find_by_name_kind(btf, functions[i].name, BTF_KIND_FUNC) : -1;
	btf__free(btf);
}

static void find_uprobe_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");

	if (!file)
		return;
	if (fscanf(file, "%u", &uprobe_type) != 1)
		uprobe_type = -1;
	fclose(file);
}

static bool is_refused_function(int id)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (functions[i].id > 0 && functions[i].id == id && refused[functions[i].feature])
			return true;
	return false;
}

/* Bytes beyond the caller's memory stay zero. */
static void read_caller(pid_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0)
		memset(to, 0, bytes);
}

static bool calls_refused_function(pid_t pid, const union bpf_attr *attr)
{
	static struct bpf_insn insns[INSNS_MAX];
	unsigned int count = attr->insn_cnt < INSNS_MAX ? attr->insn_cnt : INSNS_MAX;

	read_caller(pid, attr->insns, insns, count * sizeof(insns[0]));
	for (unsigned int i = 0; i < count; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) &&
		    insns[i].src_reg == BPF_PSEUDO_KFUNC_CALL && is_refused_function(insns[i].imm))
			return true;
	return false;
}

static bool is_refused_load(pid_t pid, const union bpf_attr *attr)
{
	if (attr->expected_attach_type == ATTACH_UPROBE_MULTI && refused[UPROBE_MULTI])
		return true;
	if (attr->prog_type == BPF_PROG_TYPE_TRACING) {
		if (attr->expected_attach_type == BPF_TRACE_RAW_TP && refused[TYPED_TRACEPOINTS])
			return true;
		if (is_refused_function(attr->attach_btf_id))
			return true;
	}
	return refused[TASK_WORK] && calls_refused_function(pid, attr);
}

/* Since Linux 6.10 a cookie follows the fields that older headers declare. */
static bool is_refused_tracepoint(const void *attr)
{
	const struct {
		uint64_t name;
		uint32_t program, reserved;
		uint64_t cookie;
	} *tracepoint = attr;

	return tracepoint->name &&
	       (refused[RAW_TRACEPOINTS] || (tracepoint->cookie && refused[TRACEPOINT_COOKIES]));
}

static bool is_callback_end(pid_t pid, const uint64_t *args)
{
	static const char *const ends[] = {"hrtimer_expire_exit", "timer_expire_exit",
					   "workqueue_execute_end"};
	char name[64] = "";
	uint64_t address;

	if (args[0] != BPF_RAW_TRACEPOINT_OPEN || !refused[CALLBACK_ENDS])
		return false;
	read_caller(pid, args[1], &address, sizeof(address));
	read_caller(pid, address, name, sizeof(name) - 1);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(name, ends[i]))
			return true;
	return false;
}

/* The call returns a file that is no link. */
static void give_other_file(int listener, uint64_t id)
{
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct seccomp_notif_addfd given = {.id = id,
					    .flags = SECCOMP_ADDFD_FLAG_SEND,
					    .srcfd = file,
					    .newfd_flags = O_CLOEXEC};

	ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &given);
	close(file);
}

static bool is_refused_bpf(pid_t pid, const uint64_t *args)
{
	union bpf_attr attr = {};

	read_caller(pid, args[1], &attr, args[2] < sizeof(attr) ? args[2] : sizeof(attr));
	switch (args[0]) {
	case BPF_PROG_LOAD:
		return is_refused_load(pid, &attr);
	case BPF_RAW_TRACEPOINT_OPEN:
		return is_refused_tracepoint(&attr);
	case BPF_LINK_CREATE:
		return attr.link_create.attach_type == ATTACH_UPROBE_MULTI && refused[UPROBE_MULTI];
	default:
		return false;
	}
}

static bool is_refused_event(pid_t pid, const uint64_t *args)
{
	struct perf_event_attr attr = {};

	read_caller(pid, args[0], &attr, PERF_ATTR_SIZE_VER0);
	return refused[PERF_EVENTS] || (refused[UPROBES] && attr.type == uprobe_type);
}

static void supervise(int listener)
{
	struct pollfd polled = {.fd = listener, .events = POLLIN};

	find_functions();
	find_uprobe_type();
	while (poll(&polled, 1, -1) > 0 && !(polled.revents & POLLHUP)) {
		struct seccomp_notif call = {};
		struct seccomp_notif_resp answer = {};
		bool is_bpf;

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue; /* the caller has been killed meanwhile */
		is_bpf = call.data.nr == SYS_bpf;
		if (is_bpf && is_callback_end(call.pid, (const uint64_t *)call.data.args)) {
			give_other_file(listener, call.id);
			continue;
		}
		answer.id = call.id;
		if (is_bpf ? is_refused_bpf(call.pid, (const uint64_t *)call.data.args)
			   : is_refused_event(call.pid, (const uint64_t *)call.data.args))
			answer.error = -EPERM;
		else
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

static int install_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		       &program);
}

static void send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(int));
	sendmsg(socket, &message, 0);
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	int fd = -1;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return fd;
}

/* The supervisor is a grandchild, so the command gets no unexpected child, and it closes the
 * command's files. */
static void start_supervisor(int socket)
{
	pid_t child = fork();

	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	if (!fork()) {
		int listener;

		setsid();
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		listener = receive_fd(socket);
		if (listener >= 0)
			supervise(listener);
	}
	_exit(0);
}

static bool parse_features(char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		int feature = 0;

		while (feature < FEATURES && strcmp(name, names[feature]))
			feature++;
		if (feature == FEATURES)
			return false;
		refused[feature] = true;
	}
	return true;
}

int main(int argc, char **argv)
{
	int sockets[2], listener;

	if (argc < 3 || !parse_features(argv[1])) {
		fprintf(stderr, "usage: refuse_feature FEATURE[,FEATURE]... COMMAND...\n");
		return 2;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return UNSUPPORTED;
	start_supervisor(sockets[1]);
	listener = install_filter();
	if (listener < 0) {
		perror("refuse_feature: seccomp_unotify");
		return UNSUPPORTED;
	}
	send_fd(sockets[0], listener);
	close(listener);
	close(sockets[0]);
	close(sockets[1]);
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
