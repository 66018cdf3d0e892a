/* SPDX-License-Identifier: Apache-2.0
 *
 * Keccak-f[1600] (FIPS 202, 3.3) on several states at once, and the chains of SLH-DSA (FIPS 205, 5), which are most of
 * its work. Nothing here branches on a value, or reads memory at a place that depends on one.
 *
 * States lie side by side: word i of lane j is at [i * lanes + j], little-endian. The lanes are 1, 4 or 8. What a call
 * leaves in registers and on the stack is the caller's to erase. */
#ifndef COFFER_CKECCAK_H
#define COFFER_CKECCAK_H

#include <stddef.h>
#include <stdint.h>

/* The most lanes for which this processor has vectors: 8 with AVX-512, 4 with AVX2, otherwise 1. Fewer work too. */
size_t coffer_keccak_lanes(void);

/* Permutes states of 25 words. */
void coffer_keccak_permute(uint64_t *states, size_t lanes);

/* Steps `first` to `last` - 1 of a chain in each lane: the function F of FIPS 205, 11.2, with SHAKE256.
 *   values  last + 1 nodes of `words` words (2 or 4). The one at `first` is read, those behind it are written.
 *   head    what every step hashes before the node: PK.seed of `words` words, and ADRS of 4 with the hash address 0. */
void coffer_keccak_chain(uint64_t *values, const uint64_t *head, size_t words, size_t first, size_t last,
                         size_t lanes);

#endif
