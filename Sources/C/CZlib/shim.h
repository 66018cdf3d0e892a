/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib, for raw deflate and zlib streams. */
#ifndef COFFER_CZLIB_SHIM_H
#define COFFER_CZLIB_SHIM_H

#include <zlib.h>

/* A macro that hands over its own version and size; Swift cannot import it. */
static inline int coffer_inflate_init(z_streamp stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}

#endif
