/* SPDX-License-Identifier: Apache-2.0
 *
 * The few calls of libc and the kernel that Swift cannot import: variadic functions, macros, and
 * functions behind a feature test. Nothing else belongs here. */
#ifndef COFFER_CSYSTEM_SHIM_H
#define COFFER_CSYSTEM_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* explicit_bzero and memmem are GNU extensions that the importer does not see. */
static inline void coffer_erase(void *bytes, size_t count) { explicit_bzero(bytes, count); }

extern void *memmem(const void *, size_t, const void *, size_t);
static inline const void *coffer_find(const void *haystack, size_t haystack_count,
                                      const void *needle, size_t needle_count) {
  return memmem(haystack, haystack_count, needle, needle_count);
}

/* Core dumps and ptrace by other processes of the same user: off. 0 when it worked. */
static inline int coffer_make_undumpable(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static inline int coffer_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

static inline ssize_t coffer_getrandom(void *bytes, size_t count) { return getrandom(bytes, count, 0); }

/* Columns of the terminal behind a descriptor; 0 when it is none. */
static inline int coffer_terminal_columns(int descriptor) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

static inline int coffer_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

static inline long coffer_page_size(void) { return sysconf(_SC_PAGESIZE); }

#endif
