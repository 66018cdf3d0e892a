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
  private var idleLimitSeconds: Int
  private var absoluteLimitSeconds: Int
  private var passcodeEnd: UInt64 = 0
  private var idleEnd: UInt64 = 0
  private var absoluteEnd: UInt64 = 0
  /// When the session began.
  private var beginning: UInt64 = 0

  init(page: KeyPage, clock: any AgentClock, options: AgentOptions) {
    self.page = page
    self.clock = clock
    self.options = options
    (idleLimitSeconds, absoluteLimitSeconds) = (options.idleLimitSeconds, options.absoluteLimitSeconds)
  }

  var state: AgentStatus.State {
    switch page.held & AgentKeySelection.all.rawValue {
    case 3: .unlocked
    case 2: .locked
    default: .neverUnlocked
    }
  }

  /// When the next limit is reached; nil unless unlocked.
  var nextLimit: UInt64? {
    guard state == .unlocked else { return nil }
    return hasPasscode ? min(idleEnd, absoluteEnd, passcodeEnd) : min(idleEnd, absoluteEnd)
  }

  private var hasPasscode: Bool { page.held & AgentKeySelection.passcode != 0 }

  // MARK: Events

  /// Takes over the keys that the page has received. Limits that were changed for the session before are the agent's
  /// own again.
  /// - Parameter now: when their limits begin.
  func accept(binding: AgentBinding, slot: UUID, now: UInt64) {
    page.takeSpare()
    self.binding = binding
    self.slot = slot
    (idleLimitSeconds, absoluteLimitSeconds) = (options.idleLimitSeconds, options.absoluteLimitSeconds)
    beginning = now
    absoluteEnd = now + Self.nanoseconds(absoluteLimitSeconds)
    idleEnd = now + Self.nanoseconds(idleLimitSeconds)
  }

  /// Erases the passcode.
  func erasePasscode() { page.erase(AgentKeySelection.passcode) }

  /// Takes over the passcode that the page has received, while the coffer is unlocked. With 0 seconds there is none.
  func keepPasscode(now: UInt64) {
    let seconds = min(page.spareSeconds(), AgentOptions.graceLimitSeconds)
    guard seconds > 0, state == .unlocked else { return }
    page.takeSparePasscode()
    passcodeEnd = now + Self.nanoseconds(seconds)
  }

  /// Changes the idle limit until the next keys; one out of bounds is ignored.
  func setIdleLimit() {
    let seconds = page.spareSeconds()
    guard AgentOptions.limitBounds.contains(seconds) else { return }
    idleLimitSeconds = seconds
    touch()
  }

  /// Changes when the session ends at the latest, counted from its beginning; a limit out of bounds is ignored.
  func setAbsoluteLimit() {
    let seconds = page.spareSeconds()
    guard AgentOptions.limitBounds.contains(seconds) else { return }
    absoluteLimitSeconds = seconds
    absoluteEnd = beginning + Self.nanoseconds(seconds)
  }

  /// The when-unlocked key was handed out.
  func touch() { idleEnd = clock.now + Self.nanoseconds(idleLimitSeconds) }

  /// Locks if a limit has been reached. The passcode has one of its own.
  func expire() {
    if hasPasscode, clock.now >= passcodeEnd { page.erase(AgentKeySelection.passcode) }
    if let nextLimit, clock.now >= nextLimit { lock() }
  }

  /// Erases the when-unlocked key, and the passcode.
  func lock() { page.erase(1 | AgentKeySelection.passcode) }

  /// Erases keys that a hibernation image could contain, and the when-unlocked key in any case.
  func prepareForSleep() {
    lock()
    if page.memory != .secret { forget() }
  }

  /// Erases all keys.
  func forget() {
    page.erase(3 | AgentKeySelection.passcode)
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
      idleLimitSeconds: idleLimitSeconds, absoluteLimitSeconds: absoluteLimitSeconds,
      secondsUntilIdle: left(idleEnd), secondsUntilAbsolute: left(absoluteEnd), binding: binding, slot: slot)
  }

  static func nanoseconds(_ seconds: Int) -> UInt64 { UInt64(seconds) * 1_000_000_000 }
}
