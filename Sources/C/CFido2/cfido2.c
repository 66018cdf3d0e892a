/* SPDX-License-Identifier: Apache-2.0 */
#include "cfido2.h"

#include <pthread.h>

COFFER_LIBRARY_FILES(coffer_fido2, COFFER_FIDO2_CALLS, "libfido2.so.1")
