// SPDX-License-Identifier: Apache-2.0
//
// Whether the coffer may stay open on the screen. With a session, as long as it lasts: keys that are pressed extend it, as
// commands would. Without one, as long as a session would last that nobody uses.

internal import Agent
internal import CSystem
internal import CofferKit

struct BrowseWatch {
  /// How often it looks while no key is pressed.
  static let intervalNanoseconds: UInt64 = 5_000_000_000

  private let context: CommandContext
  private let hasSession: Bool
  private let idleNanoseconds: UInt64
  private var lastKey = coffer_boot_time()
  private var lastLook = coffer_boot_time()

  init(_ coffer: Coffer, _ context: CommandContext) throws {
    self.context = context
    hasSession = context.sessionGoesOn(isUsed: false)
    let seconds = try coffer.settings().limits.idleSeconds ?? AgentOptions().idleLimitSeconds
    idleNanoseconds = UInt64(seconds) * 1_000_000_000
  }

  /// - Throws: `locked` when it has to be closed.
  mutating func check(afterKey: Bool) throws {
    let now = coffer_boot_time()
    guard hasSession else {
      // Before the key counts: whoever comes back later does not find it open.
      if now - lastKey > idleNanoseconds { throw Self.ended }
      if afterKey { lastKey = now }
      return
    }
    guard !afterKey || now - lastLook >= Self.intervalNanoseconds else { return }
    lastLook = now
    guard context.sessionGoesOn(isUsed: afterKey) else { throw Self.ended }
  }

  private static var ended: Failure {
    Failure(.locked, "locked", "the session has ended, and so did this", hint: "'coffer unlock' begins one")
  }
}
