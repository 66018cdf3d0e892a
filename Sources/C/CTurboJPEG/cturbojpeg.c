/* SPDX-License-Identifier: Apache-2.0 */
#include "cturbojpeg.h"

#include <pthread.h>

COFFER_LIBRARY_FILES(coffer_turbojpeg, COFFER_TURBOJPEG_CALLS, "libturbojpeg.so.0")
