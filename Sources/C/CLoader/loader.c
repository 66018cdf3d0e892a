/* SPDX-License-Identifier: Apache-2.0
 *
 * dlopen(3) and dlsym(3). A library that was opened is never closed: its calls may be in use. */
#include "coffer_loader.h"

#include <dlfcn.h>
#include <string.h>

int coffer_load(const char *const *libraries, const char *const *names, size_t count, void *calls) {
  void *handles[4];
  size_t handle_count = 0;
  for (; libraries[handle_count]; handle_count++) {
    if (handle_count == sizeof handles / sizeof handles[0]) return -1;
    handles[handle_count] = dlopen(libraries[handle_count], RTLD_NOW | RTLD_LOCAL);
    if (!handles[handle_count]) return -1;
  }
  for (size_t index = 0; index < count; index++) {
    void *found = NULL;
    for (size_t handle = 0; handle < handle_count && !found; handle++) found = dlsym(handles[handle], names[index]);
    if (!found) return -1;
    /* POSIX: a pointer to a function has the form of one to an object. */
    memcpy((char *)calls + index * sizeof found, &found, sizeof found);
  }
  return 0;
}
