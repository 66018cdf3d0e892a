/* SPDX-License-Identifier: Apache-2.0
 *
 * libzbar, which finds QR codes in pictures. It is opened while the program runs and not linked: the program that
 * holds keys never maps it, and it may be missing. */
#ifndef COFFER_CZBAR_H
#define COFFER_CZBAR_H

#include <stddef.h>
#include <stdint.h>

typedef struct coffer_zbar coffer_zbar;

/* Opens the library of this name, limited to QR codes, with everything that it would open later: afterwards it
 * computes only. NULL when it is missing, or is another library. */
coffer_zbar *coffer_zbar_open(const char *library);

/* Looks for codes in `width` x `height` grey pixels, one byte each, which must stay until the last code was taken.
 * 0, or -1. */
int coffer_zbar_scan(coffer_zbar *zbar, const uint8_t *grey, unsigned width, unsigned height);

/* The content of the next code that was found, valid until the next scan; NULL after the last one. */
const char *coffer_zbar_next(coffer_zbar *zbar, size_t *count);

#endif
