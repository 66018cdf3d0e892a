/* SPDX-License-Identifier: Apache-2.0
 *
 * D-Bus through libsystemd's sd-bus, opened when first used. */
#ifndef COFFER_CSYSTEMDBUS_H
#define COFFER_CSYSTEMDBUS_H

#include "coffer_loader.h"

#include <systemd/sd-bus.h>

/* The calls that are used. */
#define COFFER_SD_BUS_CALLS(CALL) \
  CALL(sd_bus_call) \
  CALL(sd_bus_close_unref) \
  CALL(sd_bus_error_free) \
  CALL(sd_bus_get_events) \
  CALL(sd_bus_get_fd) \
  CALL(sd_bus_get_unique_name) \
  CALL(sd_bus_message_append_array) \
  CALL(sd_bus_message_append_basic) \
  CALL(sd_bus_message_close_container) \
  CALL(sd_bus_message_enter_container) \
  CALL(sd_bus_message_exit_container) \
  CALL(sd_bus_message_get_interface) \
  CALL(sd_bus_message_get_member) \
  CALL(sd_bus_message_get_path) \
  CALL(sd_bus_message_get_sender) \
  CALL(sd_bus_message_get_type) \
  CALL(sd_bus_message_new_method_call) \
  CALL(sd_bus_message_open_container) \
  CALL(sd_bus_message_peek_type) \
  CALL(sd_bus_message_read_array) \
  CALL(sd_bus_message_read_basic) \
  CALL(sd_bus_message_unref) \
  CALL(sd_bus_new) \
  CALL(sd_bus_open_system) \
  CALL(sd_bus_open_user) \
  CALL(sd_bus_process) \
  CALL(sd_bus_set_address) \
  CALL(sd_bus_set_bus_client) \
  CALL(sd_bus_start) \
  CALL(sd_bus_wait)

COFFER_LIBRARY(coffer_sd_bus, COFFER_SD_BUS_CALLS)

#endif
