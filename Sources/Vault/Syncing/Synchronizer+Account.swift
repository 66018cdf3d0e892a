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

  /// The account is at another place from now on. Whoever opens that next goes on there.
  /// - Throws: `KeychainError`.
  public func move(to place: RemotePlace) throws { try items.save(place) }

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
