/* SPDX-License-Identifier: Apache-2.0
 *
 * JPEG through libjpeg-turbo's TurboJPEG interface, opened when first used. */
#ifndef COFFER_CTURBOJPEG_H
#define COFFER_CTURBOJPEG_H

#include "coffer_loader.h"

#include <turbojpeg.h>

/* The calls that are used. */
#define COFFER_TURBOJPEG_CALLS(CALL) \
  CALL(tjBufSize) \
  CALL(tjCompress2) \
  CALL(tjDecompress2) \
  CALL(tjDecompressHeader3) \
  CALL(tjDestroy) \
  CALL(tjGetErrorCode) \
  CALL(tjGetErrorStr2) \
  CALL(tjInitCompress) \
  CALL(tjInitDecompress)

COFFER_LIBRARY(coffer_turbojpeg, COFFER_TURBOJPEG_CALLS)

#endif
