/* SPDX-License-Identifier: Apache-2.0
 *
 * See crashdisk.h. The functions at the end have the names of the C library's and come before them in the
 * dynamic linker's search, since the program itself defines them; they ask the kernel directly. */
#define _GNU_SOURCE
#include "crashdisk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More descriptors than one command has open; a higher one would go unnoticed, so opening it fails. */
enum { DESCRIPTOR_LIMIT = 4096 };
enum { UNTRACKED, TRACKED_FILE, TRACKED_FOLDER };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static char folder[PATH_MAX];
static char tracked[DESCRIPTOR_LIMIT];
static int is_recording;
static long number;
static long fail_first, fail_period;
static int fail_code;
static crash_disk_call *calls;
static long call_count, call_capacity;

/* MARK: The record */

static char *copy_name(const char *name) { return name == 0 ? 0 : strdup(name); }

static void note(crash_disk_call call) {
  if (!is_recording) return;
  if (call_count == call_capacity) {
    call_capacity = call_capacity == 0 ? 256 : 2 * call_capacity;
    calls = realloc(calls, (size_t)call_capacity * sizeof(*calls));
    if (calls == 0) abort();
  }
  if (call.bytes != 0) {
    unsigned char *copy = malloc((size_t)call.count + 1);
    if (copy == 0) abort();
    memcpy(copy, call.bytes, (size_t)call.count);
    call.bytes = copy;
  }
  call.path = copy_name(call.path);
  call.target = copy_name(call.target);
  calls[call_count++] = call;
}

/* Numbers a change, and says whether it is to fail; errno is then set. */
static int is_refused(void) {
  if (!is_recording) return 0;
  number += 1;
  if (fail_first == 0 || number < fail_first) return 0;
  if (number != fail_first && (fail_period == 0 || (number - fail_first) % fail_period != 0)) return 0;
  errno = fail_code;
  return 1;
}

int crash_disk_use(const char *path) {
  char resolved[PATH_MAX];
  if (realpath(path, resolved) == 0) return errno;
  if (strcmp(path, resolved) != 0) return EINVAL;
  pthread_mutex_lock(&lock);
  strcpy(folder, resolved);
  pthread_mutex_unlock(&lock);
  return 0;
}

void crash_disk_record(void) {
  pthread_mutex_lock(&lock);
  for (long index = 0; index < call_count; index++) {
    free((void *)calls[index].bytes);
    free((void *)calls[index].path);
    free((void *)calls[index].target);
  }
  call_count = 0;
  number = 0;
  fail_first = 0;
  is_recording = 1;
  pthread_mutex_unlock(&lock);
}

void crash_disk_fail(long first, long period, int code) {
  pthread_mutex_lock(&lock);
  fail_first = first;
  fail_period = period;
  fail_code = code;
  pthread_mutex_unlock(&lock);
}

void crash_disk_stop(void) {
  pthread_mutex_lock(&lock);
  is_recording = 0;
  fail_first = 0;
  pthread_mutex_unlock(&lock);
}

void crash_disk_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

long crash_disk_number(void) { return number; }
long crash_disk_count(void) { return call_count; }
const crash_disk_call *crash_disk_at(long index) {
  return index >= 0 && index < call_count ? &calls[index] : 0;
}

/* MARK: What is below the folder */

static int is_shared_memory(const char *path) {
  size_t count = strlen(path);
  return count >= 4 && strcmp(path + count - 4, "-shm") == 0;
}

/* The part of a path below the folder; null when it is elsewhere or no disk. */
static const char *below(const char *path) {
  size_t count = strlen(folder);
  if (count == 0 || path == 0 || strncmp(path, folder, count) != 0) return 0;
  if (path[count] == 0) return "";
  if (path[count] != '/' || is_shared_memory(path)) return 0;
  return path + count + 1;
}

static int kind_of(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTOR_LIMIT ? tracked[descriptor] : UNTRACKED;
}

static unsigned long file_of(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? (unsigned long)status.st_ino : 0;
}

/* Where an open folder is; null when that is not below ours. */
static const char *folder_of(int descriptor, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, size - 1);
  if (count < 0) return 0;
  path[count] = 0;
  return below(path);
}

/* MARK: Opening and closing */

static int open_below(const char *path, const char *name, int flags, mode_t mode) {
  /* This disk has no files without names. Such a one is gone after a crash; a temporary name is not. */
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  struct stat before;
  int is_new = fstatat(AT_FDCWD, path, &before, AT_SYMLINK_NOFOLLOW) != 0;
  int creates = (flags & O_CREAT) && is_new;
  int empties = (flags & O_TRUNC) && !is_new && before.st_size > 0;
  if ((creates || empties) && is_refused()) return -1;
  int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (descriptor < 0) return -1;
  struct stat status;
  if (descriptor >= DESCRIPTOR_LIMIT || fstat(descriptor, &status) != 0) {
    syscall(SYS_close, descriptor);
    errno = EMFILE;
    return -1;
  }
  tracked[descriptor] = S_ISDIR(status.st_mode) ? TRACKED_FOLDER : TRACKED_FILE;
  crash_disk_call call = {.file = (unsigned long)status.st_ino, .path = name};
  call.kind = creates ? CRASH_DISK_CREATE : CRASH_DISK_RESIZE;
  if (creates || empties) note(call);
  return descriptor;
}

