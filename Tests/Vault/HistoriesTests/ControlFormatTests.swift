// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Bytes of control operations")
struct ControlFormatTests {
  private let samples = Samples()

  @Test("an operation of each kind comes back as it was sealed")
  func roundTrip() throws {
    var samples = samples
    let envelopes = samples.envelopes()
    let operations = [
      samples.operation(.addDevice(samples.deviceEntry()), envelopes: envelopes),
      samples.operation(.addDevice(samples.deviceEntry(replaces: samples.device))),
      samples.operation(.addSlot(samples.slotEntry()), envelopes: envelopes),
      samples.operation(.rekey(samples.rekey()), envelopes: envelopes),
      samples.operation(.rekey(samples.rekey(newOwner: false)), envelopes: envelopes),
    ]
    for operation in operations {
      let signed = samples.signed(operation)
      let sealed = operation.envelopesHash == ControlSeal.hash(ofEnvelopes: []) ? [] : envelopes
      let object = ControlSeal.seal(signed, envelopes: sealed, account: samples.account, keys: samples.keys)
      #expect(try ControlSeal.epoch(of: object) == samples.keys.name)
      #expect(try ControlSeal.envelopes(of: object) == sealed)
      let opened = try ControlSeal.open(object, account: samples.account, keys: samples.keys)
      #expect(opened.operation == operation)
      #expect(opened.bytes == signed.bytes)
      #expect(opened.id == ControlID(hashing: signed.bytes))
      #expect(opened.signedBytes == operation.signedBytes())
      #expect(opened.signature == signed.signature)
      #expect(opened.newOwnerSignature == signed.newOwnerSignature)
      #expect(
        ControlSeal.seal(opened, envelopes: sealed, account: samples.account, keys: samples.keys) == object)
    }
  }

  @Test("genesis founds the account that its hash names, and opens in no other")
  func genesis() throws {
    var samples = samples
    let signed = samples.signed(samples.genesis())
    let account = try #require(signed.foundedAccount)
    #expect(account.bytes == Array(signed.id.bytes.prefix(16)))
    let object = ControlSeal.seal(signed, envelopes: [], account: account, keys: samples.keys)
    #expect(try ControlSeal.open(object, account: account, keys: samples.keys).operation == signed.operation)
    let other = ControlSeal.seal(signed, envelopes: [], account: samples.account, keys: samples.keys)
    #expect(throws: FormatError.misplaced) {
      try ControlSeal.open(other, account: samples.account, keys: samples.keys)
    }
    #expect(samples.signed(samples.operation(.addSlot(samples.slotEntry()))).foundedAccount == nil)
  }

  @Test("the examples keep their bytes")
  func examples() {
    var samples = samples
    let genesis = samples.signed(samples.genesis())
    let first = ControlSeal.seal(
      genesis, envelopes: [], account: genesis.foundedAccount ?? samples.account, keys: samples.keys)
    #expect(digest(first) == "94aa1da6447cd9600336110ab6edb5efd17d25620246a019c74d6ee6a120f778")
    let rekey = samples.signed(samples.operation(.rekey(samples.rekey())))
    let object = ControlSeal.seal(rekey, envelopes: [], account: samples.account, keys: samples.keys)
    #expect(digest(object) == "aa0a0e47cdd4f9f5c1dc89efb8de3a79c681d8128fead9ce6988a4feb69f9af6")
  }

  @Test("each changed byte is refused, in an envelope too, and each other length")
  func changedBytes() {
    var samples = samples
    let envelopes = samples.envelopes()
    let signed = samples.signed(samples.operation(.rekey(samples.rekey()), envelopes: envelopes))
    let object = ControlSeal.seal(signed, envelopes: envelopes, account: samples.account, keys: samples.keys)
    let open = { (object: [UInt8]) throws in
      _ = try ControlSeal.open(object, account: samples.account, keys: samples.keys)
    }
    expectEachByteGuards(object, open)
    expectNoOtherLength(object, open)
  }

  @Test("other keys and another account are refused")
  func otherPlaces() {
    var samples = samples
    let signed = samples.signed(samples.operation(.addSlot(samples.slotEntry())))
    let object = ControlSeal.seal(signed, envelopes: [], account: samples.account, keys: samples.keys)
    #expect(throws: FormatError.otherEpoch) {
      try ControlSeal.open(object, account: samples.account, keys: samples.otherKeys)
    }
    #expect(throws: FormatError.notAuthentic) {
      try ControlSeal.open(object, account: samples.otherAccount, keys: samples.keys)
    }
    let elsewhere = ControlSeal.seal(signed, envelopes: [], account: samples.otherAccount, keys: samples.keys)
    #expect(throws: FormatError.misplaced) {
      try ControlSeal.open(elsewhere, account: samples.otherAccount, keys: samples.keys)
    }
  }

  @Test("envelopes that the operation does not name are refused, although their author sealed them")
  func otherEnvelopes() {
    var samples = samples
    let signed = samples.signed(samples.operation(.addSlot(samples.slotEntry())))
    let seal = DeterministicSeal(
      key: samples.keys.control, label: "coffer control v1", context: samples.account.bytes)
    let salt = seal.salt(of: signed.bytes)
    var clear = ObjectHead.bytes(magic: "COFCTL01", epoch: samples.keys.name, salt: salt)
    clear.append(bigEndian: UInt16(1))
    clear += samples.envelopes()[0]
    let object = seal.seal(signed.bytes, after: clear, salt: salt)
    #expect(throws: FormatError.malformed) {
      try ControlSeal.open(object, account: samples.account, keys: samples.keys)
    }
  }

  @Test("an envelope of an unknown mechanism does not hide the others")
  func unknownMechanism() throws {
    var samples = samples
    let envelopes = [[2, 0, 0, 0, 3, 7, 8, 9]] + samples.envelopes()
    let operation = samples.operation(.addSlot(samples.slotEntry()), envelopes: envelopes)
    let object = ControlSeal.seal(
      samples.signed(operation), envelopes: envelopes, account: samples.account, keys: samples.keys)
    #expect(try ControlSeal.envelopes(of: object) == envelopes)
    #expect(try ControlSeal.open(object, account: samples.account, keys: samples.keys).operation == operation)
    #expect(throws: FormatError.unknownVersion) { try Envelope.tag(of: envelopes[0]) }
  }

  @Test("another version and an unknown kind are told from damage")
  func versions() {
    var samples = samples
    let signed = samples.signed(samples.operation(.addSlot(samples.slotEntry())))
    expect(.unknownVersion, signed.bytes) { $0[0] = 2 }
    expect(.unknownOperation, signed.bytes) { $0[kindOffset] = 5 }
    var object = ControlSeal.seal(signed, envelopes: [], account: samples.account, keys: samples.keys)
    object[6] = UInt8(ascii: "1")
    #expect(throws: FormatError.unknownVersion) {
      try ControlSeal.open(object, account: samples.account, keys: samples.keys)
    }
  }

  /// After version, account, random, generation, number, two parents, three segments, the hash and one epoch.
  private let kindOffset = 1 + 16 + 16 + 4 + 8 + 1 + 64 + 2 + 3 * 56 + 32 + 2 + 8

  @Test("operations that are not in the one form are refused")
  func otherForms() {
    var samples = samples
    let slot = samples.signed(samples.operation(.addSlot(samples.slotEntry()))).bytes
    let device = samples.signed(samples.operation(.addDevice(samples.deviceEntry()))).bytes
    let genesis = samples.signed(samples.genesis()).bytes
    let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
    // No account; generation 0; number 0; parents exchanged, and one twice.
    expect(.malformed, slot) { $0.replaceSubrange(1..<17, with: zeros(16)) }
    expect(.malformed, slot) { $0.replaceSubrange(33..<37, with: zeros(4)) }
    expect(.malformed, slot) { $0.replaceSubrange(37..<45, with: zeros(8)) }
    expect(.malformed, slot) { $0.replaceSubrange(46..<110, with: Array($0[78..<110] + $0[46..<78])) }
    expect(.malformed, slot) { $0.replaceSubrange(78..<110, with: Array($0[46..<78])) }
    // Kind of slot, public key, length of the body, a byte between body and signature.
    let body = kindOffset + 5
    expect(.malformed, slot) { $0[body + 16] = 3 }
    expect(.malformed, slot) { $0[body + 17] = 2 }
    expect(.malformed, slot) { $0[kindOffset + 4] -= 1 }
    expect(.malformed, slot) {
      $0[kindOffset + 4] += 1
      $0.insert(0, at: $0.count - 64)
    }
    // A second signature without a new owner.
    expect(.malformed, slot) { $0 += zeros(64) }
    // Level, name with a control character, name that is no UTF-8, long name, replaces.
    expect(.malformed, device) { $0[body + 146] = 3 }
    expect(.malformed, device) { $0[body + 148] = 7 }
    expect(.malformed, device) { $0[body + 148] = 0xFF }
    expect(.malformed, device) { $0[body + 147] = 65 }
    expect(.malformed, device) { $0[body + 148 + 6] = 2 }
    // Genesis with an account, another generation, a number, envelopes.
    expect(.malformed, genesis) { $0[1] = 1 }
    expect(.malformed, genesis) { $0[36] = 2 }
    expect(.malformed, genesis) { $0[44] = 1 }
    expect(.malformed, genesis) { $0[48] ^= 1 }
  }

  @Test("lists of a rekey that do not rise are refused")
  func rekeyForms() {
    var samples = samples
    let bytes = samples.signed(samples.operation(.rekey(samples.rekey()))).bytes
    let start = kindOffset + 5
    // Revocations: count (2), device (16), heads: count (2) and two of 40 bytes; the second has none.
    expect(.malformed, bytes) {
      $0.replaceSubrange(
        start + 20..<start + 100, with: Array($0[start + 60..<start + 100] + $0[start + 20..<start + 60]))
    }
    expect(.malformed, bytes) {
      $0.replaceSubrange(start + 20..<start + 28, with: [UInt8](repeating: 0, count: 8))
    }
    expect(.malformed, bytes) {
      $0.replaceSubrange(start + 100..<start + 116, with: Array($0[start + 2..<start + 18]))
    }
    let removed = start + 118
    expect(.malformed, bytes) {
      $0.replaceSubrange(removed + 17..<removed + 33, with: Array($0[removed + 1..<removed + 17]))
    }
    let added = removed + 33
    expect(.malformed, bytes) {
      $0.replaceSubrange(added + 115..<added + 131, with: Array($0[added + 1..<added + 17]))
    }
    // Whether there is a new owner key, and its signature.
    let owner = added + 1 + 2 * 114
    expect(.malformed, bytes) { $0[owner] = 2 }
    expect(.malformed, bytes) { $0[owner] = 0 }
    expect(.malformed, bytes) { $0.removeLast(64) }
  }

  @Test("an object above the limit is refused before it is read")
  func limits() {
    let object = [UInt8](repeating: 0, count: ControlSeal.byteCountLimit + 1)
    #expect(throws: FormatError.tooLarge) { try ControlSeal.envelopes(of: object) }
    #expect(throws: FormatError.tooLarge) {
      try ControlSeal.open(object, account: samples.account, keys: samples.keys)
    }
  }

  private func expect(
    _ error: FormatError, _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation,
    after change: (inout [UInt8]) -> Void
  ) {
    var bytes = bytes
    change(&bytes)
    #expect(throws: error, sourceLocation: sourceLocation) { _ = try SignedControlOperation.parse(bytes) }
  }
}

extension Samples {
  /// Two envelopes, to a device and a slot.
  mutating func envelopes() -> [[UInt8]] {
    let contents = EnvelopeContents(epochKeys: [keys])
    let publicKey = machine.agreement.publicKey
    return [EnvelopeRecipient.device(device), .slot(SlotID(beginningOf: device.bytes))].map {
      Envelope.seal(
        contents, to: $0, publicKey: publicKey, epoch: keys.name, account: account, machine: &machine)
    }
  }
}
