// SPDX-License-Identifier: Apache-2.0
//
// Cheap credentials and keybags for the tests of slots, and records changed the way an attacker would.

import Foundation
import Keychains
import Secrets

@testable import Primitives

/// Costs that only a test may use.
let cheapPBKDF2 = SlotKDF.pbkdf2(iterations: 10)

func cheapArgon2id() throws -> SlotKDF {
  .argon2id(try Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1))
}

func passphrase(_ text: String) throws -> SlotCredential {
  SlotCredential(try Passphrase(utf8: SecretBytes(copying: Array(text.utf8).span.bytes)))
}

func recoveryPhrase(_ seed: UInt8) -> SlotCredential {
  let entropy = [UInt8](repeating: seed, count: RecoveryPhrase.entropyByteCount)
  return SlotCredential(RecoveryPhrase(entropy: SecretBytes(copying: entropy.span.bytes)))
}

/// A keybag with three slots: the passphrase "one" without a label, the passphrase "two", labelled so, and a phrase.
/// - Parameter label: of the phrase.
func threeSlots(phraseLabel label: String) throws -> (keybag: Keybag, unlocked: Keybag.Unlocked) {
  var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
  try keybag.addSlot(passphrase("two"), label: "two", kdf: cheapPBKDF2, keys: unlocked.keys, now: 2)
  try keybag.addSlot(recoveryPhrase(3), label: label, kdf: .seed, keys: unlocked.keys, now: 3)
  return (keybag, unlocked)
}

func read(_ record: [UInt8]) throws(KeybagError) -> Keybag { try Keybag(record: record.span.bytes) }

/// The record with its digest made to fit again.
func withDigest(_ record: [UInt8]) -> [UInt8] {
  let body = Array(record.dropLast(SHA256.byteCount))
  return body + SHA256.hash(body.span.bytes)
}

extension [UInt8] {
  /// Where the fields of a record stand (Specs/keybag.md).
  enum RecordOffset {
    static let generation = 25
    static let slotCount = 29
    static let slots = 30
    /// Of a slot for a passphrase or a phrase without a label.
    static let slotByteCount = 229
  }

  /// Where the slots of a record begin, and the last one ends.
  var slotBounds: [Int] {
    var bounds = [RecordOffset.slots]
    for _ in 0..<Int(self[RecordOffset.slotCount]) {
      let attachment = bounds[bounds.count - 1] + 228
      bounds.append(attachment + Int(self[attachment - 2]) << 8 + Int(self[attachment - 1]))
    }
    return bounds
  }

  /// The bytes of one slot of a record.
  func slot(_ index: Int) -> [UInt8] {
    let bounds = slotBounds
    return Array(self[bounds[index]..<bounds[index + 1]])
  }

  /// The record with other slots, its MAC as it was, its digest fitting.
  func withSlots(_ slots: [[UInt8]]) -> [UInt8] {
    let mac = self[slotBounds[slotBounds.count - 1]...]
    return withDigest(Array(self[..<RecordOffset.slotCount]) + [UInt8(slots.count)] + slots.joined() + mac)
  }

  /// The record with `bytes` at an offset, its digest fitting.
  func with(_ bytes: [UInt8], at offset: Int) -> [UInt8] {
    var changed = self
    changed.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    return withDigest(changed)
  }
}

extension ClassKeys {
  /// All three keys, one behind the other.
  var exposed: [UInt8] {
    [whenUnlocked, afterFirstUnlock, owner].flatMap { key in
      key.map { $0.withBytes { $0.withUnsafeBytes { Array($0) } } } ?? []
    }
  }
}
