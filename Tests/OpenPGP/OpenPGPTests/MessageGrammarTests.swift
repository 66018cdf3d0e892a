// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.3: which packets in which order are a message.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("The grammar of messages")
struct MessageGrammarTests {
  private static let data = Array("Some words\n".utf8)
  private let sender: KeyHolderFixture
  private let verifier: SignatureVerifier

  init() throws {
    sender = try KeyHolderFixture.usual()
    verifier = SignatureVerifier(certificates: [sender.certificate], policy: .standard, time: day(2))
  }

  private static func packet(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    PacketHeader(type: PacketType(rawValue: type), byteCount: body.count).bytes + body
  }

  private static let literal = packet(11, [0x62, 0, 0, 0, 0, 0] + data)
  private static let marker = packet(10, Array("PGP".utf8))
  private static let padding = packet(21, [UInt8](repeating: 3, count: 300))

  /// The one-pass packets in front of the data, and the signatures behind it.
  private func signed(
    _ count: Int = 1, type: SignatureType = .binary, hash: HashAlgorithm = .sha512
  ) throws -> (announcements: [OnePassSignature], signatures: [Signature]) {
    let signers = [UnlockedKey](repeating: sender.primary, count: count)
    let signer = try DocumentSigner(signers, type: type, hash: hash, time: day(1))
    signer.update(Self.data.span.bytes)
    return (signer.onePassSignatures, try signer.finish())
  }

  private func bytes(_ packets: Packet...) throws -> [UInt8] {
    let sink = ArraySink()
    for packet in packets { try packet.write(to: sink) }
    return sink.bytes
  }

  /// What comes out of a message, with the results of its signatures.
  private func read(_ message: [UInt8]) throws -> (data: [UInt8], results: [SignatureVerification.Result]) {
    let sink = ArraySink()
    let result = try InlineMessageReader(verifier: verifier)
      .read(from: MemorySource(message), to: sink) { _ in true }
    return (sink.bytes, result.verifications.map(\.result))
  }

