/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "csystem.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* Vector registers keep what passed through them last: pieces of what memcpy moved, round keys, hash
 * states. Whatever saves registers, a signal or a core dump say, would take a copy of them. */
#if defined(__x86_64__)

__attribute__((target("avx512vl"), noinline)) static void clear_registers_avx512(void) {
  /* Writing the lower part clears the upper one. */
  __asm__ volatile(
      "vzeroall\n"
      "vpxord %%xmm16, %%xmm16, %%xmm16\n"
      "vpxord %%xmm17, %%xmm17, %%xmm17\n"
      "vpxord %%xmm18, %%xmm18, %%xmm18\n"
      "vpxord %%xmm19, %%xmm19, %%xmm19\n"
      "vpxord %%xmm20, %%xmm20, %%xmm20\n"
      "vpxord %%xmm21, %%xmm21, %%xmm21\n"
      "vpxord %%xmm22, %%xmm22, %%xmm22\n"
      "vpxord %%xmm23, %%xmm23, %%xmm23\n"
      "vpxord %%xmm24, %%xmm24, %%xmm24\n"
      "vpxord %%xmm25, %%xmm25, %%xmm25\n"
      "vpxord %%xmm26, %%xmm26, %%xmm26\n"
      "vpxord %%xmm27, %%xmm27, %%xmm27\n"
      "vpxord %%xmm28, %%xmm28, %%xmm28\n"
      "vpxord %%xmm29, %%xmm29, %%xmm29\n"
      "vpxord %%xmm30, %%xmm30, %%xmm30\n"
      "vpxord %%xmm31, %%xmm31, %%xmm31\n"
      ::
          : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
            "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22",
            "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}

__attribute__((target("avx"), noinline)) static void clear_registers_avx(void) {
  __asm__ volatile("vzeroall" ::
                       : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                         "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static void clear_registers(void) {
  if (__builtin_cpu_supports("avx512vl")) {
    clear_registers_avx512();
  } else if (__builtin_cpu_supports("avx")) {
    clear_registers_avx();
  } else {
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
        "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
        "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
        "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15\n"
        ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
              "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
}

#elif defined(__aarch64__)

static void clear_registers(void) {
  /* The lower halves of v8 to v15 belong to the caller; the compiler saves and restores them. */
  __asm__ volatile(
      "movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n"
      "movi v4.2d, #0\n movi v5.2d, #0\n movi v6.2d, #0\n movi v7.2d, #0\n"
      "movi v8.2d, #0\n movi v9.2d, #0\n movi v10.2d, #0\n movi v11.2d, #0\n"
      "movi v12.2d, #0\n movi v13.2d, #0\n movi v14.2d, #0\n movi v15.2d, #0\n"
      "movi v16.2d, #0\n movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0\n"
      "movi v20.2d, #0\n movi v21.2d, #0\n movi v22.2d, #0\n movi v23.2d, #0\n"
      "movi v24.2d, #0\n movi v25.2d, #0\n movi v26.2d, #0\n movi v27.2d, #0\n"
      "movi v28.2d, #0\n movi v29.2d, #0\n movi v30.2d, #0\n movi v31.2d, #0\n"
      ::
          : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
            "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
            "v29", "v30", "v31");
}

#else

static void clear_registers(void) {}

#endif

void coffer_erase(void *bytes, size_t count) {
  explicit_bzero(bytes, count);
  clear_registers();
}

/* BoringSSL uses 12 KiB at most. */
#define ERASED_STACK_BYTE_COUNT (32 << 10)

__attribute__((noinline, no_sanitize("address"))) void coffer_erase_stack(void) {
  unsigned char frame[ERASED_STACK_BYTE_COUNT];
  coffer_erase(frame, sizeof frame);
}

const void *coffer_find(const void *haystack, size_t haystack_count, const void *needle,
                        size_t needle_count) {
  return memmem(haystack, haystack_count, needle, needle_count);
}

/* Faults end the process and nothing else. The Swift runtime has a handler that writes the registers, and
 * what they point to, to standard error. */
static void end_plainly_on_faults(void) {
  static const int faults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) {
    struct sigaction action;
    if (sigaction(faults[index], NULL, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(faults[index], &action, NULL);
  }
}

int coffer_make_undumpable(void) {
  struct rlimit none = {0, 0};
  end_plainly_on_faults();
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int coffer_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

long coffer_getrandom(void *bytes, size_t count) { return getrandom(bytes, count, 0); }

int coffer_fill_standard_descriptors(void) {
  for (int place = 0; place <= 2; place++) {
    if (fcntl(place, F_GETFD) >= 0) continue;
    if (open("/dev/null", place == 0 ? O_WRONLY : O_RDONLY) != place) return -1;
  }
  return 0;
}

int coffer_write_all(int descriptor, const void *bytes, size_t count) {
  const char *next = bytes;
  while (count > 0) {
    ssize_t written = write(descriptor, next, count);
    if (written >= 0) {
      next += written;
      count -= (size_t)written;
    } else if (errno == EAGAIN) {
      struct pollfd wait = {.fd = descriptor, .events = POLLOUT};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return 0;
}

int coffer_open_unnamed(const char *folder, int flags) {
  int descriptor = open(folder, O_TMPFILE | O_CLOEXEC | flags, 0600);
  if (descriptor < 0) {
    /* What kernels and file systems without such files say. */
    if (errno == EISDIR || errno == EINVAL) errno = EOPNOTSUPP;
    return -1;
  }
  char place[32];
  snprintf(place, sizeof place, "/proc/self/fd/%d", descriptor);
  if (flags & O_EXCL || access(place, F_OK) == 0) return descriptor;
  close(descriptor);
  errno = EOPNOTSUPP;
  return -1;
}

int coffer_name_unnamed(int descriptor, const char *path) {
  char place[32];
  snprintf(place, sizeof place, "/proc/self/fd/%d", descriptor);
  return linkat(AT_FDCWD, place, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

void coffer_start_writing(int descriptor, int64_t offset, int64_t count) {
  sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}

int coffer_rename_new(const char *path, const char *target) {
  return renameat2(AT_FDCWD, path, AT_FDCWD, target, RENAME_NOREPLACE);
}

int coffer_terminal_columns(int descriptor) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

int coffer_terminal_rows(int descriptor) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_row;
}

int coffer_character_columns(uint32_t scalar) {
  static locale_t utf8 = 0;
  if (!utf8) utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0);
  if (!utf8) return 1;
  locale_t former = uselocale(utf8);
  int columns = wcwidth((wchar_t)scalar);
  uselocale(former);
  return columns;
}

long coffer_page_size(void) { return sysconf(_SC_PAGESIZE); }

long long coffer_address_space_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return -1;
  return (long long)limit.rlim_cur;
}

int coffer_guard_pages(void *pages, size_t count, int lock) {
  madvise(pages, count, MADV_DONTDUMP);
  madvise(pages, count, MADV_WIPEONFORK);
  if (lock) return mlock(pages, count);
  madvise(pages, count, MADV_HUGEPAGE);
  return -1;
}

void coffer_prepare_scratch(void *pages, size_t count) {
  madvise(pages, count, MADV_DONTDUMP);
  madvise(pages, count, MADV_HUGEPAGE);
}

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

int coffer_memory_file(void) { return (int)syscall(SYS_memfd_create, "coffer", 1u /* MFD_CLOEXEC */); }

int coffer_memfd_secret(void) { return (int)syscall(SYS_memfd_secret, O_CLOEXEC); }

int coffer_peer(int socket, uint32_t *user, int32_t *process) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
  if (size != sizeof peer) return -1;
  *user = peer.uid;
  *process = peer.pid;
  return 0;
}

int coffer_open_process(int32_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int coffer_signal_process(int descriptor, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

int coffer_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int coffer_refuse_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int coffer_close_descriptors(int first, int kept) {
  if (kept < first) return close_range((unsigned)first, ~0U, 0);
  if (kept > first && close_range((unsigned)first, (unsigned)kept - 1, 0) != 0) return -1;
  return close_range((unsigned)kept + 1, ~0U, 0);
}

int coffer_ending_signals(void) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGHUP);
  if (pthread_sigmask(SIG_BLOCK, &ending, NULL) != 0) return -1;
  return signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

uint64_t coffer_boot_time(void) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int coffer_boot_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int coffer_set_boot_timer(int timer, uint64_t moment) {
  struct itimerspec setting = {{0, 0}, {(time_t)(moment / 1000000000), (long)(moment % 1000000000)}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL);
}

int coffer_pipe(int *reading, int *writing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  *reading = ends[0];
  *writing = ends[1];
  return 0;
}

int coffer_close_from(void *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int coffer_spawn_apart(const char *path, char *const arguments[], char *const environment[], int passed,
                       int number) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t signals;
  pid_t child = -1;
  int result = posix_spawn_file_actions_init(&actions);
  if (result != 0) return -result;
  result = posix_spawnattr_init(&attributes);
  if (result != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return -result;
  }
  /* First the one that is passed: its number may be that of a standard descriptor. */
  result = posix_spawn_file_actions_adddup2(&actions, passed, number);
  for (int standard = 0; result == 0 && standard < 3; standard++)
    result = posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  if (result == 0) result = posix_spawn_file_actions_addclosefrom_np(&actions, number + 1);
  if (result == 0) result = posix_spawn_file_actions_addchdir_np(&actions, "/");
  sigemptyset(&signals);
  if (result == 0) result = posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  if (result == 0) result = posix_spawnattr_setsigdefault(&attributes, &signals);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
  if (result == 0) result = posix_spawnattr_setflags(&attributes, flags);
  if (result == 0) result = posix_spawn(&child, path, &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return result == 0 ? child : -result;
}
