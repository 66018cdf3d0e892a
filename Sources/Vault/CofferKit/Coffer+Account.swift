// SPDX-License-Identifier: Apache-2.0
//
// The account of several devices.

public import Syncing

extension Coffer {
  /// This coffer's account: made, joined, opened.
  public var account: AccountLink {
    let machine = machine
    return AccountLink(
      file: file, vault: vault, captures: captures, keychain: keychain,
      enclaveOfKind: { machine.enclave($0) }, clock: clock)
  }
}
