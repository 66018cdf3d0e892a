/* SPDX-License-Identifier: Apache-2.0
 *
 * What the sanitizers of the compiler must know; empty in other builds. */
#if defined(__has_feature)

#if __has_feature(address_sanitizer)
/* A few bytes live to the end of a process on purpose, because a signal handler may be reading them. A small
 * quarantine keeps searches of memory short. */
const char *__asan_default_options(void);

const char *__asan_default_options(void) { return "detect_leaks=0:quarantine_size_mb=16"; }
#endif

#if __has_feature(thread_sanitizer)
/* Swift's Mutex is taken and given back in a library that was built without the sanitizer when another thread
 * waits for it. A data race would be reported for whatever the mutex protects. These take the places of the two
 * functions and tell the sanitizer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define MUTEX_LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define MUTEX_UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);

typedef __attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex);
typedef __attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex);

lock_slow coffer_lock_slow __asm__(MUTEX_LOCK_SLOW);
unlock_slow coffer_unlock_slow __asm__(MUTEX_UNLOCK_SLOW);

__attribute__((swiftcall)) void coffer_lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
  lock_slow *genuine = (lock_slow *)dlsym(RTLD_NEXT, MUTEX_LOCK_SLOW);
  genuine(thread, mutex);
  __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void coffer_unlock_slow(__attribute__((swift_context)) void *mutex) {
  __tsan_release(mutex);
  unlock_slow *genuine = (unlock_slow *)dlsym(RTLD_NEXT, MUTEX_UNLOCK_SLOW);
  genuine(mutex);
}
#endif

#endif
