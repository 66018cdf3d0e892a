/* SPDX-License-Identifier: Apache-2.0
 *
 * PNG through libpng's simplified interface. */
#ifndef COFFER_CPNG_SHIM_H
#define COFFER_CPNG_SHIM_H

#include <png.h>

#endif
