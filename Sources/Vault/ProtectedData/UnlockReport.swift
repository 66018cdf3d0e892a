// SPDX-License-Identifier: Apache-2.0

/// What unlocking did.
public struct UnlockReport: Equatable, Sendable {
  public enum Outcome: Equatable, Sendable {
    /// The root secret was fetched once, and every domain that can be opened is.
    case opened
    /// It was open before; nothing was fetched.
    case alreadyOpen
    /// No authentication that counts was offered; nothing was fetched (PD-09).
    case notAuthorised
    /// No domain can be opened; nothing was fetched (PD-09).
    case nothingToOpen
  }

  public var outcome: Outcome
  /// Every domain; without leave, none.
  public var domains: [ProtectedDomain: DomainState]
}
