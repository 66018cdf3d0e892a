/* SPDX-License-Identifier: Apache-2.0 */
#include "cfidohooks.h"

#include <pthread.h>

COFFER_LIBRARY_FILES(coffer_fido_hooks, COFFER_FIDO_HOOKS, "libfido2.so.1")
