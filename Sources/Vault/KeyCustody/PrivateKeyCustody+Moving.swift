// SPDX-License-Identifier: Apache-2.0
//
// What is known of custody without a key: the names of its items.

public import Keychains

extension PrivateKeyCustody {
  /// Whether a keychain item is custody's: it means nothing without this machine's enclave.
  public static func owns(account: String) -> Bool {
    [CustodyManifest.account, FingerKey.account, GuardRecord.account, GuardRecord.pendingAccount].contains(
      account)
      || CustodyItems.Place.allCases.contains { account.hasPrefix($0.rawValue) }
  }

  /// How many private keys a keychain has, not verified.
  public static func storedCount(in keychain: any Keychain) throws(KeychainError) -> Int {
    try keychain.items().count { $0.account.hasPrefix(CustodyItems.Place.permanent.rawValue) }
  }
}
