/* SPDX-License-Identifier: Apache-2.0 */
#include "cqrencode.h"

#include <pthread.h>

COFFER_LIBRARY_FILES(coffer_qrencode, COFFER_QRENCODE_CALLS, "libqrencode.so.4")
