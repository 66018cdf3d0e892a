/* SPDX-License-Identifier: Apache-2.0
 *
 * ML-KEM (FIPS 203) and ML-DSA (FIPS 204) by BoringSSL. Its headers stay behind this one: they define types of the
 * system's OpenSSL otherwise, and a Swift module may come to see both.
 *
 * `size` is the parameter set: 768 or 1024, 65 or 87. A private key is expanded from its seed into memory of the
 * caller; a public key is given in octets. Functions with a result return 1 when they worked. Each leaves secrets on
 * the stack, which the caller erases. */
#ifndef CMODULELATTICE_H
#define CMODULELATTICE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of an expanded private key, aligned to 16. */
size_t coffer_mlkem_private_key_size(int size);
size_t coffer_mldsa_private_key_size(int size);

/* FIPS 203, 6.1; the seed has 64 octets. */
void coffer_mlkem_expand(int size, void *private_key, const uint8_t *seed);

/* 1184 or 1568 octets. */
void coffer_mlkem_public_key(int size, const void *private_key, uint8_t *public_key);

/* FIPS 203, 7.2: its length, and every coefficient below q. */
int coffer_mlkem_check(int size, const uint8_t *public_key, size_t public_key_count);

/* FIPS 203, 7.2: 0 when the public key fails the check. The ciphertext has 1088 or 1568 octets, the secret 32. */
int coffer_mlkem_encapsulate(int size, const uint8_t *public_key, size_t public_key_count, uint8_t *ciphertext,
                             uint8_t *secret);

/* FIPS 203, 7.3: 0 when the ciphertext has the wrong length. */
int coffer_mlkem_decapsulate(int size, const void *private_key, const uint8_t *ciphertext,
                             size_t ciphertext_count, uint8_t *secret);

/* FIPS 204, 6.1; the seed has 32 octets. 0 when out of memory, as those below. */
int coffer_mldsa_expand(int size, void *private_key, const uint8_t *seed);

/* 1952 or 2592 octets. */
int coffer_mldsa_public_key(int size, const void *private_key, uint8_t *public_key);

/* FIPS 204, 5.2, hedged, with an empty context. The signature has 3309 or 4627 octets. */
int coffer_mldsa_sign(int size, const void *private_key, const uint8_t *message, size_t message_count,
                      uint8_t *signature);

/* FIPS 204, 5.3: 1 when it is valid. A signature or public key of the wrong length is not. */
int coffer_mldsa_verify(int size, const uint8_t *public_key, size_t public_key_count, const uint8_t *signature,
                        size_t signature_count, const uint8_t *message, size_t message_count,
                        const uint8_t *context, size_t context_count);

#endif
