/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "csystem.h"

#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
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

#ifdef M_PERTURB
static pthread_mutex_t filling = PTHREAD_MUTEX_INITIALIZER;
static int filling_depth;

static void change_filling(int by) {
  pthread_mutex_lock(&filling);
  filling_depth += by;
  if (filling_depth == (by > 0)) mallopt(M_PERTURB, by > 0 ? 0xA5 : 0);
  pthread_mutex_unlock(&filling);
}

void coffer_begin_filling_freed(void) { change_filling(1); }
void coffer_end_filling_freed(void) { change_filling(-1); }
#else
void coffer_begin_filling_freed(void) {}
void coffer_end_filling_freed(void) {}
#endif

void coffer_prepare_scratch(void *pages, size_t count) {
  madvise(pages, count, MADV_DONTDUMP);
  madvise(pages, count, MADV_HUGEPAGE);
}
