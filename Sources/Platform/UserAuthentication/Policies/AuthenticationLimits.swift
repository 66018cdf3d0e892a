// SPDX-License-Identifier: Apache-2.0

/// How often and how long.
public struct AuthenticationLimits: Sendable {
  /// Fingers that may be wrong in one evaluation. Three, as phones have it.
  public var fingerTryLimit = 3
  /// Passcodes that may be wrong in one evaluation.
  public var passcodeTryLimit = 3
  /// Wrong fingers in a row, over all evaluations, after which no finger is accepted any more until the
  /// passcode was right (AM-02).
  public var fingerFailureLimit = 5
  /// How long one finger is waited for: long enough to find the reader, short enough not to keep it from
  /// the screen's lock.
  public var fingerWait: Duration = .seconds(30)
  /// How long a context counts, at most ``longestContextLifetime``.
  public var contextLifetime: Duration = .seconds(30)

  public init() {}

  /// The idle limit after which keys leave the memory anyway.
  public static let longestContextLifetime: Duration = .seconds(300)
}
