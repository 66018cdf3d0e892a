// SPDX-License-Identifier: Apache-2.0
//
// First parts: those of an honest device are read, and nothing else is, whatever a member of the account has signed.

import Foundation
import Keychains
import Primitives
import Secrets
import Testing

@testable import Captures

@Suite("First parts of captures")
struct SharedCaptureTests {
  private static let metadata = Array(#"{"place": "garden"}"#.utf8)
  private static let content: [CapturePart: [UInt8]] = [
    .photo: bytes(500, seed: 1), .metadata: metadata, .thumbnail: bytes(60, seed: 2),
  ]

  @Test(
    "A first part has parts up to 65,536 bytes, and the stream the others",
    arguments: [
      (0, 0, true), (1, 0, true), (65_536, 0, true), (65_537, 65_537, false), (300_000, 300_000, false),
    ])
  func sizes(byteCount: Int, streamByteCount: Int, isSmall: Bool) throws {
    let photo = bytes(byteCount, seed: 7)
    let first = try FirstPart([.photo: photo, .depth: bytes(10, seed: 1)])
    let read = try #require(first.read)
    #expect(read.id == first.id && read.created == first.created)
    #expect(read.streamByteCount == streamByteCount)
    #expect(read.byteCount == first.parts.reduce(0) { $0 + Int($1.byteCount) })
    #expect(read.bytes.withBytes { Array(copying: $0) } == first.bytes)
    #expect((first.bytes.count > byteCount) == isSmall)
    // The other way round: it is there and must not be, or is not and must be.
    var other = first
    other.parts[0].bytes = isSmall ? [] : photo
    #expect((other.read == nil) == (byteCount > 0))
  }

  @Test("No bit can be changed, no byte be cut off or added")
  func flips() throws {
    let whole = try FirstPart(Self.content).bytes
    #expect(sharedCapture(whole) != nil)
    for place in whole.indices {
      for bit in 0..<8 {
        var changed = whole
        changed[place] ^= 1 << bit
        #expect(sharedCapture(changed) == nil, "bit \(bit) of byte \(place)")
      }
    }
    for count in whole.indices { #expect(sharedCapture(Array(whole[..<count])) == nil) }
    for end in [[0], whole] { #expect(sharedCapture(whole + end) == nil) }
  }

  @Test("The manifest is of this id and this time, and names exactly these parts")
  func manifest() throws {
    let signer = TestSigner()
    let good = try FirstPart(Self.content, signer: signer)
    var other = good
    try other.sign(signer, id: CaptureID())
    #expect(other.read == nil)
    other = good
    try other.sign(signer, created: good.created + 1)
    #expect(other.read == nil)
    // A part that is not signed, and one that is signed and missing.
    other = good
    other.parts.insert(FirstPart.Part(.depth, [1]), at: 1)
    #expect(other.read == nil)
    other = good
    other.parts.remove(at: 1)
    #expect(other.read == nil)
    // Each part in turn, the last one too: signed without it, and shown with it.
    for (part, content) in Self.content where part != .photo {
      other = try FirstPart(Self.content.filter { $0.key != part }, signer: signer)
      #expect(other.read != nil)
      let place = other.parts.firstIndex { $0.number > part.rawValue } ?? 0
      other.parts.insert(FirstPart.Part(part, content), at: place)
      #expect(other.read == nil, "\(part)")
    }
    // Content, hash and length that belong together, and are not the signed ones.
    other = good
    other.parts[0] = FirstPart.Part(.photo, bytes(500, seed: 3))
    #expect(other.read == nil)
    other = try FirstPart([.photo: bytes(70_000, seed: 1)], signer: signer)
    #expect(other.read != nil)
    other.parts[0].byteCount += 1
    #expect(other.read == nil)
    other.parts[0].byteCount -= 1
    other.parts[0].hash[31] ^= 1
    #expect(other.read == nil)
    // Not a manifest, or not as one is written.
    for text in ["", "{}", String(decoding: good.parts[3].bytes, as: UTF8.self) + " "] {
      other = good
      other.parts[3] = FirstPart.Part(.manifest, Array(text.utf8))
      #expect(other.read == nil)
    }
  }

  @Test("The assertion is of the key that the manifest names, and of the manifest")
  func assertion() throws {
    let signer = TestSigner()
    let good = try FirstPart(Self.content, signer: signer)
    let manifest = good.parts[3].bytes
    let digest = SHA256.hash(manifest.span.bytes)
    let stranger = TestSigner()
    let wrong: [[UInt8]] = [
      stranger.publicKey + (try stranger.sign(digest: digest)),
      signer.publicKey + (try stranger.sign(digest: digest)),
      stranger.publicKey + (try signer.sign(digest: digest)),
      signer.publicKey + (try signer.sign(digest: [UInt8](repeating: 1, count: 32))),
      signer.publicKey, Array(signer.publicKey.dropLast()), [],
    ]
    for assertion in wrong {
      var other = good
      other.parts[4] = FirstPart.Part(.assertion, assertion)
      #expect(other.read == nil)
    }
    // Signed again by the same key it is as good.
    var other = good
    other.parts[4] = FirstPart.Part(.assertion, signer.publicKey + (try signer.sign(digest: digest)))
    #expect(other.read != nil)
  }

  @Test("Order, limits and what every capture has are those of records")
  func limits() throws {
    let signer = TestSigner()
    func refused(_ change: (inout FirstPart) throws -> Void) throws {
      var first = try FirstPart(Self.content, signer: signer)
      try change(&first)
      #expect(first.read == nil)
    }
    try refused { $0.version = 2 }
    try refused { $0.parts.swapAt(0, 1) }
    try refused { $0.parts.insert($0.parts[0], at: 0) }
    for index in [0, 3, 4] { try refused { $0.parts.remove(at: index) } }
    try refused { $0.parts = [] }
    try refused { $0.parts[4].number = 7 }
    try refused { $0.parts[0].number = 0 }
    try refused {
      $0.parts.removeFirst()
      try $0.sign(signer)
    }
    // Longer than such a part may be, and signed.
    for (part, limit) in [(CapturePart.depth, 4 << 30), (.metadata, 1 << 20)] {
      var long = try FirstPart([.photo: [1], part: bytes(70_000, seed: 1)], signer: signer)
      for (count, isGood) in [(limit, true), (limit + 1, false), (-1, false), (.min, false)] {
        long.parts[1].byteCount = Int64(count)
        if count >= 0 { try long.sign(signer) }
        #expect((long.read != nil) == isGood, "\(part) of \(count) bytes")
      }
    }
    try refused {
      $0.parts[2] = FirstPart.Part(.thumbnail, bytes(65_537, seed: 1))
      try $0.sign(signer)
    }
  }

  @Test("Metadata that is not a JSON object is refused, although it is signed")
  func malformedMetadata() throws {
    for text in ["", "[]", "{", #"{"a": 1} {}"#] {
      #expect(try FirstPart([.photo: [1], .metadata: Array(text.utf8)]).read == nil)
    }
    #expect(try FirstPart([.photo: [1], .metadata: Self.metadata]).read != nil)
  }
}
