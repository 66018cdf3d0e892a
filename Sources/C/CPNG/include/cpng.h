/* SPDX-License-Identifier: Apache-2.0
 *
 * PNG through libpng's simplified interface, opened when first used. */
#ifndef COFFER_CPNG_H
#define COFFER_CPNG_H

#include "coffer_loader.h"

#include <png.h>

/* The calls that are used. */
#define COFFER_PNG_CALLS(CALL) \
  CALL(png_image_begin_read_from_memory) \
  CALL(png_image_finish_read) \
  CALL(png_image_free) \
  CALL(png_image_write_to_memory)

COFFER_LIBRARY(coffer_png, COFFER_PNG_CALLS)

#endif
