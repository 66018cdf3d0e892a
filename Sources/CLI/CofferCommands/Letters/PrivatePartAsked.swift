// SPDX-License-Identifier: Apache-2.0

internal import CofferKit
internal import Correspondence
internal import KeyCustody

/// The right to use private parts, asked for once, when it is needed.
final class PrivatePartAsked {
  private let context: CommandContext
  private let opening: OpeningOptions
  private let purpose: String
  private var parts: PrivateParts?
  /// The coffer as it was opened last: the one to write the audit log with.
  private(set) var coffer: Coffer

  /// - Parameter purpose: what the private part is for, as it may be shown.
  init(_ context: CommandContext, _ coffer: Coffer, _ opening: OpeningOptions, purpose: String) {
    self.context = context
    self.coffer = coffer
    self.opening = opening
    self.purpose = purpose
  }

  /// Asks, unless that was done.
  @discardableResult
  func ask() throws -> PrivateParts {
    if let parts { return parts }
    let asked = try context.privateParts(coffer, opening, purpose)
    parts = asked
    coffer = asked.coffer
    return asked
  }

  /// Lends private parts to the engine, each for one operation.
  var lender: PrivatePartLender {
    { [self] fingerprint, body in
      let parts = try ask()
      try parts.custody.withPrivateKey(fingerprint, parts.authorization) { bytes, _ in try body(bytes) }
    }
  }
}
