/* SPDX-License-Identifier: Apache-2.0
 *
 * libqrencode: texts to QR codes. */
#ifndef COFFER_CQRENCODE_SHIM_H
#define COFFER_CQRENCODE_SHIM_H

#include <qrencode.h>

#endif
