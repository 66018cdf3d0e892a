// SPDX-License-Identifier: Apache-2.0

extension PrivateKeyCustody {
  /// Whether a keychain item is custody's: it means nothing without this machine's enclave.
  public static func owns(account: String) -> Bool {
    [CustodyManifest.account, FingerKey.account, GuardRecord.account, GuardRecord.pendingAccount].contains(
      account)
      || CustodyItems.Place.allCases.contains { account.hasPrefix($0.rawValue) }
  }
}
