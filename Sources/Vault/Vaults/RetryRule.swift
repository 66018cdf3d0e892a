// SPDX-License-Identifier: Apache-2.0
//
// The table of retries: something transient once after a second, a keychain that is away with
// growing pauses, authentication and integrity never.

/// Whether an operation that failed is tried again by itself.
public enum RetryRule: Sendable, Equatable {
  case never
  case onceAfterOneSecond
  /// After 1, 2, 4 and 8 seconds.
  case exponentialBackoff

  /// The pauses before each further try, in seconds.
  public var pausesSeconds: [Int] {
    switch self {
    case .never: []
    case .onceAfterOneSecond: [1]
    case .exponentialBackoff: [1, 2, 4, 8]
    }
  }

  /// Runs `operation`, again as often as the error it throws allows.
  ///
  /// - Parameter pause: waits for a number of seconds.
  static func apply<R: ~Copyable>(
    pause: (Int) -> Void, _ operation: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var tries = 0
    while true {
      do throws(VaultError) {
        return try operation()
      } catch {
        let pauses = error.retry.pausesSeconds
        guard tries < pauses.count else { throw error }
        pause(pauses[tries])
        tries += 1
      }
    }
  }
}
