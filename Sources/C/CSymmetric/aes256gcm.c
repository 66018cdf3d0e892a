/* SPDX-License-Identifier: Apache-2.0 */
#include "csymmetric.h"
#include "csystem.h"

#include <CCryptoBoringSSL.h>

enum { KEY_BYTES = 32, NONCE_BYTES = 12, TAG_BYTES = 16 };

/* BoringSSL uses less than half of it here. */
#define ERASED_STACK_BYTE_COUNT (4 << 10)

/* The keystream of a last block that is not full lies on the stack. */
static __attribute__((noinline, no_sanitize("address"))) void erase_stack(void) {
  unsigned char frame[ERASED_STACK_BYTE_COUNT];
  coffer_erase(frame, sizeof frame);
}

static __attribute__((noinline)) int seal(EVP_AEAD_CTX *context, const uint8_t *key, const uint8_t *nonce,
                                          const uint8_t *data, size_t data_count, const uint8_t *plaintext,
                                          size_t count, uint8_t *ciphertext, uint8_t *tag) {
  size_t tag_count;
  return EVP_AEAD_CTX_init(context, EVP_aead_aes_256_gcm(), key, KEY_BYTES, TAG_BYTES, NULL) &&
         EVP_AEAD_CTX_seal_scatter(context, ciphertext, tag, &tag_count, TAG_BYTES, nonce, NONCE_BYTES, plaintext,
                                   count, NULL, 0, data, data_count);
}

static __attribute__((noinline)) int open(EVP_AEAD_CTX *context, const uint8_t *key, const uint8_t *nonce,
                                          const uint8_t *data, size_t data_count, const uint8_t *ciphertext,
                                          size_t count, const uint8_t *tag, uint8_t *plaintext) {
  return EVP_AEAD_CTX_init(context, EVP_aead_aes_256_gcm(), key, KEY_BYTES, TAG_BYTES, NULL) &&
         EVP_AEAD_CTX_open_gather(context, plaintext, nonce, NONCE_BYTES, ciphertext, count, tag, TAG_BYTES, data,
                                  data_count);
}

size_t coffer_aes256gcm_size(void) { return sizeof(EVP_AEAD_CTX); }

int coffer_aes256gcm_seal(void *expanded, const uint8_t *key, const uint8_t *nonce, const uint8_t *data,
                          size_t data_count, const uint8_t *plaintext, size_t count, uint8_t *ciphertext,
                          uint8_t *tag) {
  int is_done = seal(expanded, key, nonce, data, data_count, plaintext, count, ciphertext, tag);
  erase_stack();
  return is_done;
}

int coffer_aes256gcm_open(void *expanded, const uint8_t *key, const uint8_t *nonce, const uint8_t *data,
                          size_t data_count, const uint8_t *ciphertext, size_t count, const uint8_t *tag,
                          uint8_t *plaintext) {
  int is_authentic = open(expanded, key, nonce, data, data_count, ciphertext, count, tag, plaintext);
  erase_stack();
  return is_authentic;
}
