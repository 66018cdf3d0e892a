/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib, for raw deflate, zlib streams and gzip. */
#ifndef COFFER_CZLIB_SHIM_H
#define COFFER_CZLIB_SHIM_H

#include <malloc.h>
#include <zlib.h>

/* A macro that hands over its own version and size; Swift cannot import it. */
static inline int coffer_inflate_init(z_streamp stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}

/* How much memory there is at an address from malloc, to erase it. */
static inline size_t coffer_allocated_size(void *memory) {
  return malloc_usable_size(memory);
}

#endif
