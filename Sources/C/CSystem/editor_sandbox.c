/* SPDX-License-Identifier: Apache-2.0
 *
 * The sandbox of an editor: namespaces in which every file that can be written is in memory. Anybody may make them
 * who may make a user namespace. A file system of the type ramfs needs no room on a disk and is never swapped; tmpfs
 * can promise that to nobody but root. */
#define _GNU_SOURCE
#include "csystem.h"
#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/limits.h>

enum { NAMESPACES = 1, IDENTITY, OWN_MOUNTS, READ_ONLY, MEMORY, PROCESS };

/* The types and numbers in the kernel's headers; those of older systems do not have them. */
struct mount_change {
  uint64_t set, clear, propagation, user_namespace;
};
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
static const uint64_t read_only = 1;          /* MOUNT_ATTR_RDONLY */
static const unsigned all_below = 0x8000;     /* AT_RECURSIVE */
static const unsigned copied = 1 | O_CLOEXEC; /* OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC */
static const unsigned whole_tree = 4;         /* MOVE_MOUNT_F_EMPTY_PATH */

/* ramfs has no limit of its own, so an editor that never stops writing would take all memory. */
static const rlim_t file_byte_count = (rlim_t)1 << 30;

static int write_setting(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  int result = coffer_write_all(file, text, strlen(text));
  int reason = errno;
  close(file);
  errno = reason;
  return result;
}

/* In a new user namespace nobody has a number until it is given one: the same as outside. */
static int keep_identity(uid_t user, gid_t group) {
  char line[64];
  if (write_setting("/proc/self/setgroups", "deny") != 0) return -1;
  snprintf(line, sizeof line, "%u %u 1", user, user);
  if (write_setting("/proc/self/uid_map", line) != 0) return -1;
  snprintf(line, sizeof line, "%u %u 1", group, group);
  return write_setting("/proc/self/gid_map", line);
}

static int separate(void) {
  uid_t user = geteuid();
  gid_t group = getegid();
  /* Root can, unless in a container without rights; everybody else needs a user namespace. */
  if (unshare(CLONE_NEWNS | CLONE_NEWPID) == 0) return 0;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) != 0) return NAMESPACES;
  return keep_identity(user, group) == 0 ? 0 : IDENTITY;
}

/* A folder that this system does not have needs no file system over it. */
static int put_memory_over(const char *folder) {
  unsigned long flags = MS_NOSUID | MS_NODEV | MS_STRICTATIME;
  if (mount("coffer", folder, "ramfs", flags, "mode=0700") == 0) return 0;
  return errno == ENOENT ? 0 : -1;
}

/* A folder that memory would hide. Without it the editor may miss a file; no text gets to a disk for that. */
struct seen_folder {
  char path[PATH_MAX];
  int tree;
};
/* More than a list of programs' folders has. */
enum { SEEN_LIMIT = 32 };

static int is_hidden(const char *path) {
  return strncmp(path, "/tmp/", 5) == 0 || strncmp(path, "/var/tmp/", 9) == 0;
}

/* Copies the mounts of those folders of a list that will be hidden; how many there are. They can only be read, like
 * what they are copies of. */
static int copy_hidden(const char *list, struct seen_folder *folders) {
  int count = 0;
  while (list != NULL && *list != 0 && count < SEEN_LIMIT) {
    char name[PATH_MAX];
    size_t length = strcspn(list, ":");
    struct seen_folder *folder = &folders[count];
    if (length > 0 && length < sizeof name) {
      memcpy(name, list, length);
      name[length] = 0;
      if (name[0] == '/' && realpath(name, folder->path) != NULL && is_hidden(folder->path)) {
        folder->tree = (int)syscall(SYS_open_tree, AT_FDCWD, folder->path, copied | all_below);
        if (folder->tree >= 0) count++;
      }
    }
    list += length;
    list += *list == ':';
  }
  return count;
}

/* Makes the folder's path in memory, and puts the copy there. */
static void show(struct seen_folder *folder) {
  for (char *end = strchr(folder->path + 1, '/'); end != NULL; end = strchr(end + 1, '/')) {
    *end = 0;
    mkdir(folder->path, 0700);
    *end = '/';
  }
  mkdir(folder->path, 0700);
  syscall(SYS_move_mount, folder->tree, "", AT_FDCWD, folder->path, whole_tree);
  close(folder->tree);
}

static int change_mounts(const char *seen) {
  struct mount_change change = {.set = read_only};
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return OWN_MOUNTS;
  if (syscall(SYS_mount_setattr, AT_FDCWD, "/", all_below, &change, sizeof change) != 0) return READ_ONLY;
  static struct seen_folder folders[SEEN_LIMIT];
  int count = copy_hidden(seen, folders);
  if (put_memory_over("/var/tmp") != 0 || put_memory_over("/tmp") != 0) return MEMORY;
  for (int index = 0; index < count; index++) show(&folders[index]);
  return 0;
}

/* A limit of 0 holds for files alone; at 1 the kernel does not start a program that would get the dump, either. */
static int limit_editor(void) {
  if (set_limit(RLIMIT_CORE, 1) != 0 || set_limit(RLIMIT_FSIZE, file_byte_count) != 0) return -1;
  /* Not even root's editor can make a mount writable. */
  if (prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

int coffer_enter_editor_sandbox(int connection, const char *seen) {
  /* The keys of the terminal that make these two are meant for the editor. */
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  int step = separate();
  if (step == 0) step = change_mounts(seen);
  if (step != 0) return step;
  if (limit_editor() != 0 || die_with_parent() != 0) return PROCESS;
  pid_t child = fork();
  if (child < 0) return PROCESS;
  if (child > 0) {
    close(connection);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    _exit(0);
  }
  if (die_with_parent() != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return PROCESS;
  /* A parent that ended before it could take this process with it has hung up. */
  struct pollfd parent = {.fd = connection};
  if (poll(&parent, 1, 0) != 0) _exit(0);
  return 0;
}
