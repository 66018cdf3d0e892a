/* SPDX-License-Identifier: Apache-2.0
 *
 * The sandbox of the process that decodes pictures: limits, no new privileges, and a filter in front of
 * every system call (seccomp(2)). The order is: what needs system calls first, the filter last. */
#define _GNU_SOURCE
#include "csystem.h"
#include "filters.h"
#include "limits.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The coefficients of a progressive JPEG of 100 million pixels take 600 MB. */
static const rlim_t extra_address_space = (rlim_t)1 << 30;
static const rlim_t processor_seconds = 10;

#ifdef COFFER_AUDIT_ARCH

#define ALLOW(name)                                     \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(name)                                    \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static int filter_system_calls(void) {
  struct sock_filter rules[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, COFFER_AUDIT_ARCH, 1, 0),
      KILL,
      LOAD(nr),
      ALLOW(read),
      ALLOW(write),
      /* Memory, unless it shall be executable: the low half of the third argument has that bit. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 4),
      LOAD(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      KILL,
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      ALLOW(munmap),
      ALLOW(mremap),
      ALLOW(madvise),
      ALLOW(brk),
      /* The rest of what a single thread needs that computes and ends. */
      ALLOW(futex),
      ALLOW(gettid),
      ALLOW(clock_gettime),
      ALLOW(getrandom),
      ALLOW(rt_sigprocmask),
      ALLOW(rt_sigreturn),
      ALLOW(restart_syscall),
      ALLOW(exit),
      ALLOW(exit_group),
      /* Memory for content is locked where that is allowed; here it need not be. */
      REFUSE(mlock),
      REFUSE(mlock2),
      KILL,
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

static int close_all_but_standard_streams(void) {
  if (syscall(__NR_close_range, 3u, ~0u, 0u) == 0) return 0;
  long count = sysconf(_SC_OPEN_MAX);
  if (count < 0 || count > 1 << 20) return -1;
  for (int descriptor = 3; descriptor < count; descriptor++) close(descriptor);
  return 0;
}

int coffer_enter_decoder_sandbox(void) {
  long long used = used_bytes(address_space);
  if (used < 0 || close_all_but_standard_streams() != 0) return -1;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return -1;
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -1;
  if (set_limit(RLIMIT_CORE, 0) != 0 || set_limit(RLIMIT_FSIZE, 0) != 0 ||
      set_limit(RLIMIT_NOFILE, 0) != 0 || set_limit(RLIMIT_CPU, processor_seconds) != 0 ||
      set_limit(RLIMIT_AS, (rlim_t)used + extra_address_space) != 0)
    return -1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return filter_system_calls();
}
