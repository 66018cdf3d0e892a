/* SPDX-License-Identifier: Apache-2.0
 *
 * A process that can write to memory alone: a mount namespace of its own, in which every file system is read-only but
 * for a new tmpfs. Devices stay writable: a read-only mount does not concern them. */
#define _GNU_SOURCE
#include "csystem.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/* struct mount_attr and MOUNT_ATTR_RDONLY of Linux 5.12, which headers of that time lack. */
struct coffer_mount_attributes {
  uint64_t set, clear, propagation, user_namespace;
};
static const uint64_t read_only = 1;

static int write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  int code = errno;
  close(file);
  errno = code;
  return written == (ssize_t)strlen(text) ? 0 : -1;
}

/* A user namespace in which this user is itself: without privileges, nobody else may have mounts of their own. */
static int enter_user_namespace(void) {
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1", geteuid(), geteuid());
  snprintf(groups, sizeof groups, "%u %u 1", getegid(), getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return COFFER_MEMORY_ONLY_NAMESPACE;
  if (write_file("/proc/self/setgroups", "deny") != 0 || write_file("/proc/self/uid_map", users) != 0 ||
      write_file("/proc/self/gid_map", groups) != 0)
    return COFFER_MEMORY_ONLY_USER;
  return 0;
}

static int mount_memory(const char *folder) {
  unsigned long flags = MS_NOSUID | MS_NODEV;
  if (mount("coffer", folder, "tmpfs", flags, "mode=1777,noswap") == 0) return 0;
  /* Before Linux 6.4, and in a user namespace, a tmpfs cannot be kept out of the swap. */
  return mount("coffer", folder, "tmpfs", flags, "mode=1777");
}

int coffer_enter_memory_only(const char **folder) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (unshare(CLONE_NEWNS) != 0) {
    int step = errno == EPERM ? enter_user_namespace() : COFFER_MEMORY_ONLY_NAMESPACE;
    if (step != 0) return step;
  }
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return COFFER_MEMORY_ONLY_PRIVATE;
  struct coffer_mount_attributes attributes = {.set = read_only};
  if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof attributes) != 0)
    return COFFER_MEMORY_ONLY_READ_ONLY;
  /* Not over /tmp, where things that an editor needs may be. */
  struct stat status;
  *folder = stat("/dev/shm", &status) == 0 && S_ISDIR(status.st_mode) ? "/dev/shm" : "/tmp";
  return mount_memory(*folder) == 0 ? 0 : COFFER_MEMORY_ONLY_FOLDER;
}

int coffer_run_shell(const char *command, const char *argument) {
  struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
  sigaction(SIGINT, &ignore, &interrupt);
  sigaction(SIGQUIT, &ignore, &quit);
  /* The shell is the first process of a namespace: when it ends, or is killed because we end, so does the rest. */
  pid_t child = unshare(CLONE_NEWPID) == 0 ? fork() : -1;
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl("/bin/sh", "sh", "-c", command, "editor", argument, (char *)NULL);
    _exit(126);
  }
  int status = -1;
  int code = errno;
  if (child > 0) {
    while (waitpid(child, &status, 0) < 0) {
      if (errno == EINTR) continue;
      status = -1;
      code = errno;
      break;
    }
  }
  sigaction(SIGINT, &interrupt, NULL);
  sigaction(SIGQUIT, &quit, NULL);
  errno = code;
  return status;
}
