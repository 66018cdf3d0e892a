// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Bytes of account slots")
struct AccountSlotFormatTests {
  private let samples = Samples()
  private let salt = [UInt8](repeating: 6, count: 32)
  /// The least that the standard allows.
  private let costs: Argon2idParameters

  init() throws { costs = try Argon2idParameters(memoryKiB: 8, passes: 1, lanes: 1) }

  @Test("a slot of either kind opens with its secret")
  func roundTrip() throws {
    var samples = samples
    let passphrase = try passphraseSecret("correct horse", urlSecret: 1)
    let words = AccountSlotSecret.words(seed: SecretBytes(zeroed: 64), salt: salt)
    let kinds: [(AccountSlotDerivation, SharedSecretBytes, SlotEntry.Kind)] = [
      (.passphrase(costs), passphrase, .passphrase), (.words, words, .words),
    ]
    for (derivation, secret, kind) in kinds {
      let contents = samples.slotContents()
      let slot = samples.slot(contents, derivation, salt, secret)
      let bytes = slot.bytes()
      #expect(bytes.count == AccountSlotRecord.byteCount)
      let read = try AccountSlotRecord.parse(bytes)
      #expect(read == slot)
      #expect(read.kind == kind)
      #expect(read.derivation == derivation)
      #expect(read.derivation.argon2idParameters == (kind == .words ? nil : costs))
      let opened = try read.open(secret: secret, account: samples.account)
      #expect(opened.agreement.privateKey.testBytes == contents.agreement.privateKey.testBytes)
      #expect(opened.agreement.publicKey == contents.agreement.publicKey)
      #expect(opened.owner.privateKey.testBytes == contents.owner.privateKey.testBytes)
      #expect(opened.owner.publicKey == contents.owner.publicKey)
      #expect(opened.anchor == contents.anchor)
    }
  }

  @Test("the example keeps its bytes")
  func example() throws {
    var samples = samples
    let secret = try passphraseSecret("correct horse", urlSecret: 1)
    #expect(digest(secret.testBytes) == "fe4a54f4e2b86938630508a45a712285fb4ac0d3b719c41b9c449424983aa99e")
    let slot = samples.slot(samples.slotContents(), .passphrase(costs), salt, secret)
    #expect(digest(slot.bytes()) == "bd4c79680fd427c31d5c6ff4cef6c831da7e98f5b363e746a5c7c94381c8baa6")
  }

  @Test("another passphrase, URL or salt gives another secret, and is told from changed bytes")
  func wrongSecrets() throws {
    var samples = samples
    let secret = try passphraseSecret("correct horse", urlSecret: 1)
    let slot = samples.slot(samples.slotContents(), .passphrase(costs), salt, secret)
    let others = [
      try passphraseSecret("correct house", urlSecret: 1),
      try passphraseSecret("correct horse", urlSecret: 2),
      try passphraseSecret("correct horse", urlSecret: 1, salt: [UInt8](repeating: 7, count: 32)),
      AccountSlotSecret.words(seed: SecretBytes(copying: Array("correct horse".utf8).rawSpan), salt: salt),
    ]
    for other in others {
      #expect(throws: FormatError.wrongKey) { try slot.open(secret: other, account: samples.account) }
    }
    #expect(throws: FormatError.notAuthentic) { try slot.open(secret: secret, account: samples.otherAccount) }
  }

  @Test("each changed byte is refused, and each other length")
  func changedBytes() throws {
    var samples = samples
    let secret = AccountSlotSecret.words(seed: SecretBytes(zeroed: 64), salt: salt)
    let bytes = samples.slot(samples.slotContents(), .words, salt, secret).bytes()
    let open = { (bytes: [UInt8]) throws in
      _ = try AccountSlotRecord.parse(bytes).open(secret: secret, account: samples.account)
    }
    expectEachByteGuards(bytes, open)
    expectNoOtherLength(bytes, open)
    var changed = bytes
    changed[bytes.count - 1] ^= 1
    #expect(throws: FormatError.notAuthentic) { try open(changed) }
    changed[7] = UInt8(ascii: "2")
    #expect(throws: FormatError.unknownVersion) { try open(changed) }
  }

  @Test("kinds, derivations and costs that do not fit are refused before anything is derived")
  func costsOutOfBounds() throws {
    var samples = samples
    let secret = try passphraseSecret("correct horse", urlSecret: 1)
    let bytes = samples.slot(samples.slotContents(), .passphrase(costs), salt, secret).bytes()
    func parse(kind: UInt8 = 1, kdf: UInt8 = 1, _ memory: UInt32, _ passes: UInt32, _ lanes: UInt32) throws {
      var fields: [UInt8] = [kind, kdf]
      for cost in [memory, passes, lanes] { fields.append(bigEndian: cost) }
      _ = try AccountSlotRecord.parse(Array(bytes[..<24] + fields + bytes[38...]))
    }
    try parse(8, 1, 1)
    try parse(64 << 10, 3, 4)
    try parse(kind: 2, kdf: 2, 0, 0, 0)
    let wrongs: [(UInt8, UInt8, UInt32, UInt32, UInt32)] = [
      (0, 1, 8, 1, 1), (3, 1, 8, 1, 1), (1, 0, 8, 1, 1), (1, 2, 8, 1, 1), (1, 2, 0, 0, 0), (2, 1, 8, 1, 1),
      (2, 2, 8, 1, 1), (2, 2, 0, 0, 1), (1, 1, 7, 1, 1), (1, 1, 8, 0, 1), (1, 1, 8, 1, 0), (1, 1, 8, 1, 2),
      (1, 1, .max, 1, 1), (1, 1, 4 << 20, 64, 4), (1, 1, 8, .max, 1), (1, 1, .max, .max, .max),
    ]
    for wrong in wrongs {
      #expect(throws: FormatError.malformed, "\(wrong)") {
        try parse(kind: wrong.0, kdf: wrong.1, wrong.2, wrong.3, wrong.4)
      }
    }
  }

  private func passphraseSecret(
    _ text: String, urlSecret: UInt8, salt: [UInt8]? = nil
  ) throws -> SharedSecretBytes {
    try AccountSlotSecret.passphrase(
      Array(text.utf8).rawSpan,
      urlSecret: SharedSecretBytes(testing: [UInt8](repeating: urlSecret, count: 16)),
      salt: salt ?? self.salt,
      costs: costs)
  }
}

extension Samples {
  fileprivate mutating func slotContents() -> AccountSlotContents {
    AccountSlotContents(agreement: machine.makeKeyPair(), owner: machine.makeKeyPair(), anchor: hash())
  }

  fileprivate mutating func slot(
    _ contents: AccountSlotContents, _ derivation: AccountSlotDerivation, _ salt: [UInt8],
    _ secret: SharedSecretBytes
  ) -> AccountSlotRecord {
    AccountSlotRecord.seal(
      contents, id: SlotID(beginningOf: machine.random(16)), derivation: derivation, createdAt: 1_760_000_000,
      salt: salt, secret: secret, account: account, machine: &machine)
  }
}
