// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Falls once, when a relock was not complete, and stays down until the process ends (PD-23). Nothing of it is
/// stored.
public final class RestartLatch: Sendable {
  /// The one of this process. Tests make their own.
  public static let process = RestartLatch()

  private let fallen = Atomic(false)

  public init() {}

  /// Whether it has fallen.
  public var isDown: Bool { fallen.load(ordering: .sequentiallyConsistent) }

  func fall() { fallen.store(true, ordering: .sequentiallyConsistent) }
}
