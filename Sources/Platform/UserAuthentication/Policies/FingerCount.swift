// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Counts the fingers in a row that were not recognised (AM-02).
///
/// A try is counted before it is made: a program that is ended in the middle leaves it counted.
public protocol FingerCount: Sendable {
  /// Counts one more, unless there are `limit` already.
  /// - Returns: whether it was counted; if not, no finger may be compared.
  /// - Throws: `AuthenticationError.countUnavailable`; then no finger may be compared either.
  func takeTry(limit: Int) throws(AuthenticationError) -> Bool
  /// Takes the last one back: nothing was compared.
  func giveBack()
  /// A finger or a passcode was right.
  func reset()
}

/// A count in this process alone.
public final class ProcessFingerCount: FingerCount {
  private let count = Mutex(0)

  /// A count of none.
  public init() {}

  /// Counts one more, unless there are `limit` already.
  public func takeTry(limit: Int) -> Bool {
    count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
  }

  /// Takes the last one back.
  public func giveBack() { count.withLock { $0 = max($0 - 1, 0) } }

  /// Begins at none.
  public func reset() { count.withLock { $0 = 0 } }
}
