// SPDX-License-Identifier: Apache-2.0
//
// Which account it is, where it is, and the secret on its card, which another device may have changed.

public import Histories
public import Remotes
internal import Secrets

extension Synchronizer {
  /// The account's name.
  public var account: AccountID { history.account }

  /// Where the account is, and what whoever joins it must have.
  /// - Throws: `KeychainError`; `EnclaveError` when a new card's secret cannot be opened.
  public func address() throws -> AccountAddress {
    AccountAddress(place: try items.place(), account: account, secret: try secret())
  }

  /// The account is at another place from now on. A run of purpose `verify` there puts back what that lacks and this
  /// device has; until then, or if the process ends between both, this device only knows less of the former place.
  /// - Throws: `KeychainError`, `StorageError`.
  public func move(to place: RemotePlace) throws {
    try alone {
      history.moveToAnotherRemote()
      try save([])
      try items.save(place)
    }
  }

  /// The secret of the card in force. One that another device has made is in this device's last envelope.
  private func secret() throws -> SharedSecretBytes {
    let known = try items.secret()
    guard let last = history.lastEnvelope, last != known.from else { return known.secret }
    let told = history.urlSecret(from: last, on: machine)
    try machine.checkStep()
    let secret = told ?? known.secret
    try items.saveSecret(secret, from: last)
    return secret
  }
}
