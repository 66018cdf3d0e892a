// SPDX-License-Identifier: Apache-2.0
//
// The interface for ways to open a coffer. To add one, write a file beside this one with a type that conforms
// to `SlotMethod`, or to `DeviceSlotMethod` if a device is asked slot by slot, add it to `SlotMethods.all`, and
// describe its bytes in Specs/keybag.md.

public import Secrets

/// The kind of secret that opens a slot: the byte in its record.
public struct SlotKind: RawRepresentable, Hashable, Sendable {
  /// The byte; ``SlotMethods/all`` has those that are known.
  public let rawValue: UInt8
  /// A kind with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// One way to open a coffer: its name and the rules for its slots.
public protocol SlotMethod: Sendable {
  /// The byte in the record. No two methods have the same.
  static var kind: SlotKind { get }
  /// One word, for programs and for lists; stable.
  static var name: String { get }
  /// Whether it works on any machine, so that a backup carries it.
  static var isPortable: Bool { get }
  /// Whether it may be the only slot. A device may not: chips break, and security keys are lost.
  static var isEnough: Bool { get }
  /// The derivation that a record names, if a slot of this kind can have it.
  static func derivation(code: UInt8, costs: SlotCosts) -> SlotKDF?
  /// Whether a slot of this kind can have this derivation. Called both when a slot is made and when one is
  /// read, so that every slot that is written can be read again.
  static func allows(_ kdf: SlotKDF) -> Bool
  /// Whether a slot of this kind can have this attachment, whose label is one.
  static func accepts(_ attachment: SlotAttachment) -> Bool
}

extension SlotMethod {
  /// Most methods have nothing after the label.
  public static func accepts(_ attachment: SlotAttachment) -> Bool { attachment.details.isEmpty }
}

/// A method whose secret is in a device. The device is asked slot by slot: it has a separate key for each.
public protocol DeviceSlotMethod: SlotMethod {
  /// How the secret of a new slot is derived from the device's output.
  static var newDerivation: SlotKDF { get }
  /// The rule that a PIN for a new slot violates; nil when it can be used.
  static func problem(withNewPIN pin: RawSpan) -> PINPolicy.Problem?
  /// Makes a key in the device that asks for `pin`, and agrees with it on the secret of a new slot.
  func newCredential(pin: SharedSecretBytes) throws(KeybagError) -> SlotCredential
  /// Asks the device for the secret of a slot.
  func credential(of slot: KeySlot, pin: SharedSecretBytes) throws(KeybagError) -> SlotCredential
  /// Why the device cannot open a slot, as far as can be told without a PIN; nil when a PIN is worth asking
  /// for.
  func obstacle(of slot: KeySlot) -> KeybagError?
  /// Whether another slot may open after this error: the refused slot belongs to another device, or has
  /// another PIN.
  static func concernsOneSlot(_ error: KeybagError) -> Bool
}

/// The ways to open a coffer that this program knows.
public enum SlotMethods {
  /// In the order of their bytes.
  public static let all: [any SlotMethod.Type] = [
    PassphraseSlot.self, RecoveryPhraseSlot.self, TPMSlot.self, SecurityKeySlot.self,
  ]

  static func method(of kind: SlotKind) -> (any SlotMethod.Type)? { all.first { $0.kind == kind } }
}

extension KeySlot {
  /// The way that this slot is opened.
  public var method: any SlotMethod.Type {
    // Slots of other kinds can neither be read nor made.
    guard let method = SlotMethods.method(of: kind) else { preconditionFailure("a slot of no known kind") }
    return method
  }
}
