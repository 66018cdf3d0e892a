/* SPDX-License-Identifier: Apache-2.0 */
#include "cmodulelattice.h"

#include <CCryptoBoringSSL.h>

_Static_assert(MLKEM_SEED_BYTES == 64 && MLKEM_SHARED_SECRET_BYTES == 32, "FIPS 203");
_Static_assert(MLKEM768_PUBLIC_KEY_BYTES == 1184 && MLKEM768_CIPHERTEXT_BYTES == 1088, "FIPS 203, table 3");
_Static_assert(MLKEM1024_PUBLIC_KEY_BYTES == 1568 && MLKEM1024_CIPHERTEXT_BYTES == 1568, "FIPS 203, table 3");

/* BoringSSL has a type and functions for each parameter set; this gives both sets the same ones. */
#define PARAMETER_SET(SET)                                                                                       \
  static void SET##_expand(void *private_key, const uint8_t *seed) {                                             \
    SET##_private_key_from_seed(private_key, seed, MLKEM_SEED_BYTES);                                            \
  }                                                                                                              \
  static void SET##_encoded(const void *private_key, uint8_t *octets) {                                          \
    struct SET##_public_key key;                                                                                 \
    SET##_public_from_private(&key, private_key);                                                                \
    CBB builder;                                                                                                 \
    CBB_init_fixed(&builder, octets, SET##_PUBLIC_KEY_BYTES);                                                    \
    SET##_marshal_public_key(&builder, &key);                                                                    \
  }                                                                                                              \
  static int SET##_read(struct SET##_public_key *key, const uint8_t *octets, size_t count) {                     \
    CBS in = {octets, count};                                                                                    \
    return SET##_parse_public_key(key, &in); /* It wants to find nothing behind the key. */                      \
  }                                                                                                              \
  static int SET##_check(const uint8_t *octets, size_t count) {                                                  \
    struct SET##_public_key key;                                                                                 \
    return SET##_read(&key, octets, count);                                                                      \
  }                                                                                                              \
  static int SET##_encapsulate(const uint8_t *octets, size_t count, uint8_t *ciphertext, uint8_t *secret) {      \
    struct SET##_public_key key;                                                                                 \
    if (!SET##_read(&key, octets, count)) return 0;                                                              \
    SET##_encap(ciphertext, secret, &key);                                                                       \
    return 1;                                                                                                    \
  }

PARAMETER_SET(MLKEM768)
PARAMETER_SET(MLKEM1024)

size_t coffer_mlkem_private_key_size(int size) {
  return size == 768 ? sizeof(struct MLKEM768_private_key) : sizeof(struct MLKEM1024_private_key);
}

void coffer_mlkem_expand(int size, void *private_key, const uint8_t *seed) {
  size == 768 ? MLKEM768_expand(private_key, seed) : MLKEM1024_expand(private_key, seed);
}

void coffer_mlkem_public_key(int size, const void *private_key, uint8_t *public_key) {
  size == 768 ? MLKEM768_encoded(private_key, public_key) : MLKEM1024_encoded(private_key, public_key);
}

int coffer_mlkem_check(int size, const uint8_t *public_key, size_t public_key_count) {
  return size == 768 ? MLKEM768_check(public_key, public_key_count)
                     : MLKEM1024_check(public_key, public_key_count);
}

int coffer_mlkem_encapsulate(int size, const uint8_t *public_key, size_t public_key_count, uint8_t *ciphertext,
                             uint8_t *secret) {
  return size == 768 ? MLKEM768_encapsulate(public_key, public_key_count, ciphertext, secret)
                     : MLKEM1024_encapsulate(public_key, public_key_count, ciphertext, secret);
}

int coffer_mlkem_decapsulate(int size, const void *private_key, const uint8_t *ciphertext,
                             size_t ciphertext_count, uint8_t *secret) {
  return size == 768 ? MLKEM768_decap(secret, ciphertext, ciphertext_count, private_key)
                     : MLKEM1024_decap(secret, ciphertext, ciphertext_count, private_key);
}
