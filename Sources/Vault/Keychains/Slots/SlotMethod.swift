// SPDX-License-Identifier: Apache-2.0
//
// The seam for ways to open a coffer. A new one is a file beside this one, with a type that conforms to
// `SlotMethod`, or to `DeviceSlotMethod` when a device has the secret, and a line in `SlotMethods.all`. Its bytes
// are in Specs/keybag.md.

public import Secrets

/// What opens a slot: the byte in its record.
public struct SlotKind: RawRepresentable, Hashable, Sendable {
  /// The byte; ``SlotMethods/all`` has those that are known.
  public let rawValue: UInt8
  /// A kind with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// One way to open a coffer: what its slots may be, and what they are called.
public protocol SlotMethod: Sendable {
  /// The byte in the record. No two methods have the same.
  static var kind: SlotKind { get }
  /// One word, for programs and for lists; stable.
  static var name: String { get }
  /// Whether it works on any machine. One such slot must always be left: chips break.
  static var isPortable: Bool { get }
  /// The derivation that a record names, if a slot of this kind can have it.
  static func derivation(code: UInt8, costs: SlotCosts) -> SlotKDF?
  /// Whether a slot of this kind can have this derivation. It is asked both when a slot is made and when one is
  /// read, so that no slot is written that could not be read again.
  static func allows(_ kdf: SlotKDF) -> Bool
  /// Whether these bytes can stand beside the wrapped keys.
  static func accepts(attachment: [UInt8]) -> Bool
}

extension SlotMethod {
  /// Most methods keep nothing beside the wrapped keys.
  public static func accepts(attachment: [UInt8]) -> Bool { attachment.isEmpty }
}

/// A method whose secret is in a device, which is asked slot by slot: each has a key of its own there.
public protocol DeviceSlotMethod: SlotMethod {
  /// How the secret of a new slot is derived from what the device gives.
  static var newDerivation: SlotKDF { get }
  /// What is wrong with a PIN for a new slot; nil when it can be used.
  static func problem(withNewPIN pin: RawSpan) -> PINPolicy.Problem?
  /// Makes a key in the device that asks for `pin`, and agrees with it on the secret of a new slot.
  func newCredential(pin: SharedSecretBytes) throws(KeybagError) -> SlotCredential
  /// Lets the device give the secret of a slot.
  func credential(of slot: KeySlot, pin: SharedSecretBytes) throws(KeybagError) -> SlotCredential
  /// What keeps the device from opening a slot, as far as can be told without a PIN; nil when a PIN is worth
  /// asking for.
  func obstacle(of slot: KeySlot) -> KeybagError?
  /// Whether another slot may open although one was refused so: it is another device's, or has another PIN.
  static func concernsOneSlot(_ error: KeybagError) -> Bool
}

/// The ways to open a coffer that this program knows.
public enum SlotMethods {
  /// In the order of their bytes.
  public static let all: [any SlotMethod.Type] = [PassphraseSlot.self, RecoveryPhraseSlot.self, TPMSlot.self]

  static func method(of kind: SlotKind) -> (any SlotMethod.Type)? { all.first { $0.kind == kind } }
}

extension KeySlot {
  /// The way that this slot is opened.
  public var method: any SlotMethod.Type {
    // Neither reading nor making gives a slot of another kind.
    guard let method = SlotMethods.method(of: kind) else { preconditionFailure("a slot of no known kind") }
    return method
  }
}
