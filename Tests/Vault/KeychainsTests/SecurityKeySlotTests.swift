// SPDX-License-Identifier: Apache-2.0
//
// Slots that a security key opens: the example of the specification, and keys in software behind libfido2.

import Foundation
import Secrets
import SecurityKeys
import SpecExamples
import Testing

@testable import Keychains

@Suite("Slots of security keys: bytes")
struct SecurityKeySlotBytesTests {
  private let example: SpecExample
  private let record: [UInt8]
  private let keybag: Keybag

  init() throws {
    example = try SpecExample(page: "keybag.md")
    record = try example.bytes("record-with-keys")
    keybag = try read(record)
  }

  /// As if the key of a slot had answered.
  private func answer(_ slot: Int, _ secret: String) throws -> SecurityKeyAnswer {
    let key = try #require(keybag.slots[slot].securityKey)
    let bytes = try example.bytes(secret)
    return SecurityKeyAnswer(
      credential: key.credential, secret: SharedSecretBytes(SecretBytes(copying: bytes.span.bytes)))
  }

  @Test("The record of the example opens with each key's secret, and gives its bytes again")
  func opens() throws {
    #expect(keybag.record() == record)
    #expect(keybag.slots.map(\.kdf) == [.pbkdf2(iterations: 1000), .hmacSecret, .hmacSecret])
    #expect(keybag.slots.compactMap { $0.securityKey?.label } == ["red", "blé"])
    let question = keybag.securityKeyQuestion
    #expect(question.credentials.count == 2 && question.salt == keybag.slots[2].securityKey?.salt)
    #expect(question.credentials[0].id == (try example.bytes("red-credential")))
    #expect(question.credentials[0].model == Array("software authn 1".utf8))
    let expected =
      try example.bytes("when-unlocked-key") + example.bytes("after-first-unlock-key")
      + example.bytes("owner-key")
    for (slot, secret) in [(1, "red-secret"), (2, "other-secret")] {
      let unlocked = try keybag.unlock(answer(slot, secret))
      #expect(unlocked.keys.exposed == expected)
      #expect(unlocked.slot == keybag.slots[slot])
    }
    #expect(try keybag.unlock(passphrase(example.text("passphrase-1"))).keys.exposed == expected)
    #expect(throws: KeybagError.corrupt) { try keybag.unlock(answer(1, "other-secret")) }
    #expect(throws: KeybagError.noSuchSlot) {
      try read(example.bytes("record")).unlock(answer(1, "red-secret"))
    }
  }

  @Test("With a digest that fits, no changed byte of its slot lets a key open it")
  func everyByte() throws {
    let right = try answer(1, "red-secret")
    let start = 30 + 229
    let end = start + 228 + 4 + 32 + 16 + 65 + 2 + 48
    #expect(Array(record[end - 48..<end]) == (try example.bytes("red-credential")))
    var readable = 0
    for offset in start..<end {
      guard let damaged = try? read(record.with([record[offset] ^ 0x01], at: offset)) else { continue }
      readable += 1
      do {
        _ = try damaged.unlock(right)
        Issue.record("byte \(offset - start) of the slot was changed and it opened")
      } catch {
        #expect(error == .corrupt || error == .noSuchSlot, "byte \(offset - start): \(error)")
      }
    }
    #expect(readable > 200)
  }

  @Test("Keys with two salts, or a label or a credential twice, are damage")
  func oneRecord() throws {
    let attachment = 30 + 229 + 228
    let second = attachment + 4 + 32 + 16 + 65 + 2 + 48 + 228
    // A bit of the second key's salt, which follows its label of four bytes.
    #expect(throws: KeybagError.corrupt) {
      try read(record.with([record[second + 5] ^ 1], at: second + 5))
    }
    let id = try example.bytes("red-credential")
    #expect(throws: KeybagError.corrupt) {
      try read(record.with(id, at: second + 5 + 32 + 16 + 65 + 2))
    }
    #expect(throws: KeybagError.corrupt) { try read(record.with([1, 7], at: attachment)) }
    #expect(try read(record.with(Array("rot".utf8), at: attachment + 1)).slots.count == 3)
  }

  @Test("A credential that is not on the curve, and a label with a control character, are damage")
  func fields() throws {
    let attachment = 30 + 229 + 228
    let point = attachment + 4 + 32 + 16
    #expect(record[point] == 4)
    #expect(throws: KeybagError.corrupt) {
      try read(record.with([UInt8](repeating: 1, count: 64), at: point + 1))
    }
    #expect(throws: KeybagError.corrupt) { try read(record.with([7], at: attachment + 2)) }
    #expect(throws: KeybagError.corrupt) { try read(record.with([0x20], at: attachment + 1)) }
    #expect(throws: KeybagError.corrupt) { try read(record.with([0xC3], at: attachment + 3)) }
    // A key's slot has a label, which a passphrase's need not have, and no other derivation.
    #expect(throws: KeybagError.corrupt) { try read(record.with([0], at: attachment)) }
    #expect(throws: KeybagError.corrupt) { try read(record.with([4], at: 30 + 229 + 17)) }
  }
}