  private func expectNoMessage(
    _ message: [UInt8], _ error: OpenPGPError = .malformed(.messageStructure), _ what: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let sink = ArraySink()
    #expect(throws: error, what, sourceLocation: sourceLocation) {
      try InlineMessageReader(verifier: verifier).read(from: MemorySource(message), to: sink) { _ in true }
    }
    #expect(sink.bytes.isEmpty, what, sourceLocation: sourceLocation)
  }

  @Test("Literal data alone, with markers and padding anywhere")
  func literal() throws {
    let noise = Self.marker + Self.padding + Self.packet(60, [1, 2])
    for message in [Self.literal, noise + Self.literal, Self.literal + noise, noise + Self.literal + noise] {
      let (data, results) = try read(message)
      #expect(data == Self.data)
      #expect(results.isEmpty)
    }
  }

  @Test("Packets that are not a message")
  func noMessages() throws {
    let sealed = try TestMessage(.version1(.aes256)).encrypted(Self.data)
    expectNoMessage([])
    expectNoMessage(Self.marker)
    expectNoMessage(Self.literal + Self.literal, "two messages")
    expectNoMessage(Self.packet(13, Self.data), "a user ID")
    expectNoMessage(Self.literal + Self.packet(13, Self.data), "a user ID behind it")
    expectNoMessage(sealed, "an encrypted message")
    expectNoMessage(Self.literal + sealed, "an encrypted message behind it")
    expectNoMessage(Self.packet(30, [1]) + Self.literal, .unsupported(.packetType(30)))
    expectNoMessage(Self.literal + Self.packet(39, [1]), .unsupported(.packetType(39)))
    expectNoMessage(Self.literal + [0], .malformed(.packetHeader))
    expectNoMessage(Self.packet(11, [0x62, 9, 0, 0]), .malformed(.truncated))
  }

  private func expectNoMessage(_ message: [UInt8], _ what: Comment) {
    expectNoMessage(message, .malformed(.messageStructure), what)
  }

  @Test("One-pass signatures, one and several, and in the old style")
  func signatures() throws {
    let (opening, closing) = try signed()
    let (opens, closes) = try signed(3)
    let one = try bytes(.onePassSignature(opening[0])) + Self.literal + (try bytes(.signature(closing[0])))
    #expect(try read(one) == (Self.data, [.good]))
    var several: [UInt8] = []
    for packet in opens { several += try bytes(.onePassSignature(packet)) + Self.padding }
    several += Self.literal
    for packet in closes { several += Self.marker + (try bytes(.signature(packet))) }
    #expect(try read(several) == (Self.data, [.good, .good, .good]))
    let prefixed = try bytes(.signature(closing[0]))
    #expect(try read(prefixed + Self.literal) == (Self.data, [.good]))
    #expect(try read(prefixed + one) == (Self.data, [.good, .good]))
  }

  @Test("Signatures that are missing, left over, or misplaced")
  func brackets() throws {
    let (opening, closing) = try signed()
    let (open, close) = (try bytes(.onePassSignature(opening[0])), try bytes(.signature(closing[0])))
    expectNoMessage(open + Self.literal, "no signature")
    expectNoMessage(open + open + Self.literal + close, "one of two")
    expectNoMessage(Self.literal + close, "not announced")
    expectNoMessage(open + Self.literal + close + close, "one too many")
    expectNoMessage(open + close, "no data")
    expectNoMessage(open, "nothing else")
    expectNoMessage(close, "a signature alone")
    expectNoMessage(Self.literal + open + close, "data first")
    expectNoMessage(open + Self.literal + open + close + close, "announced too late")
  }

  @Test("Signatures close in the reverse order of their announcements")
  func order() throws {
    let (first, firstEnd) = try signed(hash: .sha512)
    let (second, secondEnd) = try signed(hash: .sha384)
    let opening = try bytes(.onePassSignature(first[0]), .onePassSignature(second[0]))
    let right = opening + Self.literal + (try bytes(.signature(secondEnd[0]), .signature(firstEnd[0])))
    #expect(try read(right) == (Self.data, [.good, .good]))
    let wrong = opening + Self.literal + (try bytes(.signature(firstEnd[0]), .signature(secondEnd[0])))
    #expect(try read(wrong) == (Self.data, [.bad, .bad]))
  }

  @Test("A signature that is not what was announced is bad")
  func announcements() throws {
    let (opening, closing) = try signed()
    let told = opening[0]
    guard case .version6(let ownIssuer, let ownSalt) = told.variant else {
      Issue.record("the signature is not of version 6")
      return
    }
    func result(
      type: SignatureType? = nil, hash: HashAlgorithm? = nil, algorithm: PublicKeyAlgorithm? = nil,
      salt: [UInt8]? = nil, issuer: Fingerprint? = nil
    ) throws -> [SignatureVerification.Result] {
      let changed = OnePassSignature(
        .version6(issuer: issuer ?? ownIssuer, salt: salt ?? ownSalt), type: type ?? told.type,
        hash: hash ?? told.hash, algorithm: algorithm ?? told.algorithm, isLast: true)
      return try read(
        try bytes(.onePassSignature(changed)) + Self.literal + (try bytes(.signature(closing[0])))
      ).results
    }
    #expect(try result() == [.good])
    #expect(try result(type: .text) == [.bad])
    #expect(try result(hash: .sha3_512) == [.bad])
    #expect(try result(algorithm: .ed448) == [.bad])
    #expect(try result(salt: [UInt8](repeating: 1, count: told.salt.count)) == [.bad])
    let other = Fingerprint(version: 6, bytes: [UInt8](repeating: 1, count: 32))
    #expect(try result(issuer: other) == [.bad])
  }

  @Test("Signatures of unknown versions keep their places")
  func unknownVersions() throws {
    let (opening, closing) = try signed()
    let strange = Self.packet(4, [99, 1, 2]) + (try bytes(.onePassSignature(opening[0])))
    let end = try bytes(.signature(closing[0])) + Self.packet(2, [99, 1, 2])
    #expect(try read(strange + Self.literal + end) == (Self.data, [.good]))
    #expect(try read(Self.packet(2, [99]) + Self.literal) == (Self.data, []))
  }

  @Test("Data are released only when the caller accepts the verifications, and only once they are known")
  func release() throws {
    let (opening, closing) = try signed()
    for count in [10, 5_000_000] {
      let signer = try DocumentSigner([sender.primary], type: .binary, hash: .sha512, time: day(1))
      let message = ArraySink()
      try message.write(
        allOf: try MessageComposer(MemorySource(patterned(count)), isText: false, signer: signer))
      for accepts in [true, false] {
        let sink = ArraySink()
        let result = try InlineMessageReader(verifier: verifier)
          .read(from: MemorySource(message.bytes), to: sink) {
            #expect(sink.bytes.isEmpty)
            #expect($0.verifications.map(\.result) == [.good])
            return accepts
          }
        #expect(sink.bytes == (accepts ? patterned(count) : []))
        #expect(result.signatures.count == 1)
      }
    }
    #expect(opening.count == closing.count)
  }

  @Test(
    "Data of an encrypted message are released only when the caller agrees, who is asked before the first octet"
  )
  func releaseOfEncrypted() throws {
    for format in TestMessage.formats {
      let message = TestMessage(format)
      for count in [10, 5_000_000] {
        let octets = try message.encrypted(patterned(count))
        var decryption = MessageDecryption()
        decryption.sessionKeys = [message.sessionKey]
        for agrees in [true, false] {
          let sink = ArraySink()
          let opened = try decryption.decrypt(from: MemorySource(octets), to: sink) { _ in
            #expect(sink.bytes.isEmpty)
            return agrees
          }
          #expect(sink.bytes == (agrees ? patterned(count) : []))
          #expect(opened.format == format)
        }
      }
    }
  }

  @Test("Inline signing gives what inline reading verifies", arguments: [false, true])
  func inlineSigning(_ isText: Bool) throws {
    var signing = InlineSigning([sender.primary, sender.primary], time: day(1))
    signing.isText = isText
    let sink = ArraySink()
    try signing.sign(from: MemorySource(Self.data), to: sink)
    #expect(try read(sink.bytes) == (Self.data, [.good, .good]))
  }

  @Test("Data in an inner message of an encrypted one are refused as nested encryption")
  func nestedEncryption() throws {
    let outer = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)))
    let inner = try outer.encrypted(Self.data)
    let (data, outcome) = outer.opened(try outer.encrypted(rawly: inner))
    #expect(data.isEmpty)
    #expect(throws: OpenPGPError.malformed(.messageStructure)) { try outcome.get() }
  }

  @Test("Parts shorter than 512 octets at the beginning, and parts that never end")
  func parts() throws {
    let body = [0x62, 0, 0, 0, 0, 0] + patterned(1_018)
    let good = [0xCB, 224 + 10] + body + [0]
    #expect(try read(good).data == patterned(1_018))
    var inParts: [UInt8] = [0xCB, 224 + 9] + body.prefix(512)
    inParts += [224 + 0, body[512], 224 + 1, body[513], body[514], 255, 0, 0, 1, 253] + body[515...]
    #expect(try read(inParts).data == patterned(1_018))
    let short = [0xCB, 224 + 8] + body.prefix(256) + [255, 0, 0, 3, 0] + body[256...]
    expectNoMessage(short, .malformed(.partialLength))
    expectNoMessage([0xCB, 224 + 10] + body, .malformed(.truncated))
    expectNoMessage([0xCB, 224 + 10] + body + [224 + 9] + body.prefix(512), .malformed(.truncated))
  }
}
