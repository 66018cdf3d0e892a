/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenSSL libcrypto 3, and the macros of it that Swift cannot import. */
#ifndef COFFER_COPENSSL_SHIM_H
#define COFFER_COPENSSL_SHIM_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/sha.h>

static const int COFFER_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY;
static const int COFFER_KEYPAIR = EVP_PKEY_KEYPAIR;

#endif
