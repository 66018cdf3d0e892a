/* SPDX-License-Identifier: Apache-2.0 */
#include "ckeccak.h"

/* FIPS 202, 3.2.5. */
static const uint64_t round_constants[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000, 0x000000000000808B,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008A, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000A, 0x000000008000808B, 0x800000000000008B, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

/* FIPS 202, 6.2: the bits 1111 behind a message of SHAKE, and pad10*1 to the rate of 136 octets. */
#define SHAKE_FIRST_PADDING 0x1F
#define SHAKE_LAST_PADDING 0x8000000000000000

#define ROTATED(vector, bits) (((vector) << (bits)) | ((vector) >> (64 - (bits))))

#define LANES 1
#define VECTOR uint64_t
#define TARGET
#define NAME(function) function##_1
#include "lanes.h"

#if defined(__x86_64__)

/* The compiler makes vector instructions of ordinary operators on these. */
typedef uint64_t vector4 __attribute__((vector_size(32)));
typedef uint64_t vector8 __attribute__((vector_size(64)));

#define LANES 4
#define VECTOR vector4
#define TARGET __attribute__((target("avx2")))
#define NAME(function) function##_4
#include "lanes.h"

#define LANES 8
#define VECTOR vector8
#define TARGET __attribute__((target("avx512f")))
#define NAME(function) function##_8
#include "lanes.h"

#endif

size_t coffer_keccak_lanes(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return 8;
  }
  if (__builtin_cpu_supports("avx2")) {
    return 4;
  }
#endif
  return 1;
}

void coffer_keccak_permute(uint64_t *states, size_t lanes) {
  switch (lanes) {
#if defined(__x86_64__)
  case 4:
    permute_4(states);
    break;
  case 8:
    permute_8(states);
    break;
#endif
  default:
    permute_1(states);
  }
}

void coffer_keccak_chain(uint64_t *values, const uint64_t *head, size_t words, size_t first, size_t last,
                         size_t lanes) {
  switch (lanes) {
#if defined(__x86_64__)
  case 4:
    chain_4(values, head, words, first, last);
    break;
  case 8:
    chain_8(values, head, words, first, last);
    break;
#endif
  default:
    chain_1(values, head, words, first, last);
  }
}
