/* SPDX-License-Identifier: Apache-2.0
 *
 * libqrencode: texts to QR codes, opened when first used. */
#ifndef COFFER_CQRENCODE_H
#define COFFER_CQRENCODE_H

#include "coffer_loader.h"

#include <qrencode.h>

/* The calls that are used. */
#define COFFER_QRENCODE_CALLS(CALL) \
  CALL(QRcode_encodeData) \
  CALL(QRcode_free)

COFFER_LIBRARY(coffer_qrencode, COFFER_QRENCODE_CALLS)

#endif
