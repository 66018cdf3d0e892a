/* SPDX-License-Identifier: Apache-2.0
 *
 * libturbojpeg called directly: makes the photo that captures are measured with. */
#ifndef COFFER_BENCH_LIBTURBOJPEG_H
#define COFFER_BENCH_LIBTURBOJPEG_H

#include <turbojpeg.h>

#endif
