// SPDX-License-Identifier: Apache-2.0
//
// How a slot's secret is derived, and the five fields of a record for it (Specs/keybag.md, "Slot").

public import Primitives

/// The three costs of a record.
public struct SlotCosts: Equatable, Sendable {
  /// Iterations of PBKDF2, or Argon2id's memory in KiB.
  public let first: Int
  /// Argon2id's passes; 0 for others.
  public let second: Int
  /// Argon2id's lanes; 0 for others.
  public let third: Int

  /// Three costs; 0 where a derivation has none.
  public init(_ first: Int = 0, _ second: Int = 0, _ third: Int = 0) {
    self.first = first
    self.second = second
    self.third = third
  }

  /// The costs of a derivation without any: three zeros.
  public static let none = SlotCosts()
}

/// How a slot's secret is derived.
public enum SlotKDF: Equatable, Sendable {
  /// `kdf = 1`: PBKDF2-HMAC-SHA256.
  case pbkdf2(iterations: Int)
  /// `kdf = 2`: Argon2id.
  case argon2id(Argon2idParameters)
  /// HKDF alone, for an input that needs no stretching; each method has its own.
  case expansion(Expansion)

  /// HKDF under a label.
  public struct Expansion: Equatable, Sendable {
    let code: UInt8
    /// One word, for programs; stable.
    public let name: String
    let info: StaticString

    init(code: UInt8, name: String, info: StaticString) {
      self.code = code
      self.name = name
      self.info = info
    }

    /// By the code: no two expansions have the same.
    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }
  }

  /// The byte in the record.
  var code: UInt8 {
    switch self {
    case .pbkdf2: 1
    case .argon2id: 2
    case .expansion(let expansion): expansion.code
    }
  }

  /// The costs in the record.
  var costs: SlotCosts {
    switch self {
    case .pbkdf2(let iterations): SlotCosts(iterations)
    case .argon2id(let costs): SlotCosts(costs.memoryKiB, costs.passes, costs.lanes)
    case .expansion: .none
    }
  }
}
