/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COFFER_LIMITS_H
#define COFFER_LIMITS_H

#include <sys/resource.h>

/* Lowers a limit of this process and its children for good; one that is lower already stays. 0, or -1 and errno. */
static inline int set_limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return -1;
  if (limit.rlim_max < most) most = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = most;
  return setrlimit(resource, &limit);
}

#endif
