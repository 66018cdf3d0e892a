// SPDX-License-Identifier: Apache-2.0

/// How a domain stands after unlocking.
public enum DomainState: Equatable, Sendable {
  case open
  /// It was being made or removed, and another process keeps us from settling that.
  case pendingMutation
  case recovery(DomainFault)
}
