/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few fields of kernel structures that the programs read. libbpf relocates every access to the
 * field's place in the running kernel (CO-RE), so order and offsets here have no meaning.
 */
#ifndef BPF_KERNEL_TYPES_H
#define BPF_KERNEL_TYPES_H

#include <bpf/bpf_core_read.h>

#include "arch/arch.h"
#include "scalar.h"

#define PF_EXITING 4U
#define PF_IO_WORKER 0x10U
#define PF_WQ_WORKER 0x20U

/* Only prototypes of callbacks name this struct; libbpf needs a definition of it. */
struct bpf_map {
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct maple_tree {
	void *ma_root;
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
};

struct mm_context {
	void *vdso;
};

/* The type of mm_lock_seq: since 6.13 this struct, since 6.4 an int; absent before. */
struct seqcount {
	u32 sequence;
};

/* The kernel's memory (XOL area) with the copies of instructions under user probes. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct rw_semaphore {
	struct {
		long counter;
	} count;
};

struct mm_struct {
	unsigned long start_stack;
	struct maple_tree mm_mt;
	struct rw_semaphore mmap_lock;
	struct mm_context context;
	struct uprobes_state uprobes_state;
	struct seqcount mm_lock_seq;
};

/* The type of mmap_lock with PREEMPT_RT. */
struct rwbase_rt {
	struct {
		int counter;
	} readers;
};

struct mm_struct___rt {
	struct {
		struct rwbase_rt rwbase;
	} mmap_lock;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct kuid {
	u32 val;
};

/*
 * A user namespace. Its owner may be a user of another user namespace; the owner of an outermost
 * one is a user of the initial namespace.
 */
struct user_namespace {
	struct user_namespace *parent;
	int level; /* 0: the initial user namespace */
	struct kuid owner;
};

struct file_system_type {
	const char *name;
};

struct super_block {
	u32 s_dev;
	struct file_system_type *s_type;
	unsigned long s_magic;
	struct user_namespace *s_user_ns;
};

struct inode {
	unsigned short i_mode;
	struct kuid i_uid;
	u32 i_nlink;
	unsigned long i_ino;
	u32 i_generation;
	struct super_block *i_sb;
};

struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
};

/*
 * The modification time of a file: the field in kernels before 6.7, in 6.7 to 6.10, and since 6.11.
 */
struct inode___mtime {
	struct timespec64 i_mtime;
};

struct inode___hidden_mtime {
	struct timespec64 __i_mtime;
};

struct inode___split_mtime {
	s64 i_mtime_sec;
	u32 i_mtime_nsec;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct vm_operations_struct;

struct userfaultfd_ctx;

struct vm_userfaultfd_ctx {
	struct userfaultfd_ctx *ctx; /* exists with CONFIG_USERFAULTFD */
};

struct vm_area_struct {
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx;
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	u32 vm_lock_seq; /* since 6.4: mm_lock_seq at the last change of the mapping */
	void *anon_vma;
	const struct vm_operations_struct *vm_ops;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

/* A return address that a return probe has replaced, and the stack word that held it. */
struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

/* The probe that a task is at: the instruction and its copy. */
struct uprobe_task {
	struct return_instance *return_instances;
	unsigned long vaddr;
	unsigned long xol_vaddr;
};

struct kernfs_node {
	u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent; /* in `self` of a cgroup: `self` of the parent cgroup */
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	void *root; /* root of the cgroup's hierarchy */
};

/* The cgroups of a task, one in each hierarchy. */
struct css_set {
	struct cgroup *dfl_cgrp;
};

struct list_head {
	struct list_head *next;
};

struct signal_struct {
	struct list_head thread_head;
};

struct ns_common {
	unsigned int inum; /* inode of the namespace's file in /proc/PID/ns */
};

struct pid_namespace {
	struct ns_common ns;
};

/* The id of a task at one level of namespaces. */
struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	/* level of the task's own namespace, which is the index of the last element of `numbers` */
	unsigned int level;
	struct upid numbers[1];
};

/* The scheduler's record of a task. sum_exec_runtime: CPU time of the task, in ns. */
struct sched_entity {
	u64 sum_exec_runtime;
};

/* io_uring: a request, and the worker that serves it. */
struct io_wq_work {
	u32 flags;
};

struct io_kiocb {
	struct io_wq_work work;
};

struct io_worker {
	struct io_wq_work *cur_work;
};

/* A timer of high resolution. is_soft: it expires in a soft interrupt. `running` is the timer whose
 * callback runs. */
struct hrtimer;

struct hrtimer_clock_base {
	struct hrtimer *running;
};

struct hrtimer {
	struct hrtimer_clock_base *base;
	u8 is_soft;
};

/* A kernel thread. For a thread of a workqueue, `data` is its worker. */
struct kthread {
	void *data;
};

struct work_struct;

struct worker {
	struct work_struct *current_work;
	struct list_head node;
};

struct worker_pool {
	struct list_head workers;
};

struct workqueue_struct {
	unsigned int flags;
};

/* the queue's work items run as soft interrupts of the CPU; each pool has one worker */
#define WQ_BH 1U

struct pool_workqueue {
	struct worker_pool *pool;
	struct workqueue_struct *wq;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int on_cpu;
	struct sched_entity se;
	unsigned long nvcsw;  /* number of times that the task has left a CPU to wait */
	unsigned long nivcsw; /* number of times that the task was preempted */
	struct uprobe_task *utask;
	struct mm_struct *mm;
	void *worker_private; /* struct io_worker * of an io_uring worker, or struct kthread * */
	u32 flags;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct list_head thread_node;
	struct css_set *cgroups;
	u64 start_time;
	u32 self_exec_id;
	unsigned int in_execve : 1;
	char comm[16];
	struct thread_struct thread;
};

/* A field that task_struct has only with PREEMPT_RT. */
struct task_struct___rt {
	int softirq_disable_cnt;
};

/* The type of on_cpu in kernels since 7.1 or so. */
struct task_struct___byte {
	unsigned char on_cpu;
};

struct bpf_iter_meta;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task; /* NULL at the call after the last task */
};

#pragma clang attribute pop

/* The ids of a task at each level of PID namespaces, from the initial one (0) to its own. */

/*
 * Returns the id of a task at a level, which must not exceed the level of the task's own namespace.
 */
static __always_inline struct upid *upid_at(struct pid *pid, u32 level)
{
	return (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	       level * bpf_core_type_size(struct upid);
}

#endif
