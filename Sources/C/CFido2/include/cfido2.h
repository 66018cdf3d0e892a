/* SPDX-License-Identifier: Apache-2.0
 *
 * libfido2: FIDO2 security keys over USB, opened when first used. */
#ifndef COFFER_CFIDO2_H
#define COFFER_CFIDO2_H

#include "coffer_loader.h"

#include <fido.h>
#include <fido/es256.h>

/* The calls that are used. */
#define COFFER_FIDO2_CALLS(CALL) \
  CALL(es256_pk_free) \
  CALL(es256_pk_from_ptr) \
  CALL(es256_pk_new) \
  CALL(fido_assert_allow_cred) \
  CALL(fido_assert_count) \
  CALL(fido_assert_flags) \
  CALL(fido_assert_free) \
  CALL(fido_assert_hmac_secret_len) \
  CALL(fido_assert_hmac_secret_ptr) \
  CALL(fido_assert_id_len) \
  CALL(fido_assert_id_ptr) \
  CALL(fido_assert_new) \
  CALL(fido_assert_set_clientdata_hash) \
  CALL(fido_assert_set_extensions) \
  CALL(fido_assert_set_hmac_salt) \
  CALL(fido_assert_set_rp) \
  CALL(fido_assert_set_uv) \
  CALL(fido_assert_verify) \
  CALL(fido_cbor_info_extensions_len) \
  CALL(fido_cbor_info_extensions_ptr) \
  CALL(fido_cbor_info_free) \
  CALL(fido_cbor_info_new) \
  CALL(fido_cred_aaguid_len) \
  CALL(fido_cred_aaguid_ptr) \
  CALL(fido_cred_exclude) \
  CALL(fido_cred_flags) \
  CALL(fido_cred_fmt) \
  CALL(fido_cred_free) \
  CALL(fido_cred_id_len) \
  CALL(fido_cred_id_ptr) \
  CALL(fido_cred_new) \
  CALL(fido_cred_pubkey_len) \
  CALL(fido_cred_pubkey_ptr) \
  CALL(fido_cred_set_clientdata_hash) \
  CALL(fido_cred_set_extensions) \
  CALL(fido_cred_set_prot) \
  CALL(fido_cred_set_rk) \
  CALL(fido_cred_set_rp) \
  CALL(fido_cred_set_type) \
  CALL(fido_cred_set_user) \
  CALL(fido_cred_set_uv) \
  CALL(fido_cred_verify) \
  CALL(fido_cred_verify_self) \
  CALL(fido_cred_x5c_ptr) \
  CALL(fido_dev_cancel) \
  CALL(fido_dev_close) \
  CALL(fido_dev_free) \
  CALL(fido_dev_get_assert) \
  CALL(fido_dev_get_cbor_info) \
  CALL(fido_dev_get_retry_count) \
  CALL(fido_dev_has_pin) \
  CALL(fido_dev_has_uv) \
  CALL(fido_dev_info_free) \
  CALL(fido_dev_info_manifest) \
  CALL(fido_dev_info_new) \
  CALL(fido_dev_info_path) \
  CALL(fido_dev_info_product_string) \
  CALL(fido_dev_info_ptr) \
  CALL(fido_dev_is_fido2) \
  CALL(fido_dev_make_cred) \
  CALL(fido_dev_new) \
  CALL(fido_dev_open) \
  CALL(fido_dev_set_timeout) \
  CALL(fido_dev_supports_cred_prot) \
  CALL(fido_init) \
  CALL(fido_set_log_handler)

COFFER_LIBRARY(coffer_fido2, COFFER_FIDO2_CALLS)

#endif
