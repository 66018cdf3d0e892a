// SPDX-License-Identifier: Apache-2.0
//
// Which account it is, and where.

public import Histories

extension Synchronizer {
  /// The account's name.
  public var account: AccountID { history.account }

  /// Where the account is, and what whoever joins it must have.
  /// - Throws: `KeychainError`.
  public func address() throws -> AccountAddress {
    AccountAddress(place: try items.place(), account: account, secret: try items.secret())
  }
}
