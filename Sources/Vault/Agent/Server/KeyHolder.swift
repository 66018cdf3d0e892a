// SPDX-License-Identifier: Apache-2.0
//
// The agent's state: which keys it holds, of which coffer, and until when. Every erasure happens here, at the
// moment of the event.

internal import Foundation
internal import Glibc

/// The keys and their limits. Belongs to one thread.
final class KeyHolder {
  let page: KeyPage
  let clock: any AgentClock
  private(set) var binding: AgentBinding?
  private(set) var slot: UUID?
  private let options: AgentOptions
  private var idleEnd: UInt64 = 0
  private var absoluteEnd: UInt64 = 0

  init(page: KeyPage, clock: any AgentClock, options: AgentOptions) {
    self.page = page
    self.clock = clock
    self.options = options
  }

  var state: AgentStatus.State {
    switch page.held {
    case 3: .unlocked
    case 2: .locked
    default: .neverUnlocked
    }
  }

  /// When the next limit is reached; nil unless unlocked.
  var nextLimit: UInt64? { state == .unlocked ? min(idleEnd, absoluteEnd) : nil }

  // MARK: Events

  /// Takes over the keys that the page has received.
  /// - Parameter now: when their limits begin.
  func accept(binding: AgentBinding, slot: UUID, now: UInt64) {
    page.takeSpare()
    self.binding = binding
    self.slot = slot
    absoluteEnd = now + Self.nanoseconds(options.absoluteLimitSeconds)
    idleEnd = now + Self.nanoseconds(options.idleLimitSeconds)
  }

  /// The when-unlocked key was handed out.
  func touch() { idleEnd = clock.now + Self.nanoseconds(options.idleLimitSeconds) }

  /// Locks if a limit has been reached.
  func expire() {
    if let nextLimit, clock.now >= nextLimit { lock() }
  }

  /// Erases the when-unlocked key.
  func lock() { page.erase(1) }

  /// Erases keys that a hibernation image could contain, and the when-unlocked key in any case.
  func prepareForSleep() {
    lock()
    if page.memory != .secret { forget() }
  }

  /// Erases both keys.
  func forget() {
    page.erase(3)
    binding = nil
    slot = nil
  }

  // MARK: Telling

  func status(sessionWatch: AgentStatus.SessionWatch, isPressureWatched: Bool) -> AgentStatus {
    let now = clock.now
    func left(_ end: UInt64) -> Int? {
      guard state == .unlocked else { return nil }
      let nanoseconds = end > now ? end - now : 0
      return Int((nanoseconds + 999_999_999) / 1_000_000_000)
    }
    return AgentStatus(
      state: state, keyMemory: page.memory, sessionWatch: sessionWatch,
      isPressureWatched: isPressureWatched, processID: getpid(),
      idleLimitSeconds: options.idleLimitSeconds, absoluteLimitSeconds: options.absoluteLimitSeconds,
      secondsUntilIdle: left(idleEnd), secondsUntilAbsolute: left(absoluteEnd), binding: binding, slot: slot)
  }

  static func nanoseconds(_ seconds: Int) -> UInt64 { UInt64(seconds) * 1_000_000_000 }
}
