/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries of the system that few commands need. They are opened when they are first needed, and not linked: the
 * dynamic linker would map, relocate and initialise all of them, and what they need in turn, at every start. */
#ifndef COFFER_LOADER_H
#define COFFER_LOADER_H

#include <stddef.h>

/* Opens all of `libraries`, a list of names that ends with NULL, and writes the addresses of the `count` calls in
 * `names` to `calls`, an array of pointers to functions. Each call is in one of the libraries. They stay open, their
 * names are for the caller alone, and all their symbols are bound at once, as those of the program are: lazy binding
 * would leave copies of key bytes on the stack.
 * 0, or -1 when a library is missing or a call is in none of them. */
int coffer_load(const char *_Nullable const *_Nonnull libraries, const char *_Nonnull const *_Nonnull names,
                size_t count, void *_Nonnull calls);

/* For a header, after that of the library: declares the type `library`, a structure with a pointer to each call that
 * the macro `CALLS` lists as `CALL(name)`, and `library_open`. The pointers have the types of the library's header, so
 * the compiler checks each use as it does for a linked library.
 *
 * `library_open` opens the library at its first call, once in a process and for all threads. It gives NULL when the
 * library is missing or lacks a call. */
#define COFFER_LIBRARY(library, CALLS) \
  typedef struct library {             \
    CALLS(COFFER_LIBRARY_POINTER)      \
  } library;                           \
  const library *_Nullable library##_open(void);

/* For a C file: defines `library_open`. The names of the files follow: with the number of their binary interface, which
 * a library changes when its calls do. scripts/package reads them here. */
#define COFFER_LIBRARY_FILES(library, CALLS, ...)                                                  \
  static library library##_calls;                                                                  \
  static int library##_result = -1;                                                                \
  static void library##_load(void) {                                                               \
    static const char *const files[] = {__VA_ARGS__, NULL};                                        \
    static const char *const names[] = {CALLS(COFFER_LIBRARY_NAME)};                               \
    _Static_assert(sizeof names == sizeof library##_calls, "the structure has the calls alone");   \
    library##_result = coffer_load(files, names, sizeof names / sizeof names[0], &library##_calls); \
  }                                                                                                \
  const library *library##_open(void) {                                                            \
    static pthread_once_t once = PTHREAD_ONCE_INIT;                                                \
    pthread_once(&once, library##_load);                                                           \
    return library##_result == 0 ? &library##_calls : NULL;                                        \
  }

#define COFFER_LIBRARY_POINTER(call) __typeof__(&call) _Nonnull call;
#define COFFER_LIBRARY_NAME(call) #call,

#endif
