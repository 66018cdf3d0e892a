/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenSSL libcrypto 3, and the macros of it that Swift cannot import. */
#ifndef COFFER_COPENSSL_SHIM_H
#define COFFER_COPENSSL_SHIM_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#endif
