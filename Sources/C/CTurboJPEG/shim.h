/* SPDX-License-Identifier: Apache-2.0
 *
 * JPEG through libjpeg-turbo's TurboJPEG interface. */
#ifndef COFFER_CTURBOJPEG_SHIM_H
#define COFFER_CTURBOJPEG_SHIM_H

#include <turbojpeg.h>

#endif
