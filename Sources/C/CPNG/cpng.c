/* SPDX-License-Identifier: Apache-2.0 */
#include "cpng.h"

#include <pthread.h>

COFFER_LIBRARY_FILES(coffer_png, COFFER_PNG_CALLS, "libpng16.so.16")
