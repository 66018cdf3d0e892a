/* SPDX-License-Identifier: Apache-2.0 */
#include "csymmetric.h"
#include "csystem.h"

#include <CCryptoBoringSSL.h>

int coffer_pbkdf2(int bits, const void *password, size_t password_count, const uint8_t *salt, size_t salt_count,
                  uint32_t rounds, uint8_t *output, size_t count) {
  int is_done = PKCS5_PBKDF2_HMAC(password, password_count, salt, salt_count, rounds,
                                  bits == 256 ? EVP_sha256() : EVP_sha512(), count, output);
  coffer_erase_stack();
  return is_done;
}
