/* SPDX-License-Identifier: Apache-2.0 */
#include "csystemdbus.h"

#include <pthread.h>

COFFER_LIBRARY_FILES(coffer_sd_bus, COFFER_SD_BUS_CALLS, "libsystemd.so.0")
