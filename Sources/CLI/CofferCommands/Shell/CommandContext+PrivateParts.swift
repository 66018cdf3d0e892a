// SPDX-License-Identifier: Apache-2.0
//
// The right to use private parts. It is asked for after everything that can be refused without it: a command
// opens the coffer, with a session if there is one, checks, and only then calls `privateParts`.

internal import CofferKit
internal import KeyCustody

/// A coffer that was opened by its owner just now, and what opens its private parts.
struct PrivateParts {
  /// Opened by a slot, not by an agent's keys.
  let coffer: Coffer
  /// After recovery from an interrupted change.
  let custody: PrivateKeyCustody
  /// For as long as the command runs.
  let authorization: CustodyAuthorization
}

extension CommandContext {
  /// Asks for what the mode of the private keys wants, unless the options or an earlier prompt gave it.
  ///
  /// - Parameters:
  ///   - coffer: as the command opened it.
  ///   - opening: the command's options.
  ///   - purpose: what the private part is for, with the names as they may be shown: "to read a message for Ada".
  func privateParts(_ coffer: Coffer, _ opening: OpeningOptions, _ purpose: String) throws -> PrivateParts {
    var context = self
    context.purpose = purpose
    let owned = coffer.slot != nil ? coffer : try context.open(opening, needing: .slot)
    let custody = try owned.openPrivateKeys().custody
    return PrivateParts(coffer: owned, custody: custody, authorization: owned.authorization())
  }
}
