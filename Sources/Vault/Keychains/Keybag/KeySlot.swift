// SPDX-License-Identifier: Apache-2.0
//
// One way to open the coffer, as it stands in the keybag (Specs/keybag.md, «Slot»).

public import Foundation
public import Primitives

/// What opens a slot.
public enum SlotKind: UInt8, Sendable, CaseIterable {
  case passphrase = 1
  case recoveryPhrase = 2
  /// A key in a chip of this machine, and its PIN.
  case enclave = 3

  /// Whether a person can open it on any machine. One such slot must always be left: chips break.
  public var isPortable: Bool { self != .enclave }
}

/// How a slot's secret is derived.
public enum SlotKDF: Equatable, Sendable {
  /// `kdf = 1`: PBKDF2-HMAC-SHA256.
  case pbkdf2(iterations: Int)
  /// `kdf = 2`: Argon2id.
  case argon2id(Argon2idParameters)
  /// `kdf = 3`: the seed of a recovery phrase (BIP-39), which needs no stretching of ours: it holds 128
  /// random bits.
  case seed
  /// `kdf = 4`: key agreement with the chip. The PIN guards the chip's key and is not stretched: the chip
  /// counts wrong tries.
  case agreement

  /// The default of new passphrase slots.
  public static let recommended = SlotKDF.argon2id(.recommended)
  /// PBKDF2 with 600,000 iterations.
  public static let pbkdf2 = SlotKDF.pbkdf2(iterations: PBKDF2.passphraseIterations)
}

/// A slot: public facts, and the keys of the keybag wrapped under its secret.
public struct KeySlot: Equatable, Sendable {
  /// Names the slot; means nothing.
  public let id: UUID
  public let kind: SlotKind
  public let kdf: SlotKDF
  /// Seconds since 1970, UTC.
  public let created: Int64

  /// 32 public random bytes.
  package let salt: [UInt8]
  /// Commits to the slot's secret: tells a wrong passphrase from a damaged slot.
  let check: [UInt8]
  let nonce: [UInt8]
  /// Both class keys and the owner key, encrypted, and the tag.
  let wrapped: [UInt8]
  /// What else opening needs: nothing, or an ``EnclaveAttachment``.
  let attachment: [UInt8]

  /// At most a hundred million: a changed file may not occupy the machine for hours.
  static let iterationRange = 1...100_000_000

  /// Whether a slot of `kind` can have this derivation. It is asked both when a slot is made and when one
  /// is read, so that no slot is written that could not be read again.
  static func allows(_ kdf: SlotKDF, for kind: SlotKind) -> Bool {
    switch (kdf, kind) {
    case (.pbkdf2(let iterations), .passphrase): iterationRange.contains(iterations)
    // The bounds of the costs are in the type.
    case (.argon2id, .passphrase): true
    case (.seed, .recoveryPhrase): true
    case (.agreement, .enclave): true
    default: false
    }
  }

  /// A TPM handle takes some 400 bytes.
  static let attachmentByteCountLimit = 4096
  static let saltByteCount = 32
  static let checkByteCount = 32
  static let wrappedByteCount = keysByteCount + AES256GCM.tagByteCount
  /// when unlocked (32) ‖ after first unlock (32) ‖ owner (32)
  static let keysByteCount = 3 * SymmetricKey.byteCount
}
