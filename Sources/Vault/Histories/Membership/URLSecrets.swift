// SPDX-License-Identifier: Apache-2.0
//
// The secret of the account's URL, which is on the card: every envelope has the one that its author knew. So a device or a
// slot knows it from the last operation that has an envelope for it, and whoever is not a member any more does not learn
// the next one.

internal import Primitives
public import Secrets

extension History {
  /// The last operation that counts and has an envelope for this device; nil without one, as on an account's first device.
  public var lastEnvelope: ControlID? { lastEnvelope(for: entry.agreementKey)?.id }

  /// The secret of the URL that an operation's envelope for this device has.
  /// - Parameter operation: of ``lastEnvelope``.
  public func urlSecret(from operation: ControlID, on machine: some Machine) -> SharedSecretBytes? {
    guard let entry = log.entries[operation] else { return nil }
    return ownEnvelopes(of: entry.object, epoch: entry.epoch, on: machine).lazy.compactMap(\.urlSecret).first
  }

  /// The secret of the URL that a slot in force was told last.
  func urlSecret(of slot: OpenedSlot, on machine: some Machine) -> SharedSecretBytes? {
    guard let entry = lastEnvelope(for: slot.agreement.publicKey) else { return nil }
    return openedEnvelopes(of: entry.object, epoch: entry.epoch, for: slot, on: machine)
      .lazy.compactMap(\.urlSecret).first
  }

  /// A secret changes with the owner key, and every operation under the next key comes after that change: so the highest
  /// operation that counts has the last one.
  private func lastEnvelope(for publicKey: [UInt8]) -> LogEntry? {
    membership.counting.compactMap { log.entries[$0] }.filter { $0.isSealed(to: publicKey) }
      .max { ($0.operation.number, $0.id) < ($1.operation.number, $1.id) }
  }
}
