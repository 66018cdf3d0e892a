/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COFFER_LIMITS_H
#define COFFER_LIMITS_H

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Lowers a limit of this process and its children for good; one that is lower already stays. 0, or -1 and errno. */
static inline int set_limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return -1;
  if (limit.rlim_max < most) most = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = most;
  return setrlimit(resource, &limit);
}

/* Columns of /proc/self/statm (proc(5)): the address space, and the part of it that is private and can be written. */
enum { address_space = 0, private_data = 5 };

/* How many bytes of it are in use; -1 when that cannot be told. */
static inline long long used_bytes(int column) {
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return -1;
  long long pages = -1;
  for (int at = 0; at <= column; at++) {
    if (fscanf(file, "%lld", &pages) == 1) continue;
    pages = -1;
    break;
  }
  fclose(file);
  return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

#endif
