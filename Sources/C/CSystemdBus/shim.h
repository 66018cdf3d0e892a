/* SPDX-License-Identifier: Apache-2.0
 *
 * D-Bus through libsystemd's sd-bus. */
#ifndef COFFER_CSYSTEMDBUS_SHIM_H
#define COFFER_CSYSTEMDBUS_SHIM_H

#include <systemd/sd-bus.h>

#endif
