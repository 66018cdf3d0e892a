/* SPDX-License-Identifier: Apache-2.0
 *
 * libcrypto called directly: the peer of our own calls. */
#ifndef COFFER_BENCH_LIBCRYPTO_H
#define COFFER_BENCH_LIBCRYPTO_H

#include <openssl/evp.h>

#endif
