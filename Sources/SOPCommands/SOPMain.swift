// SPDX-License-Identifier: Apache-2.0
//
// The Stateless OpenPGP command.

internal import OpenPGP
