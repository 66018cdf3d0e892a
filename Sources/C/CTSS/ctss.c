/* SPDX-License-Identifier: Apache-2.0 */
#include "ctss.h"

#include <pthread.h>

COFFER_LIBRARY_FILES(coffer_tss, COFFER_TSS_CALLS, "libtss2-esys.so.0", "libtss2-mu.so.0", "libtss2-tctildr.so.0")
