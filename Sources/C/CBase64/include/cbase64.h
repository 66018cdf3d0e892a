/* SPDX-License-Identifier: Apache-2.0
 *
 * Base64 (RFC 4648, section 4) with the vectors of AVX2: 24 bytes or 32 characters at a time. Each function does whole
 * pieces from the beginning and says how far it came; the rest, and everything on other processors, is the caller's.
 * Nothing here reads memory at a place that depends on a value. Nothing is left on the stack or in vector
 * registers. */
#ifndef COFFER_CBASE64_H
#define COFFER_CBASE64_H

#include <stddef.h>
#include <stdint.h>

/* Writes four characters for every three bytes, without padding.
 * Returns how many bytes were encoded: a multiple of 24. */
size_t coffer_base64_encode(const uint8_t *bytes, size_t count, uint8_t *text);

/* Writes lines of 64 characters and LF for every 48 bytes.
 * Returns how many lines were written: all, or none. */
size_t coffer_base64_encode_lines(const uint8_t *bytes, size_t line_count, uint8_t *text);

struct coffer_base64_progress {
  /* Characters that were used. */
  size_t read;
  /* Bytes that they gave. */
  size_t written;
  /* 1 when the last character that was used is LF. */
  int is_at_line_start;
};

/* Decodes as long as pieces of 32 characters of the alphabet come and there is room for 32 bytes, of which 24 count.
 *   text          begins with a group of four
 *   bytes         may begin where `text` begins, or before
 *   skips_lf      whether an LF between two pieces is passed over */
struct coffer_base64_progress coffer_base64_decode(const uint8_t *text, size_t count, uint8_t *bytes, size_t room,
                                                   int skips_lf);

#endif
