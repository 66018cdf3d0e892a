/* SPDX-License-Identifier: Apache-2.0 */
#include "internals.h"

#include <CCryptoBoringSSL.h>

/* In the library without a public header. Their return types are enumerations of C++ with int below. The prefix of
 * their names comes from a macro of the headers. */
int BCM_mlkem768_encap_external_entropy(uint8_t *ciphertext, uint8_t *secret, const void *public_key,
                                        const uint8_t *m);
int BCM_mlkem1024_encap_external_entropy(uint8_t *ciphertext, uint8_t *secret, const void *public_key,
                                         const uint8_t *m);
int BCM_mlkem768_parse_private_key(void *private_key, CBS *in);
int BCM_mlkem1024_parse_private_key(void *private_key, CBS *in);
int BCM_mldsa65_sign_internal(uint8_t *signature, const void *private_key, const uint8_t *message,
                              size_t message_count, const uint8_t *prefix, size_t prefix_count,
                              const uint8_t *context, size_t context_count, const uint8_t *random);
int BCM_mldsa87_sign_internal(uint8_t *signature, const void *private_key, const uint8_t *message,
                              size_t message_count, const uint8_t *prefix, size_t prefix_count,
                              const uint8_t *context, size_t context_count, const uint8_t *random);

/* bcm_status::failure. */
static const int failure = 2;

int known_mlkem_encapsulate(int size, const uint8_t *public_key, size_t public_key_count, const uint8_t *m,
                            uint8_t *ciphertext, uint8_t *secret) {
  CBS in = {public_key, public_key_count};
  if (size == 768) {
    struct MLKEM768_public_key key;
    return MLKEM768_parse_public_key(&key, &in) &&
           BCM_mlkem768_encap_external_entropy(ciphertext, secret, &key, m) != failure;
  }
  struct MLKEM1024_public_key key;
  return MLKEM1024_parse_public_key(&key, &in) &&
         BCM_mlkem1024_encap_external_entropy(ciphertext, secret, &key, m) != failure;
}

int known_mlkem_decapsulate(int size, const uint8_t *dk, size_t dk_count, const uint8_t *ciphertext,
                            size_t ciphertext_count, uint8_t *secret) {
  CBS in = {dk, dk_count};
  if (size == 768) {
    struct MLKEM768_private_key key;
    return BCM_mlkem768_parse_private_key(&key, &in) != failure &&
           MLKEM768_decap(secret, ciphertext, ciphertext_count, &key);
  }
  struct MLKEM1024_private_key key;
  return BCM_mlkem1024_parse_private_key(&key, &in) != failure &&
         MLKEM1024_decap(secret, ciphertext, ciphertext_count, &key);
}

int known_mldsa_sign(int size, const void *private_key, const uint8_t *message, size_t message_count,
                     const uint8_t *context, size_t context_count, const uint8_t *random, uint8_t *signature) {
  if (context_count > 255) {
    return 0;
  }
  const uint8_t prefix[2] = {0, (uint8_t)context_count};
  return (size == 65 ? BCM_mldsa65_sign_internal(signature, private_key, message, message_count, prefix, 2,
                                                 context, context_count, random)
                     : BCM_mldsa87_sign_internal(signature, private_key, message, message_count, prefix, 2,
                                                 context, context_count, random)) != failure;
}
