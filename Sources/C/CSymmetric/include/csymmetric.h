/* SPDX-License-Identifier: Apache-2.0
 *
 * AES-256-GCM (SP 800-38D) and PBKDF2 (RFC 8018, section 5.2) by BoringSSL, whose code for them is faster than that of
 * OpenSSL 3.0. Its headers stay behind this one: they define types of the system's OpenSSL otherwise. Functions return
 * 1 when they worked, and leave nothing on the stack. */
#ifndef CSYMMETRIC_H
#define CSYMMETRIC_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the memory in which a call expands its key, aligned to 16. What it leaves there is the caller's to erase. */
size_t coffer_aes256gcm_size(void);

/* Writes `count` bytes of ciphertext, which may be the plaintext's memory, and 16 of a tag. The key has 32 bytes, the
 * nonce 12. 0 when there are more bytes than the mode can take. */
int coffer_aes256gcm_seal(void *expanded, const uint8_t *key, const uint8_t *nonce, const uint8_t *data,
                          size_t data_count, const uint8_t *plaintext, size_t count, uint8_t *ciphertext,
                          uint8_t *tag);

/* Writes `count` bytes of plaintext, which may be the ciphertext's memory. 0 when the tag does not match; the
 * plaintext is zero then. */
int coffer_aes256gcm_open(void *expanded, const uint8_t *key, const uint8_t *nonce, const uint8_t *data,
                          size_t data_count, const uint8_t *ciphertext, size_t count, const uint8_t *tag,
                          uint8_t *plaintext);

/* PBKDF2 with HMAC-SHA256 or HMAC-SHA512: `bits` is 256 or 512. 0 when out of memory. */
int coffer_pbkdf2(int bits, const void *password, size_t password_count, const uint8_t *salt, size_t salt_count,
                  uint32_t rounds, uint8_t *output, size_t count);

#endif
