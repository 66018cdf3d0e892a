/* SPDX-License-Identifier: Apache-2.0
 *
 * In a build with the thread sanitizer alone: the sanitizer does not see how Swift's Mutex is taken when another
 * thread holds it, since that happens in a library that was built without it, and would report a data race for
 * whatever the mutex protects. This stands in for that function and tells the sanitizer. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define MUTEX_LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"

void __tsan_acquire(void *address);

typedef __attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex);

lock_slow coffer_lock_slow __asm__(MUTEX_LOCK_SLOW);

__attribute__((swiftcall)) void coffer_lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
  lock_slow *genuine = (lock_slow *)dlsym(RTLD_NEXT, MUTEX_LOCK_SLOW);
  genuine(thread, mutex);
  __tsan_acquire(mutex);
}
#endif
#endif
