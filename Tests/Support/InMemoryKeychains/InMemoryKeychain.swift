// SPDX-License-Identifier: Apache-2.0

/// The keychain of tests is the product's.
@_exported public import Keychains
