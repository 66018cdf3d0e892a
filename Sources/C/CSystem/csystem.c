/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "csystem.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <spawn.h>
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

void coffer_erase(void *bytes, size_t count) { explicit_bzero(bytes, count); }

const void *coffer_find(const void *haystack, size_t haystack_count, const void *needle,
                        size_t needle_count) {
  return memmem(haystack, haystack_count, needle, needle_count);
}

int coffer_make_undumpable(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int coffer_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

long coffer_getrandom(void *bytes, size_t count) { return getrandom(bytes, count, 0); }

int coffer_terminal_columns(int descriptor) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
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
  return lock ? mlock(pages, count) : -1;
}

void coffer_prepare_scratch(void *pages, size_t count) {
  madvise(pages, count, MADV_DONTDUMP);
  madvise(pages, count, MADV_HUGEPAGE);
}

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

int coffer_memfd_secret(void) { return (int)syscall(SYS_memfd_secret, O_CLOEXEC); }

int coffer_peer_user(int socket, uint32_t *user) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
  if (size != sizeof peer) return -1;
  *user = peer.uid;
  return 0;
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
