/* SPDX-License-Identifier: Apache-2.0
 *
 * What known answers need and nothing else may use: BoringSSL's functions that take the randomness from the caller,
 * and private keys in NIST's expanded form. `size` is 768 or 1024, 65 or 87. Each returns 1 when it worked. */
#ifndef BORINGSSL_INTERNALS_H
#define BORINGSSL_INTERNALS_H

#include <stddef.h>
#include <stdint.h>

/* FIPS 203, 6.2; m has 32 octets. 0 also for what is not a public key. */
int known_mlkem_encapsulate(int size, const uint8_t *public_key, size_t public_key_count, const uint8_t *m,
                            uint8_t *ciphertext, uint8_t *secret);

/* FIPS 203, 6.3, with a decapsulation key as NIST writes it. */
int known_mlkem_decapsulate(int size, const uint8_t *dk, size_t dk_count, const uint8_t *ciphertext,
                            size_t ciphertext_count, uint8_t *secret);

/* FIPS 204, algorithm 2. The key is in BoringSSL's form; random has 32 octets. */
int known_mldsa_sign(int size, const void *private_key, const uint8_t *message, size_t message_count,
                     const uint8_t *context, size_t context_count, const uint8_t *random, uint8_t *signature);

#endif
