// SPDX-License-Identifier: Apache-2.0

extension PrivateKeyCustody {
  /// Whether a keychain item is custody's: it means nothing without this machine's enclave.
  public static func owns(account: String) -> Bool {
    account == CustodyManifest.account || account == FingerKey.account
      || CustodyItems.Place.allCases.contains { account.hasPrefix($0.rawValue) }
  }
}
