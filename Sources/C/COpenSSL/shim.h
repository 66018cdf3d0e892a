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

/* A parameter builder keeps the places of names and values, so they need places that last. */
static const char *const COFFER_PARAMETER_GROUP = OSSL_PKEY_PARAM_GROUP_NAME;
static const char *const COFFER_PARAMETER_PUBLIC = OSSL_PKEY_PARAM_PUB_KEY;
static const char *const COFFER_PARAMETER_PRIVATE = OSSL_PKEY_PARAM_PRIV_KEY;
static const char *const COFFER_P256 = "P-256";

#endif
