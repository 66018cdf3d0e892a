// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Bytes of envelopes")
struct EnvelopeFormatTests {
  private let samples = Samples()

  @Test("keys come back as they were sealed, by either machine's device and by a slot's key")
  func roundTrip() throws {
    try roundTrip(samples.machine, agreement: samples.machine.agreement)
    let machine = KeyedHashMachine(run: 3, table: KeyTable())
    try roundTrip(machine, agreement: machine.agreement)
  }

  private func roundTrip(_ start: some Machine, agreement: KeyPair) throws {
    var machine = start
    let owner = machine.makeKeyPair()
    let slot = machine.makeKeyPair()
    let former = (1...40).map { EpochKeys(number: UInt32($0 % 20), key: machine.randomSecret(32)) }
    let secret = machine.randomSecret(16)
    let all = [
      EnvelopeContents(epochKeys: [samples.keys]),
      EnvelopeContents(epochKeys: [samples.keys] + former, urlSecret: secret, owner: owner),
      EnvelopeContents(epochKeys: former, owner: owner),
      EnvelopeContents(epochKeys: [samples.keys], urlSecret: secret),
    ]
    let recipients: [(EnvelopeRecipient, PrivateKey, [UInt8])] = [
      (.device(samples.device), .device, agreement.publicKey),
      (.slot(SlotID(beginningOf: samples.device.bytes)), .memory(slot), slot.publicKey),
    ]
    for contents in all {
      for (recipient, key, publicKey) in recipients {
        let envelope = Envelope.seal(
          contents, to: recipient, publicKey: publicKey, epoch: samples.keys.name, account: samples.account,
          machine: &machine)
        #expect(
          try Envelope.tag(of: envelope) == Envelope.tag(publicKey: publicKey, epoch: samples.keys.name))
        let opened = try Envelope.open(
          envelope, recipient: recipient, publicKey: publicKey, key: key, epoch: samples.keys.name,
          account: samples.account, machine: machine)
        #expect(opened.epochKeys.first?.name == contents.epochKeys.first?.name)
        #expect(
          opened.epochKeys.map(\.key.testBytes).sorted() == contents.epochKeys.map(\.key.testBytes).sorted())
        #expect(
          opened.epochKeys.dropFirst().map(\.name) == contents.epochKeys.dropFirst().map(\.name).sorted())
        #expect(opened.urlSecret?.testBytes == contents.urlSecret?.testBytes)
        #expect(opened.owner?.privateKey.testBytes == contents.owner?.privateKey.testBytes)
        #expect(opened.owner?.publicKey == contents.owner?.publicKey)
      }
    }
  }

  @Test("the example keeps its bytes")
  func example() {
    var samples = samples
    let envelope = samples.envelope()
    #expect(envelope.count == 1 + 4 + 8 + 65 + 32 + 32 + 12 + 2 + 36 + 1 + 16 + 1 + 97 + 16)
    #expect(digest(envelope) == "936a672d56b33a899a47b8c7dc9efb4ba7df65e799b7ff3999f9ce4b09e4792e")
  }

  @Test("each changed byte is refused, and each other length")
  func changedBytes() {
    var samples = samples
    let envelope = samples.envelope()
    let open = { (envelope: [UInt8]) throws in _ = try samples.open(envelope) }
    expectEachByteGuards(envelope, open)
    expectNoOtherLength(envelope, open)
  }

  @Test("an envelope opens for one recipient, account and epoch alone")
  func otherPlaces() throws {
    var samples = samples
    let envelope = samples.envelope()
    _ = try samples.open(envelope)
    #expect(throws: FormatError.wrongKey) { try samples.open(envelope, as: .device(samples.otherDevice)) }
    let slot = SlotID(beginningOf: samples.device.bytes)
    #expect(throws: FormatError.wrongKey) { try samples.open(envelope, as: .slot(slot)) }
    #expect(throws: FormatError.wrongKey) { try samples.open(envelope, account: samples.otherAccount) }
    #expect(throws: FormatError.wrongKey) { try samples.open(envelope, epoch: samples.otherKeys.name) }
    let other = samples.machine.makeKeyPair()
    #expect(throws: FormatError.wrongKey) { try samples.open(envelope, publicKey: other.publicKey) }
    #expect(throws: FormatError.wrongKey) { try samples.open(envelope, key: .memory(other)) }
  }

  @Test("an ephemeral key that is no point of the curve is refused")
  func noPoint() {
    var samples = samples
    var envelope = samples.envelope()
    envelope.replaceSubrange(14..<78, with: [UInt8](repeating: 1, count: 64))
    #expect(throws: FormatError.notAuthentic) { try samples.open(envelope) }
    envelope[13] = 2
    #expect(throws: FormatError.malformed) { try samples.open(envelope) }
  }

  @Test("an unknown mechanism and an envelope above the limit are refused")
  func limits() {
    var samples = samples
    var envelope = samples.envelope()
    envelope[0] = 2
    #expect(throws: FormatError.unknownVersion) { try samples.open(envelope) }
    let large = [UInt8](repeating: 1, count: Envelope.byteCountLimit + 1)
    #expect(throws: FormatError.tooLarge) { try Envelope.tag(of: large) }
  }

  @Test("keys that are not in the one form are refused")
  func otherForms() throws {
    var samples = samples
    let (first, second) = (samples.keys, samples.otherKeys)
    let third = EpochKeys(number: 2, key: samples.machine.randomSecret(32))
    func bytes(_ keys: [EpochKeys]) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(bigEndian: UInt16(keys.count))
      for key in keys {
        bytes.append(bigEndian: key.name.number)
        bytes += key.key.testBytes
      }
      return bytes + [0, 0]
    }
    func contents(_ bytes: [UInt8]) throws -> EnvelopeContents {
      try EnvelopeContents(SecretBytes(copying: bytes.rawSpan))
    }
    #expect(try contents(bytes([first, third, second])).epochKeys.count == 3)
    let wrongs = [
      bytes([]), bytes([first, second, third]), bytes([first, first]), bytes([first, third, third]),
      bytes([first]) + [0], bytes([first]).dropLast(), bytes([first]).dropLast(2) + [2, 0],
      bytes([first]).dropLast(2) + [1, 0], bytes([first]).dropLast(2) + [0, 1],
      bytes([first]).dropLast() + [1] + [UInt8](repeating: 0, count: 97),
    ]
    for wrong in wrongs { #expect(throws: FormatError.malformed) { try contents(wrong) } }
  }
}

extension Samples {
  fileprivate mutating func envelope() -> [UInt8] {
    let contents = EnvelopeContents(
      epochKeys: [keys], urlSecret: machine.randomSecret(16), owner: machine.makeKeyPair())
    return Envelope.seal(
      contents, to: .device(device), publicKey: machine.agreement.publicKey, epoch: keys.name,
      account: account, machine: &machine)
  }

  fileprivate func open(
    _ envelope: [UInt8], as recipient: EnvelopeRecipient? = nil, publicKey: [UInt8]? = nil,
    key: PrivateKey = .device, epoch: EpochName? = nil, account: AccountID? = nil
  ) throws -> EnvelopeContents {
    try Envelope.open(
      envelope, recipient: recipient ?? .device(device), publicKey: publicKey ?? machine.agreement.publicKey,
      key: key, epoch: epoch ?? keys.name, account: account ?? self.account, machine: machine)
  }
}

extension [[UInt8]] {
  fileprivate func sorted() -> Self { sorted { $0.lexicographicallyPrecedes($1) } }
}
