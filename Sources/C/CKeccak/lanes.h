/* SPDX-License-Identifier: Apache-2.0
 *
 * The permutation and the chain for one number of lanes; keccak.c includes this file for each. It defines
 *   LANES   how many, VECTOR  a type of so many words, TARGET  the instructions that the functions may use,
 *   NAME    what makes a function's name of this number's own. */

TARGET static inline __attribute__((always_inline)) VECTOR NAME(load)(const uint64_t *words) {
  VECTOR vector;
  __builtin_memcpy(&vector, words, sizeof vector);
  return vector;
}

TARGET static inline __attribute__((always_inline)) void NAME(store)(uint64_t *words, VECTOR vector) {
  __builtin_memcpy(words, &vector, sizeof vector);
}

/* FIPS 202, 3.2: word x + 5 * y of a state is the lane (x, y) there. */
TARGET static inline __attribute__((always_inline)) void NAME(rounds)(VECTOR a[25]) {
  for (int round = 0; round < 24; round++) {
    /* θ */
    const VECTOR c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
    const VECTOR c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
    const VECTOR c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
    const VECTOR c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
    const VECTOR c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
    const VECTOR d0 = c4 ^ ROTATED(c1, 1);
    const VECTOR d1 = c0 ^ ROTATED(c2, 1);
    const VECTOR d2 = c1 ^ ROTATED(c3, 1);
    const VECTOR d3 = c2 ^ ROTATED(c4, 1);
    const VECTOR d4 = c3 ^ ROTATED(c0, 1);
    /* ρ and π: the lane (x, y) goes to (y, 2x + 3y). A row of five lines is a row of the new state. */
    const VECTOR b0 = a[0] ^ d0;
    const VECTOR b1 = ROTATED(a[6] ^ d1, 44);
    const VECTOR b2 = ROTATED(a[12] ^ d2, 43);
    const VECTOR b3 = ROTATED(a[18] ^ d3, 21);
    const VECTOR b4 = ROTATED(a[24] ^ d4, 14);

    const VECTOR b5 = ROTATED(a[3] ^ d3, 28);
    const VECTOR b6 = ROTATED(a[9] ^ d4, 20);
    const VECTOR b7 = ROTATED(a[10] ^ d0, 3);
    const VECTOR b8 = ROTATED(a[16] ^ d1, 45);
    const VECTOR b9 = ROTATED(a[22] ^ d2, 61);

    const VECTOR b10 = ROTATED(a[1] ^ d1, 1);
    const VECTOR b11 = ROTATED(a[7] ^ d2, 6);
    const VECTOR b12 = ROTATED(a[13] ^ d3, 25);
    const VECTOR b13 = ROTATED(a[19] ^ d4, 8);
    const VECTOR b14 = ROTATED(a[20] ^ d0, 18);

    const VECTOR b15 = ROTATED(a[4] ^ d4, 27);
    const VECTOR b16 = ROTATED(a[5] ^ d0, 36);
    const VECTOR b17 = ROTATED(a[11] ^ d1, 10);
    const VECTOR b18 = ROTATED(a[17] ^ d2, 15);
    const VECTOR b19 = ROTATED(a[23] ^ d3, 56);

    const VECTOR b20 = ROTATED(a[2] ^ d2, 62);
    const VECTOR b21 = ROTATED(a[8] ^ d3, 55);
    const VECTOR b22 = ROTATED(a[14] ^ d4, 39);
    const VECTOR b23 = ROTATED(a[15] ^ d0, 41);
    const VECTOR b24 = ROTATED(a[21] ^ d1, 2);
    /* χ and ι */
    a[0] = b0 ^ (~b1 & b2) ^ round_constants[round];
    a[1] = b1 ^ (~b2 & b3);
    a[2] = b2 ^ (~b3 & b4);
    a[3] = b3 ^ (~b4 & b0);
    a[4] = b4 ^ (~b0 & b1);

    a[5] = b5 ^ (~b6 & b7);
    a[6] = b6 ^ (~b7 & b8);
    a[7] = b7 ^ (~b8 & b9);
    a[8] = b8 ^ (~b9 & b5);
    a[9] = b9 ^ (~b5 & b6);

    a[10] = b10 ^ (~b11 & b12);
    a[11] = b11 ^ (~b12 & b13);
    a[12] = b12 ^ (~b13 & b14);
    a[13] = b13 ^ (~b14 & b10);
    a[14] = b14 ^ (~b10 & b11);

    a[15] = b15 ^ (~b16 & b17);
    a[16] = b16 ^ (~b17 & b18);
    a[17] = b17 ^ (~b18 & b19);
    a[18] = b18 ^ (~b19 & b15);
    a[19] = b19 ^ (~b15 & b16);

    a[20] = b20 ^ (~b21 & b22);
    a[21] = b21 ^ (~b22 & b23);
    a[22] = b22 ^ (~b23 & b24);
    a[23] = b23 ^ (~b24 & b20);
    a[24] = b24 ^ (~b20 & b21);
  }
}

TARGET static void NAME(permute)(uint64_t *states) {
  VECTOR a[25];
  for (size_t i = 0; i < 25; i++) {
    a[i] = NAME(load)(states + i * LANES);
  }
  NAME(rounds)(a);
  for (size_t i = 0; i < 25; i++) {
    NAME(store)(states + i * LANES, a[i]);
  }
}

/* `words` is a constant where this is inlined. */
TARGET static inline __attribute__((always_inline)) void NAME(chain_of)(uint64_t *values, const uint64_t *head,
                                                                        size_t words, size_t first, size_t last) {
  const VECTOR none = {0};
  for (size_t step = first; step < last; step++) {
    VECTOR a[25];
    for (size_t i = 0; i < 25; i++) {
      a[i] = none;
    }
    for (size_t i = 0; i < words + 4; i++) {
      a[i] = NAME(load)(head + i * LANES);
    }
    /* The hash address is the last octet of ADRS. */
    a[words + 3] ^= (uint64_t)step << 56;
    for (size_t i = 0; i < words; i++) {
      a[words + 4 + i] = NAME(load)(values + (step * words + i) * LANES);
    }
    a[2 * words + 4] ^= SHAKE_FIRST_PADDING;
    a[16] ^= SHAKE_LAST_PADDING;
    NAME(rounds)(a);
    for (size_t i = 0; i < words; i++) {
      NAME(store)(values + ((step + 1) * words + i) * LANES, a[i]);
    }
  }
}

TARGET static void NAME(chain)(uint64_t *values, const uint64_t *head, size_t words, size_t first, size_t last) {
  if (words == 2) {
    NAME(chain_of)(values, head, 2, first, last);
  } else {
    NAME(chain_of)(values, head, 4, first, last);
  }
}

#undef LANES
#undef VECTOR
#undef TARGET
#undef NAME
