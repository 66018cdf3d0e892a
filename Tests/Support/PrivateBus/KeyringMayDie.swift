// SPDX-License-Identifier: Apache-2.0
//
// GNOME Keyring 42 may end itself under load. A test that fails because of it begins again, with a daemon of its own.

import Synchronization
public import Testing

/// Runs a test again when its keyring daemon's process has ended by itself, five times at most; that a test
/// failed so is a known issue, with the daemon's status and last words. What fails while the daemon runs, or
/// fails five times, is a failure.
public struct KeyringMayDie: TestTrait, SuiteTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    #if DesktopBus
      for _ in 1..<Self.tries where testCase != nil {
        let watch = KeyringWatch()
        try await KeyringWatch.$current.withValue(watch) {
          try await withKnownIssue("the keyring daemon ended by itself", isIntermittent: true) {
            try await function()
          } matching: { _ in
            watch.sawDeath()
          }
        }
        if !watch.hasSeenDeath { return }
      }
    #endif
    try await function()
  }

  private static let tries = 5
}

extension Trait where Self == KeyringMayDie {
  /// See ``KeyringMayDie``.
  public static var keyringMayDie: KeyringMayDie { KeyringMayDie() }
}

#if DesktopBus
  /// The buses whose keyrings one try of a test has started. Kept until its issues were looked at.
  final class KeyringWatch: Sendable {
    @TaskLocal static var current: KeyringWatch?

    private let buses = Mutex<[PrivateBus]>([])
    private let death = Mutex<String?>(nil)

    func add(_ bus: PrivateBus) { buses.withLock { $0.append(bus) } }

    var hasSeenDeath: Bool { death.withLock { $0 != nil } }

    /// Whether a daemon has ended by itself, now or earlier in this try.
    func sawDeath() -> Bool {
      if hasSeenDeath { return true }
      let all = buses.withLock { $0 }
      guard let found = all.lazy.compactMap({ $0.keyringDeath }).first else { return false }
      print("the keyring daemon ended by itself: \(found)")
      death.withLock { $0 = found }
      return true
    }
  }
#endif
