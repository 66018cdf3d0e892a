// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 7: messages of the cleartext framework, and what can be smuggled into them.

import Secrets
import Testing

@testable import OpenPGP

struct CleartextMessageTests {
  private static let time = Timestamp(secondsSince1970: 1_700_000_000)
  private static let document = "Hello,\n\n- a list\n-- \nFrom here  \nend\t\n"

  private struct Signed {
    let message: String
    let certificate: Certificate
  }

  private static func signed(
    _ document: String = document, _ profile: KeyProfile = .universal
  ) throws -> Signed {
    let key = try KeyGeneration(profile, userIDs: [UserID("Alice")], creationTime: time).generate()
    let signer = try key.unlocked(key.certificate.fingerprint, for: .sign, passwords: [])
    let sink = ArraySink()
    let bytes = Array(document.utf8)
    try CleartextSigner([signer], time: time).sign(bytes.span.bytes, writingTo: sink)
    return Signed(message: String(decoding: sink.bytes, as: UTF8.self), certificate: key.certificate)
  }

  /// The text that came out, and what each signature is worth.
  private static func verify(
    _ message: String, _ certificate: Certificate
  ) throws -> (text: String, results: [SignatureVerification.Result]) {
    let verifier = SignatureVerifier(certificates: [certificate], policy: .standard, time: time)
    let sink = ArraySink()
    let verifications = try CleartextMessage(PiecemealSource(message, pieceByteCount: 1)).verify(
      with: verifier, writingTo: sink)
    return (String(decoding: sink.bytes, as: UTF8.self), verifications.map(\.result))
  }

  @Test(
    "What is signed verifies, and comes back without what is not signed",
    arguments: [KeyProfile.universal, .advanced])
  func roundTrip(profile: KeyProfile) throws {
    let signed = try Self.signed(profile: profile)
    let (text, results) = try Self.verify(signed.message, signed.certificate)
    #expect(results == [.good])
    #expect(text == "Hello,\n\n- a list\n--\nFrom here\nend")
    #expect(signed.message.contains("Hash: SHA512\n") == (profile == .universal))
  }

  private static func signed(profile: KeyProfile) throws -> Signed { try signed(document, profile) }

  @Test(
    "Blanks that are added, CR LF for LF and a missing Hash header change nothing",
    arguments: [
      ("Hello,", "Hello, \t "), ("\n", "\r\n"), ("Hash: SHA512\n", ""), ("SHA512", "sha256, SHA512"),
    ])
  func harmlessChanges(old: String, new: String) throws {
    let signed = try Self.signed()
    let (text, results) = try Self.verify(signed.message.replacing(old, with: new), signed.certificate)
    #expect(results == [.good])
    #expect(text == "Hello,\n\n- a list\n--\nFrom here\nend")
  }

  @Test(
    "A changed text is a bad signature, and no byte of it comes out",
    arguments: [("Hello,", "Hallo,"), ("Hello,\n\n", "Hello,\n"), ("- - a list", "- -a list")])
  func changedText(old: String, new: String) throws {
    let signed = try Self.signed()
    let (text, results) = try Self.verify(signed.message.replacing(old, with: new), signed.certificate)
    #expect(results == [.bad])
    #expect(text.isEmpty)
  }

  @Test("Nothing comes out when none of the certificates has the key")
  func unknownKey() throws {
    let (text, results) = try Self.verify(try Self.signed().message, try Self.signed().certificate)
    #expect(results == [.unknownKey])
    #expect(text.isEmpty)
  }

