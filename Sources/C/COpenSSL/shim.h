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
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>

static const int COFFER_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY;
static const int COFFER_KEYPAIR = EVP_PKEY_KEYPAIR;

/* A parameter builder keeps the places of names and values, so they need places that last. */
static const char *const COFFER_PARAMETER_GROUP = OSSL_PKEY_PARAM_GROUP_NAME;
static const char *const COFFER_PARAMETER_PUBLIC = OSSL_PKEY_PARAM_PUB_KEY;
static const char *const COFFER_PARAMETER_PRIVATE = OSSL_PKEY_PARAM_PRIV_KEY;
static const char *const COFFER_PARAMETER_CIPHER = OSSL_MAC_PARAM_CIPHER;
static const char *const COFFER_PARAMETER_DIGEST = OSSL_KDF_PARAM_DIGEST;
static const char *const COFFER_PARAMETER_KEY = OSSL_KDF_PARAM_KEY;
static const char *const COFFER_PARAMETER_SALT = OSSL_KDF_PARAM_SALT;
static const char *const COFFER_PARAMETER_INFO = OSSL_KDF_PARAM_INFO;
static const char *const COFFER_PARAMETER_RSA_N = OSSL_PKEY_PARAM_RSA_N;
static const char *const COFFER_PARAMETER_RSA_E = OSSL_PKEY_PARAM_RSA_E;
static const char *const COFFER_PARAMETER_RSA_D = OSSL_PKEY_PARAM_RSA_D;
static const char *const COFFER_PARAMETER_RSA_FACTOR1 = OSSL_PKEY_PARAM_RSA_FACTOR1;
static const char *const COFFER_PARAMETER_RSA_FACTOR2 = OSSL_PKEY_PARAM_RSA_FACTOR2;
static const char *const COFFER_PARAMETER_RSA_EXPONENT1 = OSSL_PKEY_PARAM_RSA_EXPONENT1;
static const char *const COFFER_PARAMETER_RSA_EXPONENT2 = OSSL_PKEY_PARAM_RSA_EXPONENT2;
static const char *const COFFER_PARAMETER_RSA_COEFFICIENT1 = OSSL_PKEY_PARAM_RSA_COEFFICIENT1;
static const char *const COFFER_PARAMETER_FFC_P = OSSL_PKEY_PARAM_FFC_P;
static const char *const COFFER_PARAMETER_FFC_Q = OSSL_PKEY_PARAM_FFC_Q;
static const char *const COFFER_PARAMETER_FFC_G = OSSL_PKEY_PARAM_FFC_G;
static const char *const COFFER_SHA256 = "SHA256";
static const char *const COFFER_SHA512 = "SHA512";
static const char *const COFFER_P256 = "P-256";

#endif
