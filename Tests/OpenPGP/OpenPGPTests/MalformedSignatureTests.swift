// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.5: a malformed signature is ignored, and neither ends the reading of a message nor
// spoils the signatures beside it.

import Primitives
import Testing

@testable import OpenPGP

@Suite("Malformed signatures on messages")
struct MalformedSignatureTests {
  private static let data = Array("Some words\n".utf8)
  private static let literal = packet(11, [0x62, 0, 0, 0, 0, 0] + data)
  private let sender: KeyHolderFixture
  private let announcement: OnePassSignature
  private let signature: Signature

  init() throws {
    sender = try KeyHolderFixture.usual()
    let signer = try DocumentSigner([sender.primary], type: .binary, hash: .sha512, time: day(1))
    signer.update(Self.data.span.bytes)
    announcement = signer.onePassSignatures[0]
    signature = try signer.finish()[0]
  }

  private static func packet(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    PacketHeader(type: PacketType(rawValue: type), byteCount: body.count).bytes + body
  }

  private func read(_ message: [UInt8]) throws -> [SignatureVerification.Result] {
    let verifier = SignatureVerifier(
      certificates: [sender.certificate], policy: .standard, time: day(2))
    let sink = ArraySink()
    let result = try InlineMessageReader(verifier: verifier)
      .read(from: MemorySource(message), to: sink) { _ in true }
    #expect(sink.bytes == Self.data)
    return result.verifications.map(\.result)
  }

  @Test("They keep their places, and spoil neither the others nor the data")
  func signatures() throws {
    let (open, close) = (Self.packet(4, announcement.body), Self.packet(2, signature.body))
    let bodies = [
      [], [4, 0, 1], Array(signature.body.dropLast(3)), signature.body + [0],
      signature.changed(salt: [1, 2, 3]).body,
    ]
    for broken in bodies.map({ Self.packet(2, $0) }) {
      #expect(try read(open + open + Self.literal + broken + close) == [.good])
      #expect(try read(open + open + Self.literal + close + broken) == [.good])
      #expect(try read(broken + close + Self.literal) == [.good])
      #expect(try read(open + Self.literal + broken) == [])
      #expect(throws: OpenPGPError.malformed(.messageStructure)) {
        try read(open + Self.literal + close + broken)
      }
    }
  }

  @Test("An announcement that cannot be read announces a signature all the same")
  func announcements() throws {
    let (open, close) = (Self.packet(4, announcement.body), Self.packet(2, signature.body))
    let broken = Self.packet(4, Array(announcement.body.dropLast()))
    #expect(try read(broken + open + Self.literal + close + close) == [.good, .bad])
    #expect(throws: OpenPGPError.malformed(.messageStructure)) { try read(broken + Self.literal) }
  }

  @Test("An encrypted message opens whatever is wrong with a signature in it")
  func inside() throws {
    let message = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)))
    let plaintext = Self.packet(2, [4, 0, 1]) + Self.literal
    #expect(try message.decrypted(try message.encrypted(rawly: plaintext)) == Self.data)
  }
}
