/* SPDX-License-Identifier: Apache-2.0
 *
 * The sandbox of the process with the network: no files but those that name servers and authorities need (Landlock), no
 * port but that of the server and of name servers (Landlock), and a filter in front of every system call (seccomp(2))
 * against what the process never does: start, trace, read and signal others, write files, listen, and speak to local
 * sockets, the agent's among them. */
#define _GNU_SOURCE
#include "csystem.h"
#include "filters.h"
#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void coffer_prepare_name_service(void) {
  struct addrinfo *found = NULL;
  if (getaddrinfo("localhost", NULL, NULL, &found) == 0) freeaddrinfo(found);
}

/* The interface of the kernel (landlock(7)), up to version 6: the headers of the system may be older. */
struct landlock_rules {
  uint64_t files, network, scopes;
};
struct __attribute__((packed)) landlock_file_rule {
  uint64_t rights;
  int32_t parent;
};
struct landlock_port_rule {
  uint64_t rights, port;
};
enum { create_ruleset = 444, add_rule = 445, restrict_self = 446, ask_version = 1, file_rule = 1, port_rule = 2 };

static const uint64_t read_file = 1 << 2, read_folder = 1 << 3, connect_port = 1 << 1;

/* What name servers and authorities need; what is missing is passed over. A folder stands for all that is in it. */
static const char *const readable[] = {
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/nsswitch.conf", "/etc/services",
    "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager",
    "/etc/ssl", "/usr/lib/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates", "/var/lib/ca-certificates",
};

static int allow_reading(int rules, const char *path) {
  int opened = open(path, O_PATH | O_CLOEXEC);
  if (opened < 0) return 0;
  struct stat status;
  struct landlock_file_rule rule = {read_file, opened};
  int result = fstat(opened, &status);
  if (result == 0) {
    if (S_ISDIR(status.st_mode)) rule.rights |= read_folder;
    result = (int)syscall(add_rule, rules, file_rule, &rule, 0);
  }
  close(opened);
  return result;
}

static int allow_connecting(int rules, uint16_t port) {
  struct landlock_port_rule rule = {connect_port, port};
  return (int)syscall(add_rule, rules, port_rule, &rule, 0);
}

