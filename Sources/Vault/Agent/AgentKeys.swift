// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Keychains
internal import Primitives

/// Identifies the coffer of a pair of class keys: 32 public bytes, which differ after a coffer was erased and
/// made again, so that its former keys are never given out for the new one.
public struct AgentBinding: Equatable, Sendable {
  /// Bytes in a binding.
  public static let byteCount = 32

  let bytes: [UInt8]

  /// The binding to something public that names one coffer, such as its home and its keybag's record.
  ///
  /// SHA-256 of "coffer agent v1 binding" ‖ 0 ‖ `identity`.
  public init(to identity: RawSpan) {
    var hash = SHA256()
    unsafe hash.update("coffer agent v1 binding\0".utf8Span.span.bytes)
    hash.update(identity)
    var digest = [UInt8](repeating: 0, count: Self.byteCount)
    var span = digest.mutableSpan
    var raw = unsafe span.mutableBytes
    hash.finish(into: &raw)
    self.bytes = digest
  }

  /// The bytes of a message.
  init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }
}

/// Which class keys to ask for.
public enum AgentKeySelection: UInt8, Sendable, CaseIterable {
  /// The after-first-unlock key alone: it is available while the coffer is locked, and asking for it does not
  /// restart the idle time.
  case afterFirstUnlock = 2
  /// Both, or the one that is left. If the when-unlocked key is among them, the idle time restarts.
  case all = 3
  /// As ``all``, but the idle time goes on: for a look at what is there.
  case allForLook = 11

  /// The bit of the passcode of private keys, which is asked for alone.
  static let passcode: UInt8 = 4
}

/// The keys that the agent gave.
public struct AgentKeys: Sendable {
  /// The class keys; the when-unlocked key is missing while the coffer is locked, and the owner key always.
  public let keys: ClassKeys
  /// The slot that was opened when they were given.
  public let slot: UUID
}