static int open_any(const char *path, int flags, mode_t mode) {
  pthread_mutex_lock(&lock);
  const char *name = below(path);
  int descriptor = name == 0 ? -1 : open_below(path, name, flags, mode);
  pthread_mutex_unlock(&lock);
  /* Not under the lock: opening a pipe waits for its other end. */
  return name == 0 ? (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode) : descriptor;
}

/* The whole path of a name in an open folder; null when it is elsewhere, or the folder itself. */
static const char *path_at(int directory, const char *name, char *path, size_t size) {
  if (directory == AT_FDCWD || name[0] == '/') return name;
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
  ssize_t count = readlink(link, path, size - 1);
  if (count < 0 || strcmp(name, ".") == 0) return 0;
  int added = snprintf(path + count, size - (size_t)count, "/%s", name);
  return added > 0 && (size_t)(count + added) < size && below(path) != 0 ? path : 0;
}

/* Reads the mode behind the flags, where there is one. */
#define READ_MODE(flags)                                                                                   \
  mode_t mode = 0;                                                                                         \
  if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) {                                         \
    va_list arguments;                                                                                     \
    va_start(arguments, flags);                                                                            \
    mode = va_arg(arguments, mode_t);                                                                      \
    va_end(arguments);                                                                                     \
  }

int open(const char *path, int flags, ...) {
  READ_MODE(flags);
  return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  READ_MODE(flags);
  return open_any(path, flags | O_LARGEFILE, mode);
}

int openat(int directory, const char *name, int flags, ...) {
  char whole[PATH_MAX];
  READ_MODE(flags);
  const char *path = path_at(directory, name, whole, sizeof(whole));
  return path == 0 ? (int)syscall(SYS_openat, directory, name, flags, mode) : open_any(path, flags, mode);
}

int close(int descriptor) {
  pthread_mutex_lock(&lock);
  if (descriptor >= 0 && descriptor < DESCRIPTOR_LIMIT) tracked[descriptor] = UNTRACKED;
  pthread_mutex_unlock(&lock);
  return (int)syscall(SYS_close, descriptor);
}

/* MARK: Contents */

/* Writes at `offset`, or where the descriptor stands if that is negative. */
static ssize_t kernel_write(int descriptor, const void *bytes, size_t count, off_t offset) {
  return offset < 0 ? syscall(SYS_write, descriptor, bytes, count)
                    : syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

static ssize_t write_any(int descriptor, const void *bytes, size_t count, off_t offset) {
  if (kind_of(descriptor) != TRACKED_FILE) return kernel_write(descriptor, bytes, count, offset);
  pthread_mutex_lock(&lock);
  int fails = is_refused();
  int code = errno;
  size_t allowed = !fails ? count : code == EIO ? count / 2 : 0;
  struct stat status;
  off_t start = offset >= 0 ? offset : lseek(descriptor, 0, SEEK_CUR);
  int flags = fcntl(descriptor, F_GETFL);
  if ((flags & O_APPEND) && fstat(descriptor, &status) == 0) start = status.st_size;
  ssize_t written = fails && allowed == 0 ? 0 : kernel_write(descriptor, bytes, allowed, offset);
  if (written > 0) {
    note((crash_disk_call){.kind = CRASH_DISK_WRITE, .file = file_of(descriptor), .offset = start,
                           .count = written, .bytes = bytes});
  }
  pthread_mutex_unlock(&lock);
  if (!fails) return written;
  errno = code;
  return -1;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  return write_any(descriptor, bytes, count, -1);
}
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return write_any(descriptor, bytes, count, offset);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  return write_any(descriptor, bytes, count, offset);
}

