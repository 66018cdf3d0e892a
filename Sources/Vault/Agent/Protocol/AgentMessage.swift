// SPDX-License-Identifier: Apache-2.0
//
// The bytes of requests and answers, as Specs/agent.md has them. Only public fields are handled here; the
// keys that follow go directly between the socket and their page or `SecretBytes`.

internal import Foundation

/// The 56 bytes that every message begins with.
struct AgentHeader: Equatable {
  static let byteCount = 56
  /// Two class keys.
  static let keysByteCount = 64
  static let keyByteCount = 32
  /// Of a number of seconds, before a passcode or alone.
  static let secondsByteCount = 4
  static let magic: [UInt8] = Array("COFA".utf8)
  static let version: UInt8 = 1

  var kind: UInt8
  /// Keys by bits: 1 when unlocked, 2 after first unlock, 4 the passcode of private keys. In a request 8 is beside 1 and 2: the idle time goes on.
  var keys: UInt8 = 0
  var binding: AgentBinding?
  var slot: UUID?

  var bytes: [UInt8] {
    var bytes = Self.magic
    bytes += [Self.version, kind, keys, 0]
    bytes += binding?.bytes ?? [UInt8](repeating: 0, count: AgentBinding.byteCount)
    let slot = (self.slot ?? Self.noSlot).uuid
    unsafe withUnsafeBytes(of: slot) { unsafe bytes.append(contentsOf: $0) }
    return bytes
  }

  init(kind: UInt8, keys: UInt8 = 0, binding: AgentBinding? = nil, slot: UUID? = nil) {
    self.kind = kind
    self.keys = keys
    self.binding = binding
    self.slot = slot
  }

  /// Nil for another magic, version, or a filled reserved byte. Zeros are read as no binding and no slot.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic), bytes[4] == Self.version,
      bytes[7] == 0
    else { return nil }
    kind = bytes[5]
    keys = bytes[6]
    binding = bytes[8..<40].allSatisfy { $0 == 0 } ? nil : AgentBinding(bytes[8..<40])
    var slot = Self.noSlot.uuid
    unsafe withUnsafeMutableBytes(of: &slot) { unsafe $0.copyBytes(from: bytes[40..<56]) }
    self.slot = UUID(uuid: slot) == Self.noSlot ? nil : UUID(uuid: slot)
  }

  private static let noSlot = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

/// A client's request.
enum AgentRequest: Equatable {
  case status
  case give(binding: AgentBinding, slot: UUID)
  case get(AgentKeySelection, binding: AgentBinding)
  case lock
  case logout
  /// Seconds and the passcode of private keys follow.
  case keep(binding: AgentBinding)
  case getPasscode(binding: AgentBinding)
  /// Seconds follow.
  case idleLimit
  /// Seconds follow.
  case absoluteLimit

  var header: AgentHeader {
    switch self {
    case .status: AgentHeader(kind: 1)
    case .give(let binding, let slot): AgentHeader(kind: 2, keys: 3, binding: binding, slot: slot)
    case .get(let selection, let binding): AgentHeader(kind: 3, keys: selection.rawValue, binding: binding)
    case .lock: AgentHeader(kind: 4)
    case .logout: AgentHeader(kind: 5)
    case .keep(let binding): AgentHeader(kind: 6, keys: AgentKeySelection.passcode, binding: binding)
    case .getPasscode(let binding):
      AgentHeader(kind: 3, keys: AgentKeySelection.passcode, binding: binding)
    case .idleLimit: AgentHeader(kind: 7)
    case .absoluteLimit: AgentHeader(kind: 8)
    }
  }

  /// Nil for anything that the protocol does not allow.
  /// - Parameter byteCount: of the whole message, with the keys.
  init?(_ header: AgentHeader, byteCount: Int) {
    let bodyByteCount =
      switch header.kind {
      case 2: AgentHeader.keysByteCount
      case 6: AgentHeader.secondsByteCount + AgentHeader.keyByteCount
      case 7, 8: AgentHeader.secondsByteCount
      default: 0
      }
    guard byteCount == AgentHeader.byteCount + bodyByteCount else { return nil }
    switch (header.kind, header.keys, header.binding, header.slot) {
    case (1, 0, nil, nil): self = .status
    case (2, 3, let binding?, let slot?): self = .give(binding: binding, slot: slot)
    case (3, AgentKeySelection.passcode, let binding?, nil): self = .getPasscode(binding: binding)
    case (3, let keys, let binding?, nil):
      guard let selection = AgentKeySelection(rawValue: keys) else { return nil }
      self = .get(selection, binding: binding)
    case (4, 0, nil, nil): self = .lock
    case (5, 0, nil, nil): self = .logout
    case (6, AgentKeySelection.passcode, let binding?, nil): self = .keep(binding: binding)
    case (7, 0, nil, nil): self = .idleLimit
    case (8, 0, nil, nil): self = .absoluteLimit
    default: return nil
    }
  }
}

/// The agent's answer.
enum AgentAnswer: UInt8 {
  case status = 1
  case done = 2
  case keys = 3
  case notAvailable = 4
  case otherCoffer = 5
}

extension AgentStatus {
  static let bodyByteCount = 32

  /// The body of the answer; binding and slot are in the header.
  var body: [UInt8] {
    var bytes = [
      state.rawValue, keyMemory.rawValue, sessionWatch.rawValue, isPressureWatched ? 1 : 2,
    ]
    let numbers = [
      Int(processID), idleLimitSeconds, absoluteLimitSeconds, secondsUntilIdle ?? 0,
      secondsUntilAbsolute ?? 0, 0, 0,
    ]
    for number in numbers {
      let word = UInt32(clamping: number)
      for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    return bytes
  }

  /// Nil for a body that the protocol does not allow.
  init?(_ header: AgentHeader, body: RawSpan) {
    guard body.byteCount == Self.bodyByteCount else { return nil }
    func byte(_ offset: Int) -> UInt8 { unsafe body.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    func number(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(byte(offset + $1)) } }
    guard let state = State(rawValue: byte(0)), let keyMemory = KeyMemory(rawValue: byte(1)),
      let sessionWatch = SessionWatch(rawValue: byte(2)), byte(3) == 1 || byte(3) == 2,
      number(24) == 0, number(28) == 0
    else { return nil }
    let isUnlocked = state == .unlocked
    self.init(
      state: state, keyMemory: keyMemory, sessionWatch: sessionWatch, isPressureWatched: byte(3) == 1,
      processID: Int32(clamping: number(4)), idleLimitSeconds: number(8), absoluteLimitSeconds: number(12),
      secondsUntilIdle: isUnlocked ? number(16) : nil,
      secondsUntilAbsolute: isUnlocked ? number(20) : nil, binding: header.binding, slot: header.slot)
  }
}
