/* SPDX-License-Identifier: Apache-2.0
 *
 * The few calls of libc and the kernel that Swift cannot import: variadic functions, macros, and
 * functions behind a feature test. Nothing else belongs here. */
#ifndef COFFER_CSYSTEM_H
#define COFFER_CSYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* Erases memory; the compiler may not leave it out. */
void coffer_erase(void *bytes, size_t count);

/* The first place of a byte sequence in another (memmem), or null. */
const void *coffer_find(const void *haystack, size_t haystack_count, const void *needle,
                        size_t needle_count);

/* Core dumps, and reading by other processes of the same user: off. 0 when it worked. */
int coffer_make_undumpable(void);

/* 1 while other processes of the same user may read this one's memory. */
int coffer_is_dumpable(void);

/* getrandom(2) without flags: the count written, or -1 and errno. */
long coffer_getrandom(void *bytes, size_t count);

/* Columns of the terminal behind a descriptor; 0 when it is none. */
int coffer_terminal_columns(int descriptor);

/* Columns of a terminal that a character takes, in UTF-8 whatever the session's language (wcwidth);
 * -1 for what is not printable or not known. */
int coffer_character_columns(uint32_t scalar);

/* Bytes in a page. */
long coffer_page_size(void);

/* Bytes of address space this process may have; -1 when there is no limit. */
long long coffer_address_space_limit(void);

/* Locks pages against swapping and keeps them out of core dumps and forked children. 0 when locked. */
int coffer_guard_pages(void *pages, size_t count, int lock);

/* Between begin and end, memory that is freed is filled first, unless it is small (glibc; elsewhere this does
 * nothing): for libraries that leave secrets in what they free. Calls nest, and threads may overlap. */
void coffer_begin_filling_freed(void);
void coffer_end_filling_freed(void);

/* Asks for huge pages, and keeps the pages out of core dumps. */
void coffer_prepare_scratch(void *pages, size_t count);

#endif