static int resize_any(int descriptor, off_t byte_count) {
  if (kind_of(descriptor) != TRACKED_FILE) return (int)syscall(SYS_ftruncate, descriptor, byte_count);
  pthread_mutex_lock(&lock);
  int result = is_refused() ? -1 : (int)syscall(SYS_ftruncate, descriptor, byte_count);
  if (result == 0) {
    note((crash_disk_call){
        .kind = CRASH_DISK_RESIZE, .file = file_of(descriptor), .offset = byte_count});
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int descriptor, off_t byte_count) { return resize_any(descriptor, byte_count); }
int ftruncate64(int descriptor, off64_t byte_count) { return resize_any(descriptor, byte_count); }

static int sync_any(int descriptor, long system_call) {
  int kind = kind_of(descriptor);
  if (kind == UNTRACKED) return (int)syscall(system_call, descriptor);
  char path[PATH_MAX];
  pthread_mutex_lock(&lock);
  int result = is_refused() ? -1 : (int)syscall(system_call, descriptor);
  if (result == 0 && kind == TRACKED_FILE) {
    note((crash_disk_call){.kind = CRASH_DISK_SYNC, .file = file_of(descriptor)});
  } else if (result == 0) {
    const char *name = folder_of(descriptor, path, sizeof(path));
    if (name != 0) note((crash_disk_call){.kind = CRASH_DISK_SYNC_FOLDER, .path = name});
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int fsync(int descriptor) { return sync_any(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_any(descriptor, SYS_fdatasync); }

/* MARK: Names */

static int remove_any(const char *path, int flags) {
  pthread_mutex_lock(&lock);
  struct stat status;
  const char *name = below(path);
  /* What is not there is no change. */
  if (name != 0 && fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) != 0) name = 0;
  int result = name != 0 && is_refused() ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, flags);
  if (result == 0 && name != 0) {
    note((crash_disk_call){.kind = flags == 0 ? CRASH_DISK_REMOVE : CRASH_DISK_REMOVE_FOLDER, .path = name});
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int unlink(const char *path) { return remove_any(path, 0); }
int rmdir(const char *path) { return remove_any(path, AT_REMOVEDIR); }

int unlinkat(int directory, const char *name, int flags) {
  char whole[PATH_MAX];
  const char *path = path_at(directory, name, whole, sizeof(whole));
  return path == 0 ? (int)syscall(SYS_unlinkat, directory, name, flags) : remove_any(path, flags);
}

static int make_any(const char *path, mode_t mode) {
  pthread_mutex_lock(&lock);
  struct stat status;
  const char *name = below(path);
  if (name != 0 && fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0) name = 0;
  int result = name != 0 && is_refused() ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (result == 0 && name != 0) note((crash_disk_call){.kind = CRASH_DISK_MAKE_FOLDER, .path = name});
  pthread_mutex_unlock(&lock);
  return result;
}

int mkdir(const char *path, mode_t mode) { return make_any(path, mode); }

int mkdirat(int directory, const char *name, mode_t mode) {
  char whole[PATH_MAX];
  const char *path = path_at(directory, name, whole, sizeof(whole));
  return path == 0 ? (int)syscall(SYS_mkdirat, directory, name, mode) : make_any(path, mode);
}

static int rename_any(const char *path, const char *target, unsigned int flags) {
  pthread_mutex_lock(&lock);
  const char *name = below(path);
  const char *new_name = below(target);
  int is_ours = name != 0 && new_name != 0;
  int result =
      is_ours && is_refused() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, flags);
  if (result == 0 && is_ours) {
    note((crash_disk_call){.kind = CRASH_DISK_RENAME, .path = name, .target = new_name});
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int rename(const char *path, const char *target) { return rename_any(path, target, 0); }

int renameat2(int directory, const char *name, int target_directory, const char *target,
              unsigned int flags) {
  char whole[PATH_MAX], target_whole[PATH_MAX];
  const char *path = path_at(directory, name, whole, sizeof(whole));
  const char *target_path = path_at(target_directory, target, target_whole, sizeof(target_whole));
  if (path == 0 || target_path == 0) {
    return (int)syscall(SYS_renameat2, directory, name, target_directory, target, flags);
  }
  return rename_any(path, target_path, flags);
}

int renameat(int directory, const char *name, int target_directory, const char *target) {
  return renameat2(directory, name, target_directory, target, 0);
}

/* MARK: Records */

int crash_disk_add_record(const char *path, const void *bytes, long count) {
  pthread_mutex_lock(&lock);
  int code = is_refused() ? errno : 0;
  long kept = code == 0 ? count : code == EIO ? count / 2 : -1;
  if (kept >= 0) {
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0 || syscall(SYS_write, descriptor, bytes, kept) != kept) {
      code = EINVAL;
    } else {
      note((crash_disk_call){
          .kind = CRASH_DISK_ADD_RECORD, .count = kept, .bytes = bytes, .path = below(path)});
    }
    if (descriptor >= 0) syscall(SYS_close, descriptor);
  }
  pthread_mutex_unlock(&lock);
  return code;
}

int crash_disk_remove_record(const char *path) {
  pthread_mutex_lock(&lock);
  int code = is_refused() || syscall(SYS_unlinkat, AT_FDCWD, path, 0) != 0 ? errno : 0;
  if (code == 0) note((crash_disk_call){.kind = CRASH_DISK_REMOVE_RECORD, .path = below(path)});
  pthread_mutex_unlock(&lock);
  return code;
}

int crash_disk_sync_records(const char *store) {
  pthread_mutex_lock(&lock);
  int code = is_refused() ? errno : 0;
  if (code == 0) note((crash_disk_call){.kind = CRASH_DISK_SYNC_RECORDS, .path = below(store)});
  pthread_mutex_unlock(&lock);
  return code;
}