#if SecurityKeys
  import SoftwareSecurityKey

  @Suite("Slots of security keys")
  struct SecurityKeySlotTests {
    private let red = SoftwareSecurityKey()
    private let blue = SoftwareSecurityKey()
    private let keybag: Keybag
    private let keys: ClassKeys

    init() throws {
      var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
      keys = unlocked.keys
      for (label, key) in [("red", red), ("blue", blue)] {
        let question = keybag.securityKeyQuestion
        let made = try key.device().enrol(
          Self.pin(), besides: question.credentials, salt: question.salt, SecurityKeyAttempt())
        try keybag.addSlot(made, label: label, salt: question.salt, keys: unlocked.keys, now: 2)
      }
      self.keybag = keybag
    }

    private static func pin(_ text: String = "864201") -> SecurityKeyVerification {
      .pin(SharedSecretBytes(SecretBytes(copying: Array(text.utf8).span.bytes)))
    }

    private func ask(
      _ key: SoftwareSecurityKey, _ keybag: Keybag? = nil, _ verification: SecurityKeyVerification = pin()
    ) throws -> SecurityKeyAnswer {
      let question = (keybag ?? self.keybag).securityKeyQuestion
      return try key.device().secret(
        of: question.credentials, salt: question.salt, verification, SecurityKeyAttempt())
    }

    @Test("Either key gives all keys with one touch, also after the record was stored and it was out")
    func opens() throws {
      let stored = try read(keybag.record())
      #expect(stored == keybag)
      for (index, key) in [(1, red), (2, blue)] {
        key.takeOut()
        key.plugIn()
        let unlocked = try stored.unlock(ask(key, stored))
        #expect(unlocked.keys.exposed == keys.exposed)
        #expect(unlocked.slot == keybag.slots[index] && unlocked.slot.kind == .securityKey)
      }
    }

    @Test("A finger on the key opens the slot that its PIN opens")
    func finger() throws {
      red.behaviour.hasReader = true
      #expect(try keybag.unlock(ask(red, keybag, .finger)).keys.exposed == keys.exposed)
    }

    @Test("Another key, a wrong PIN, no touch and an unplugged key open nothing, and the passphrase does")
    func refused() throws {
      #expect(throws: SecurityKeyError.otherKey) { try ask(SoftwareSecurityKey()) }
      #expect(throws: SecurityKeyError.wrongPIN(triesLeft: 7)) { try ask(red, keybag, Self.pin("135790")) }
      red.behaviour.touch = .timesOut
      #expect(throws: SecurityKeyError.noTouch) { try ask(red) }
      red.behaviour.touch = .unplugged
      #expect(throws: SecurityKeyError.gone) { try ask(red) }
      #expect(try keybag.unlock(passphrase("one")).keys.exposed == keys.exposed)
    }

    @Test("A key that was exchanged, or lies, is refused before its secret is tried")
    func liars() throws {
      red.behaviour.signsWrongly = true
      #expect(throws: SecurityKeyError.untrustworthy) { try ask(red) }
      red.behaviour.signsWrongly = false
      red.behaviour.hidesVerification = true
      #expect(throws: SecurityKeyError.untrustworthy) { try ask(red) }
      red.behaviour.hidesVerification = false
      red.behaviour.forgetsSecrets = true
      #expect(throws: KeybagError.corrupt) { try keybag.unlock(ask(red)) }
    }

    @Test("A changed key salt or public key in the record ends in damage or distrust")
    func tampered() throws {
      let record = keybag.record()
      let attachment = 30 + 229 + 228
      let length = Int(record[attachment - 1]) | Int(record[attachment - 2]) << 8
      let other = attachment + length + 228
      // Both salts, so that the record can be read.
      var changed = record.with([record[attachment + 4] ^ 1], at: attachment + 4)
      changed = changed.with([changed[other + 5] ^ 1], at: other + 5)
      let salted = try read(changed)
      #expect(salted.securityKeyQuestion.salt != keybag.securityKeyQuestion.salt)
      #expect(throws: KeybagError.corrupt) { try salted.unlock(ask(red, salted)) }
      let strange = P256Example.otherPoint
      let exchanged = try read(record.with(strange, at: attachment + 4 + 32 + 16))
      #expect(throws: SecurityKeyError.untrustworthy) { try ask(red, exchanged) }
    }

    @Test("A key is never the only way in, and can be removed")
    func notTheOnlyOne() throws {
      var keybag = keybag
      #expect(throws: KeybagError.lastSlot) { try keybag.removeSlot(keybag.slots[0].id, keys: keys) }
      try keybag.removeSlot(keybag.slots[1].id, keys: keys)
      #expect(keybag.slots.count == 2)
      #expect(throws: SecurityKeyError.otherKey) { try ask(red, keybag) }
      #expect(try keybag.unlock(ask(blue, keybag)).keys.exposed == keys.exposed)
    }

    @Test("A label or a key that is there, another salt, a bad label and an agent's keys are refused")
    func additions() throws {
      var keybag = keybag
      let question = keybag.securityKeyQuestion
      #expect(throws: SecurityKeyError.alreadyEnrolled) {
        _ = try red.device().enrol(
          Self.pin(), besides: question.credentials, salt: question.salt, SecurityKeyAttempt())
      }
      let made = try SoftwareSecurityKey().device().enrol(
        Self.pin(), besides: question.credentials, salt: question.salt, SecurityKeyAttempt())
      let salt = question.salt
      #expect(throws: KeybagError.labelTaken) {
        try keybag.addSlot(made, label: "red", salt: salt, keys: keys, now: 3)
      }
      #expect(throws: KeybagError.invalidLabel) {
        try keybag.addSlot(made, label: "a\nb", salt: salt, keys: keys, now: 3)
      }
      try keybag.addSlot(passphrase("two"), label: "two", kdf: cheapPBKDF2, keys: keys, now: 3)
      #expect(throws: KeybagError.labelTaken) {
        try keybag.addSlot(made, label: "two", salt: salt, keys: keys, now: 3)
      }
      #expect(throws: KeybagError.labelTaken) {
        try keybag.addSlot(recoveryPhrase(1), label: "blue", kdf: .seed, keys: keys, now: 3)
      }
      #expect(throws: KeybagError.changedMeanwhile) {
        try keybag.addSlot(made, label: "green", salt: salt.reversed(), keys: keys, now: 3)
      }
      #expect(throws: KeybagError.wrongSecret) {
        try keybag.addSlot(made, label: "green", salt: salt, keys: keys.withoutOwner(), now: 3)
      }
      try keybag.addSlot(made, label: "green", salt: salt, keys: keys, now: 3)
      #expect(keybag.slots.map(\.label) == [nil, "red", "blue", "two", "green"])
    }

    @Test("A backup takes the slots of security keys along")
    func moved() throws {
      let (moved, leftOut) = try keybag.movedToFile(keys)
      #expect(leftOut.isEmpty && moved.slots == keybag.slots)
      #expect(try read(moved.record()).unlock(ask(blue, moved)).keys.exposed == keys.exposed)
    }
  }

  private enum P256Example {
    /// The base point of the curve (SEC 2, 2.4.2): a public key that nobody here has.
    static let otherPoint: [UInt8] = {
      let hex =
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
      return stride(from: 0, to: hex.count, by: 2).map { offset in
        let start = hex.index(hex.startIndex, offsetBy: offset)
        return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16) ?? 0
      }
    }()
  }
#endif