/* 0, or -1 and errno: ENOSYS or EOPNOTSUPP where the kernel has no Landlock. */
static int restrict_files_and_ports(uint16_t port) {
  long version = syscall(create_ruleset, NULL, 0, ask_version);
  if (version < 1) return -1;
  /* All rights to files that the version knows: 13, then one each for renaming, truncating and device controls. */
  int bits = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
  struct landlock_rules rules = {(UINT64_C(1) << bits) - 1, version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
  size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  int descriptor = (int)syscall(create_ruleset, &rules, size, 0);
  if (descriptor < 0) return -1;
  int result = 0;
  for (size_t index = 0; result == 0 && index < sizeof readable / sizeof readable[0]; index++)
    result = allow_reading(descriptor, readable[index]);
  if (result == 0 && version >= 4) result = allow_connecting(descriptor, port);
  if (result == 0 && version >= 4) result = allow_connecting(descriptor, 53);
  if (result == 0) result = (int)syscall(restrict_self, descriptor, 0);
  int code = errno;
  close(descriptor);
  errno = code;
  return result;
}

#ifdef COFFER_AUDIT_ARCH

#define FAIL(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define WHEN(name, verdict) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), verdict
#define KILLED(name) WHEN(name, KILL)
#define REFUSED(name) WHEN(name, FAIL(EPERM))
/* Where an argument (its low half) is another value, the call is refused. */
#define REFUSED_UNLESS(name, argument, value)                                  \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD(args[argument]), \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 1, 0), FAIL(EPERM), ALLOW
/* Where an argument (its low half) is this value, the call is refused; another rule for the same call may follow. */
#define REFUSED_IF(name, argument, value)                                      \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD(args[argument]), \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), FAIL(EPERM), LOAD(nr)
/* Where an argument (its low half) has one of the bits, the call is refused. */
#define REFUSED_WITH(name, argument, bits)                                     \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD(args[argument]), \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), FAIL(EPERM), ALLOW

static int filter_system_calls(void) {
  enum { writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY) };
  struct sock_filter rules[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, COFFER_AUDIT_ARCH, 1, 0),
      KILL,
      LOAD(nr),
#ifdef __x86_64__
      /* The calls of x32 are the same calls under other numbers. */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      KILL,
      REFUSED_WITH(open, 1, writing),
      KILLED(fork),
      KILLED(vfork),
      REFUSED(creat),
      REFUSED(link),
      REFUSED(symlink),
      REFUSED(unlink),
      REFUSED(rename),
      REFUSED(mkdir),
      REFUSED(rmdir),
      REFUSED(mknod),
      REFUSED(chmod),
      REFUSED(chown),
      REFUSED(lchown),
      REFUSED(utime),
      REFUSED(utimes),
#endif
      REFUSED_WITH(openat, 2, writing),
      /* Its flags are in memory, which a filter cannot read. Nobody needs it. */
      WHEN(openat2, FAIL(ENOSYS)),
      /* Programs and other processes. A thread is a process of the same memory, and libc asks clone for one when
       * clone3, whose flags are in memory, is not there. */
      KILLED(execve),
      KILLED(execveat),
      KILLED(ptrace),
      KILLED(process_vm_readv),
      KILLED(process_vm_writev),
      KILLED(process_madvise),
      KILLED(pidfd_open),
      KILLED(pidfd_getfd),
      KILLED(pidfd_send_signal),
      KILLED(kcmp),
      WHEN(clone3, FAIL(ENOSYS)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 4),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      KILL,
      ALLOW,
      REFUSED(kill),
      REFUSED(tkill),
      REFUSED(rt_sigqueueinfo),
      REFUSED(rt_tgsigqueueinfo),
      REFUSED_UNLESS(tgkill, 0, (uint32_t)getpid()),
      REFUSED_UNLESS(prlimit64, 0, 0),
      REFUSED(prctl),
      /* Whom the kernel signals when a file is ready. */
      REFUSED_IF(fcntl, 1, F_SETOWN),
      REFUSED_IF(fcntl, 1, F_SETOWN_EX),
      REFUSED_IF(fcntl, 1, F_SETSIG),
      REFUSED_IF(ioctl, 1, FIOSETOWN),
      REFUSED_IF(ioctl, 1, SIOCSPGRP),
      /* Machine code. */
      REFUSED_WITH(mmap, 2, PROT_EXEC),
      REFUSED_WITH(mprotect, 2, PROT_EXEC),
      KILLED(pkey_mprotect),
      KILLED(memfd_create),
      /* Sockets other than those of the Internet, and of the kernel's list of addresses. Protocols other than TCP and UDP:
       * Landlock does not look at the ports of Multipath TCP, nor at a connection that a message begins. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 11),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0),
      FAIL(EAFNOSUPPORT),
      LOAD(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 1, 0),
      FAIL(EPROTONOSUPPORT),
      ALLOW,
      REFUSED_WITH(sendto, 3, MSG_FASTOPEN),
      REFUSED_WITH(sendmsg, 2, MSG_FASTOPEN),
      REFUSED_WITH(sendmmsg, 3, MSG_FASTOPEN),
      /* A pair without a connection could write to any local socket. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socketpair, 0, 5),
      LOAD(args[1]),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 1, 0),
      FAIL(EPERM),
      ALLOW,
      REFUSED(listen),
      REFUSED(accept),
      REFUSED(accept4),
      /* Names and rights of files. */
      REFUSED(truncate),
      REFUSED(ftruncate),
      REFUSED(linkat),
      REFUSED(symlinkat),
      REFUSED(unlinkat),
      REFUSED(renameat2),
      REFUSED(mkdirat),
      REFUSED(mknodat),
      REFUSED(fchmod),
      REFUSED(fchmodat),
      REFUSED(fchown),
      REFUSED(fchownat),
      REFUSED(utimensat),
      REFUSED(setxattr),
      REFUSED(lsetxattr),
      REFUSED(fsetxattr),
      REFUSED(removexattr),
      REFUSED(lremovexattr),
      REFUSED(fremovexattr),
      /* Doors of the kernel that nobody here needs. */
      KILLED(bpf),
      KILLED(perf_event_open),
      KILLED(userfaultfd),
      KILLED(io_uring_setup),
      KILLED(io_uring_enter),
      KILLED(io_uring_register),
      KILLED(keyctl),
      KILLED(add_key),
      KILLED(request_key),
      KILLED(name_to_handle_at),
      KILLED(open_by_handle_at),
      KILLED(shmget),
      KILLED(shmat),
      KILLED(msgget),
      KILLED(semget),
      KILLED(mq_open),
      KILLED(mount),
      KILLED(umount2),
      KILLED(move_mount),
      KILLED(open_tree),
      KILLED(fsopen),
      KILLED(pivot_root),
      KILLED(chroot),
      KILLED(unshare),
      KILLED(setns),
      KILLED(init_module),
      KILLED(finit_module),
      KILLED(delete_module),
      KILLED(kexec_load),
      KILLED(personality),
      ALLOW,
  };
  struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

#else

static int filter_system_calls(void) {
  errno = ENOSYS;
  return -1;
}

#endif

/* What four requests need with objects of 64 MiB, and the copies that libpq makes. A server's answer may have no end. */
static const rlim_t extra_data = (rlim_t)2 << 30;

int coffer_enter_courier_sandbox(int socket, uint16_t port) {
  long long used = used_bytes(private_data);
  if (used < 0 || set_limit(RLIMIT_DATA, (rlim_t)used + extra_data) != 0) return 1;
  if (coffer_close_descriptors(3, socket) != 0) return 1;
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || set_limit(RLIMIT_CORE, 0) != 0 || set_limit(RLIMIT_FSIZE, 0) != 0)
    return 1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 2;
  if (restrict_files_and_ports(port) != 0) return 3;
  return filter_system_calls() == 0 ? 0 : 4;
}
