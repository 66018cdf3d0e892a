/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of libfido2 that give a security key another transport. Tests put a key in software there; the commands must
 * not have them. */
#ifndef COFFER_CFIDOHOOKS_H
#define COFFER_CFIDOHOOKS_H

#include "coffer_loader.h"

#include <fido.h>

#define COFFER_FIDO_HOOKS(CALL) \
  CALL(fido_dev_io_handle) \
  CALL(fido_dev_set_io_functions) \
  CALL(fido_dev_set_transport_functions)

COFFER_LIBRARY(coffer_fido_hooks, COFFER_FIDO_HOOKS)

#endif
