/* SPDX-License-Identifier: Apache-2.0 */
#include "cmodulelattice.h"

#include <CCryptoBoringSSL.h>

_Static_assert(MLDSA_SEED_BYTES == 32, "FIPS 204");
_Static_assert(MLDSA65_PUBLIC_KEY_BYTES == 1952 && MLDSA65_SIGNATURE_BYTES == 3309, "FIPS 204, table 2");
_Static_assert(MLDSA87_PUBLIC_KEY_BYTES == 2592 && MLDSA87_SIGNATURE_BYTES == 4627, "FIPS 204, table 2");

/* BoringSSL has a type and functions for each parameter set; this gives both sets the same ones. */
#define PARAMETER_SET(SET)                                                                                       \
  static int SET##_expand(void *private_key, const uint8_t *seed) {                                              \
    return SET##_private_key_from_seed(private_key, seed, MLDSA_SEED_BYTES);                                     \
  }                                                                                                              \
  static int SET##_encoded(const void *private_key, uint8_t *octets) {                                           \
    struct SET##_public_key key;                                                                                 \
    CBB builder;                                                                                                 \
    return SET##_public_from_private(&key, private_key) &&                                                       \
           CBB_init_fixed(&builder, octets, SET##_PUBLIC_KEY_BYTES) && SET##_marshal_public_key(&builder, &key); \
  }                                                                                                              \
  static int SET##_check(const uint8_t *octets, size_t count, const uint8_t *signature, size_t signature_count,  \
                         const uint8_t *message, size_t message_count, const uint8_t *context,                   \
                         size_t context_count) {                                                                 \
    struct SET##_public_key key;                                                                                 \
    CBS in = {octets, count};                                                                                    \
    return SET##_parse_public_key(&key, &in) && SET##_verify(&key, signature, signature_count, message,          \
                                                             message_count, context, context_count);             \
  }

PARAMETER_SET(MLDSA65)
PARAMETER_SET(MLDSA87)

size_t coffer_mldsa_private_key_size(int size) {
  return size == 65 ? sizeof(struct MLDSA65_private_key) : sizeof(struct MLDSA87_private_key);
}

int coffer_mldsa_expand(int size, void *private_key, const uint8_t *seed) {
  return size == 65 ? MLDSA65_expand(private_key, seed) : MLDSA87_expand(private_key, seed);
}

int coffer_mldsa_public_key(int size, const void *private_key, uint8_t *public_key) {
  return size == 65 ? MLDSA65_encoded(private_key, public_key) : MLDSA87_encoded(private_key, public_key);
}

int coffer_mldsa_sign(int size, const void *private_key, const uint8_t *message, size_t message_count,
                      uint8_t *signature) {
  return size == 65 ? MLDSA65_sign(signature, private_key, message, message_count, NULL, 0)
                    : MLDSA87_sign(signature, private_key, message, message_count, NULL, 0);
}

int coffer_mldsa_verify(int size, const uint8_t *public_key, size_t public_key_count, const uint8_t *signature,
                        size_t signature_count, const uint8_t *message, size_t message_count,
                        const uint8_t *context, size_t context_count) {
  return size == 65 ? MLDSA65_check(public_key, public_key_count, signature, signature_count, message,
                                    message_count, context, context_count)
                    : MLDSA87_check(public_key, public_key_count, signature, signature_count, message,
                                    message_count, context, context_count);
}