  @Test(
    "Header injection (CVE-2019-11841): any header but a list of hash algorithms is refused",
    arguments: [
      "Comment: pay Mallory", "This is injected text", "Hash: SHA512\u{B}pay Mallory", "Hash: pay Mallory",
      "Hash: SHA512, pay Mallory", "Hash:", "SaltedHash: SHA512:abcd", "hash: SHA512", " Hash: SHA512",
      "NotDashEscaped: You need GnuPG",
    ])
  func injectedHeaders(header: String) throws {
    let signed = try Self.signed()
    for message in [
      signed.message.replacing("Hash: SHA512\n", with: "Hash: SHA512\n\(header)\n"),
      signed.message.replacing("Hash: SHA512\n", with: "\(header)\n"),
    ] {
      #expect(throws: OpenPGPError.malformed(.cleartextSignature)) {
        try Self.verify(message, signed.certificate)
      }
    }
  }

  @Test("Text around the block is refused, white space is not")
  func textAround() throws {
    let signed = try Self.signed()
    #expect(throws: OpenPGPError.malformed(.cleartextSignature)) {
      try Self.verify("Unsigned\n\(signed.message)", signed.certificate)
    }
    #expect(throws: OpenPGPError.malformed(.cleartextSignature)) {
      try Self.verify("\(signed.message)Unsigned\n", signed.certificate)
    }
    #expect(try Self.verify("\n \n\(signed.message)\n \n", signed.certificate).results == [.good])
  }

  @Test("A second message behind the first, or a block within it, is refused")
  func severalMessages() throws {
    let signed = try Self.signed()
    for message in [
      signed.message + signed.message,
      signed.message.replacing("end\n", with: "-----BEGIN PGP SIGNED MESSAGE-----\n\nend\n"),
      signed.message.replacing("end\n", with: "-----BEGIN PGP MESSAGE-----\n\nend\n"),
      signed.message.replacing("end\n", with: "-----END PGP SIGNATURE-----\nend\n"),
    ] {
      #expect(throws: OpenPGPError.malformed(.cleartextSignature)) {
        try Self.verify(message, signed.certificate)
      }
    }
  }

  @Test("A message that is cut off anywhere is refused")
  func truncated() throws {
    let signed = try Self.signed()
    let bytes = Array(signed.message.utf8)
    for count in stride(from: 0, to: bytes.count - 1, by: 11) {
      let message = String(decoding: bytes.prefix(count), as: UTF8.self)
      #expect(throws: OpenPGPError.self) { try Self.verify(message, signed.certificate) }
    }
  }

  @Test("A block without packets needs its tail too, however the source lends it")
  func tailOfGarbage() {
    let message = Array(
      "-----BEGIN PGP SIGNED MESSAGE-----\n\nhello\n-----BEGIN PGP SIGNATURE-----\n\nKBESExQV\n".utf8)
    #expect(throws: OpenPGPError.malformed(.armor)) { try CleartextMessage(MemorySource(message)) }
    #expect(throws: OpenPGPError.malformed(.armor)) {
      try CleartextMessage(PiecemealSource(message, pieceByteCount: 1))
    }
  }

  @Test("A binary signature is refused: nobody can tell what its line ends were")
  func binarySignature() throws {
    let key = try KeyGeneration(.universal, userIDs: [], creationTime: Self.time).generate()
    let signer = try key.unlocked(key.certificate.fingerprint, for: .sign, passwords: [])
    let signatures = try DetachedSigning([signer], time: Self.time).sign(MemorySource(Array("hello".utf8)))
    let sink = ArraySink()
    let armor = try ArmorWriter(sink, kind: .signature)
    try Packet.signature(signatures[0]).write(to: armor)
    try armor.finish()
    let block = String(decoding: sink.bytes, as: UTF8.self)
    let (text, results) = try Self.verify(
      "-----BEGIN PGP SIGNED MESSAGE-----\n\nhello\n\(block)", key.certificate)
    #expect(results == [.refused(.signatureType(.binary))])
    #expect(text.isEmpty)
  }

  @Test("An empty text and one of an empty line are signed alike")
  func emptyTexts() throws {
    for document in ["", "\n"] {
      let signed = try Self.signed(document)
      let (text, results) = try Self.verify(signed.message, signed.certificate)
      #expect(results == [.good])
      #expect(text.isEmpty)
    }
  }

  @Test("Text that is not UTF-8 is not signed")
  func notText() throws {
    let key = try KeyGeneration(.universal, userIDs: [], creationTime: Self.time).generate()
    let signer = try key.unlocked(key.certificate.fingerprint, for: .sign, passwords: [])
    let bytes: [UInt8] = [0x68, 0xFF, 0x69]
    #expect(throws: OpenPGPError.notText) {
      try CleartextSigner([signer], time: Self.time).sign(
        bytes.span.bytes, writingTo: ArraySink())
    }
  }

  @Test("The three forms of input are told apart")
  func forms() throws {
    let message = try Self.signed().message
    guard case .cleartext = try OpenPGPInput(PiecemealSource(message)) else {
      Issue.record("a cleartext signed message was taken for something else")
      return
    }
    #expect(throws: OpenPGPError.malformed(.cleartextSignature)) {
      try OpenPGPInput(PiecemealSource("Unsigned\n\(message)"))
    }
    #expect(throws: OpenPGPError.malformed(.armor)) { try ArmorReader(PiecemealSource(message)) }
  }
}
