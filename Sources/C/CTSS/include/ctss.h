/* SPDX-License-Identifier: Apache-2.0
 *
 * The TPM 2.0 Enhanced System API (tss2-esys), opened when a chip is first asked, and the macros of it that Swift
 * cannot import. */
#ifndef COFFER_CTSS_H
#define COFFER_CTSS_H

#include "coffer_loader.h"

#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

/* ESYS handles */
static const ESYS_TR COFFER_ESYS_NONE = ESYS_TR_NONE;
static const ESYS_TR COFFER_ESYS_PASSWORD = ESYS_TR_PASSWORD;
static const ESYS_TR COFFER_ESYS_OWNER = ESYS_TR_RH_OWNER;
static const ESYS_TR COFFER_ESYS_NULL = ESYS_TR_RH_NULL;

/* algorithms, curves, session kinds (TPM 2.0 Part 2, sections 6.3, 6.4, 6.11) */
static const TPM2_ALG_ID COFFER_ALG_ECC = TPM2_ALG_ECC;
static const TPM2_ALG_ID COFFER_ALG_SHA256 = TPM2_ALG_SHA256;
static const TPM2_ALG_ID COFFER_ALG_AES = TPM2_ALG_AES;
static const TPM2_ALG_ID COFFER_ALG_CFB = TPM2_ALG_CFB;
static const TPM2_ALG_ID COFFER_ALG_NULL = TPM2_ALG_NULL;
static const TPM2_ALG_ID COFFER_ALG_ECDSA = TPM2_ALG_ECDSA;
static const TPM2_ALG_ID COFFER_ALG_ECDH = TPM2_ALG_ECDH;
static const TPM2_ECC_CURVE COFFER_CURVE_P256 = TPM2_ECC_NIST_P256;
static const TPM2_SE COFFER_SESSION_HMAC = TPM2_SE_HMAC;
static const TPM2_SE COFFER_SESSION_POLICY = TPM2_SE_POLICY;
static const TPM2_ST COFFER_TAG_HASHCHECK = TPM2_ST_HASHCHECK;
static const TPMI_RH_HIERARCHY COFFER_HIERARCHY_NULL = TPM2_RH_NULL;

/* attributes (sections 8.3 and 8.4) */
static const TPMA_OBJECT COFFER_OBJECT_FIXEDTPM = TPMA_OBJECT_FIXEDTPM;
static const TPMA_OBJECT COFFER_OBJECT_FIXEDPARENT = TPMA_OBJECT_FIXEDPARENT;
static const TPMA_OBJECT COFFER_OBJECT_SENSITIVEDATAORIGIN = TPMA_OBJECT_SENSITIVEDATAORIGIN;
static const TPMA_OBJECT COFFER_OBJECT_USERWITHAUTH = TPMA_OBJECT_USERWITHAUTH;
static const TPMA_OBJECT COFFER_OBJECT_NODA = TPMA_OBJECT_NODA;
static const TPMA_OBJECT COFFER_OBJECT_RESTRICTED = TPMA_OBJECT_RESTRICTED;
static const TPMA_OBJECT COFFER_OBJECT_DECRYPT = TPMA_OBJECT_DECRYPT;
static const TPMA_OBJECT COFFER_OBJECT_SIGN = TPMA_OBJECT_SIGN_ENCRYPT;
static const TPMA_SESSION COFFER_SESSION_CONTINUE = TPMA_SESSION_CONTINUESESSION;
static const TPMA_SESSION COFFER_SESSION_DECRYPT = TPMA_SESSION_DECRYPT;
static const TPMA_SESSION COFFER_SESSION_ENCRYPT = TPMA_SESSION_ENCRYPT;

/* indexes in non-volatile memory (sections 6.8 and 13.4) */
static const TPMA_NV COFFER_NV_AUTHREAD = TPMA_NV_AUTHREAD;
static const TPMA_NV COFFER_NV_AUTHWRITE = TPMA_NV_AUTHWRITE;
static const TPMA_NV COFFER_NV_NODA = TPMA_NV_NO_DA;
static const TPMA_NV COFFER_NV_WRITTEN = TPMA_NV_WRITTEN;
static const TPMA_NV COFFER_NV_COUNTER = TPM2_NT_COUNTER << TPMA_NV_TPM2_NT_SHIFT;

/* properties (section 6.13) */
static const TPM2_CAP COFFER_CAP_HANDLES = TPM2_CAP_HANDLES;
static const TPM2_CAP COFFER_CAP_PROPERTIES = TPM2_CAP_TPM_PROPERTIES;
static const UINT32 COFFER_MAX_HANDLES = TPM2_MAX_CAP_HANDLES;
static const UINT32 COFFER_PT_PERMANENT = TPM2_PT_PERMANENT;
static const UINT32 COFFER_PT_LOCKOUT_COUNTER = TPM2_PT_LOCKOUT_COUNTER;
static const UINT32 COFFER_PT_MAX_AUTH_FAIL = TPM2_PT_MAX_AUTH_FAIL;
static const UINT32 COFFER_PT_LOCKOUT_INTERVAL = TPM2_PT_LOCKOUT_INTERVAL;
static const UINT32 COFFER_PERMANENT_INLOCKOUT = TPMA_PERMANENT_INLOCKOUT;

/* the calls that are used */
#define COFFER_TSS_CALLS(CALL) \
  CALL(Esys_Create) \
  CALL(Esys_CreatePrimary) \
  CALL(Esys_ECDH_ZGen) \
  CALL(Esys_Finalize) \
  CALL(Esys_FlushContext) \
  CALL(Esys_Free) \
  CALL(Esys_GetCapability) \
  CALL(Esys_Initialize) \
  CALL(Esys_Load) \
  CALL(Esys_LoadExternal) \
  CALL(Esys_NV_DefineSpace) \
  CALL(Esys_NV_Increment) \
  CALL(Esys_NV_Read) \
  CALL(Esys_NV_UndefineSpace) \
  CALL(Esys_PCR_Event) \
  CALL(Esys_PolicyAuthValue) \
  CALL(Esys_PolicyOR) \
  CALL(Esys_PolicySigned) \
  CALL(Esys_ReadPublic) \
  CALL(Esys_Sign) \
  CALL(Esys_StartAuthSession) \
  CALL(Esys_TRSess_GetNonceTPM) \
  CALL(Esys_TRSess_SetAttributes) \
  CALL(Esys_TR_Close) \
  CALL(Esys_TR_FromTPMPublic) \
  CALL(Esys_TR_Serialize) \
  CALL(Esys_TR_SetAuth) \
  CALL(Tss2_MU_TPM2B_PRIVATE_Marshal) \
  CALL(Tss2_MU_TPM2B_PRIVATE_Unmarshal) \
  CALL(Tss2_MU_TPM2B_PUBLIC_Marshal) \
  CALL(Tss2_MU_TPM2B_PUBLIC_Unmarshal) \
  CALL(Tss2_MU_TPMS_NV_PUBLIC_Marshal) \
  CALL(Tss2_MU_TPMT_PUBLIC_Marshal) \
  CALL(Tss2_TctiLdr_Finalize) \
  CALL(Tss2_TctiLdr_Initialize)

COFFER_LIBRARY(coffer_tss, COFFER_TSS_CALLS)

#endif
