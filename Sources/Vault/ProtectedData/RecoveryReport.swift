// SPDX-License-Identifier: Apache-2.0

/// What is wrong with protected data, and what helps.
public struct RecoveryReport: Equatable, Sendable {
  /// One thing to do. None of them happens by itself.
  public enum Step: Equatable, Sendable {
    /// Nothing is known to be wrong; only unlocking tells the rest.
    case unlock
    /// End this process and start again.
    case restart
    /// Give folder and database back to their owner alone.
    case protectFiles
    /// Delete the domain and make it again; what it held is lost.
    case resetDomain(ProtectedDomain)
    /// Delete all domains and make them again, under a new root secret and a new binding key; what they held is
    /// lost.
    case resetFramework
  }

  public var state: ProtectedState
  /// Every domain, while unlocked; empty otherwise.
  public var domains: [ProtectedDomain: DomainState]
  /// In the order in which they are to be done; empty when nothing is wrong.
  public var steps: [Step]
}
