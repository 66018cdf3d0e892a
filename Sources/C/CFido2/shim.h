/* SPDX-License-Identifier: Apache-2.0
 *
 * libfido2: FIDO2 security keys over USB. */
#ifndef COFFER_CFIDO2_SHIM_H
#define COFFER_CFIDO2_SHIM_H

#include <fido.h>
#include <fido/es256.h>

#endif
