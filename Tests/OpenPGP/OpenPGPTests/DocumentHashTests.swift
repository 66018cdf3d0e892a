// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.4: what of a document goes into a hash.

import Testing

@testable import OpenPGP

@Suite("Hashing documents")
struct DocumentHashTests {
  /// A signature whose own fields end a hash; its material is nobody's.
  static func draft(_ type: SignatureType, _ hash: HashAlgorithm = .sha256, salt: [UInt8] = []) -> Signature {
    Signature(
      version: salt.isEmpty ? 4 : 6, type: type, algorithm: .ed25519, hash: hash, hashedArea: SubpacketArea(),
      unhashedArea: SubpacketArea(), digestPrefix: [0, 0], salt: salt, material: .unknown([]))
  }

  /// The digest of `pieces` for a signature of `type`.
  static func digest(_ pieces: [[UInt8]], _ type: SignatureType) throws -> [UInt8] {
    let hash = try DocumentHash(.sha256, isText: type == .text, salt: [])
    for piece in pieces { hash.update(piece.span.bytes) }
    return hash.digest(for: draft(type))
  }

  /// SHA-256 of what should have gone in, and the fields of the signature.
  static func expected(_ document: [UInt8], _ type: SignatureType) -> [UInt8] {
    var context = HashContext(.sha256)
    context.update(document)
    context.update(draft(type).hashedFields)
    return context.finish()
  }

  @Test(
    "Line ends of a text are hashed as CR LF, wherever its pieces begin and end",
    arguments: [
      ("", ""), ("\n", "\r\n"), ("\r\n", "\r\n"), ("a", "a"), ("a\nb", "a\r\nb"), ("a\r\nb\n", "a\r\nb\r\n"),
      ("\n\n\r\n\n", "\r\n\r\n\r\n\r\n"), ("a\r\n\nb", "a\r\n\r\nb"), ("a \t\nb", "a \t\r\nb"),
    ])
  func lineEnds(text: String, canonical: String) throws {
    let octets = Array(text.utf8)
    let expected = Self.expected(Array(canonical.utf8), .text)
    for first in 0...octets.count {
      for second in first...octets.count {
        let pieces = [octets[..<first], octets[first..<second], octets[second...]].map(Array.init)
        #expect(try Self.digest(pieces, .text) == expected)
      }
    }
  }

  @Test("A CR that no LF follows ends no line")
  func loneCarriageReturn() throws {
    for text in ["a\rb", "a\r", "\r\r\n", "a\r\rb\r"] {
      let octets = Array(text.utf8)
      #expect(try Self.digest([octets], .text) == Self.expected(octets, .text))
      #expect(try Self.digest(octets.map { [$0] }, .text) == Self.expected(octets, .text))
    }
  }

  @Test("A binary document is hashed as it is")
  func binary() throws {
    let document = Array("a\nb\r\nc\r".utf8)
    #expect(try Self.digest([document], .binary) == Self.expected(document, .binary))
  }

  @Test("Lines longer than the buffer are hashed in their place")
  func longLines() throws {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 40_000)
    let short = Array("short".utf8)
    var text: [UInt8] = []
    var canonical: [UInt8] = []
    for line in [short, long, short, short, long, long, short] {
      text += line + Array("\n".utf8)
      canonical += line + Array("\r\n".utf8)
    }
    #expect(try Self.digest([text], .text) == Self.expected(canonical, .text))
    let pieces = stride(from: 0, to: text.count, by: 777).map { Array(text[$0..<min($0 + 777, text.count)]) }
    #expect(try Self.digest(pieces, .text) == Self.expected(canonical, .text))
  }

  @Test("The salt of version 6 goes in before the document")
  func salt() throws {
    let salt = [UInt8](repeating: 7, count: 16)
    let document = Array("document".utf8)
    let hash = try DocumentHash(.sha256, isText: false, salt: salt)
    hash.update(document.span.bytes)
    let draft = Self.draft(.binary, salt: salt)
    var context = HashContext(.sha256)
    context.update(salt + document + draft.hashedFields)
    let expected = context.finish()
    #expect(hash.digest(for: draft) == expected)
    #expect(hash.digest(for: draft) == expected)
  }

  @Test("Signatures that hash alike share a context, and others do not")
  func sharing() throws {
    let hashes = DocumentHashes()
    let salt = [UInt8](repeating: 1, count: 32)
    let first = try hashes.prepare(for: Self.draft(.binary, .sha512))
    #expect(try hashes.prepare(for: Self.draft(.binary, .sha512)) === first)
    let others = [
      Self.draft(.text, .sha512), Self.draft(.binary, .sha256), Self.draft(.binary, .sha512, salt: salt),
    ]
    for signature in others {
      let other = try hashes.prepare(for: signature)
      #expect(other !== first)
      #expect(other.serves(signature))
      #expect(!first.serves(signature))
    }
  }

  @Test("Texts and octets of one document are hashed side by side")
  func sideBySide() throws {
    let hashes = DocumentHashes()
    let text = try hashes.prepare(for: Self.draft(.text))
    let octets = try hashes.prepare(for: Self.draft(.binary))
    let document = Array("one\ntwo\r\nthree\r".utf8)
    for octet in document { hashes.update([octet].span.bytes) }
    let canonical = Array("one\r\ntwo\r\nthree\r".utf8)
    #expect(text.digest(for: Self.draft(.text)) == Self.expected(canonical, .text))
    #expect(octets.digest(for: Self.draft(.binary)) == Self.expected(document, .binary))
  }

  @Test("A hash that is not there is not begun")
  func unknownHash() {
    #expect(throws: OpenPGPError.unsupported(.hashAlgorithm(99))) {
      _ = try DocumentHash(HashAlgorithm(rawValue: 99), isText: false, salt: [])
    }
  }
}
