/* SPDX-License-Identifier: Apache-2.0
 *
 * The TPM 2.0 Enhanced System API (tss2-esys), and the macros of it that Swift cannot import. */
#ifndef COFFER_CTSS_SHIM_H
#define COFFER_CTSS_SHIM_H

#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

#endif
