// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Compressed data are read")
struct CompressedMessageTests {
  private func packet(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    PacketHeader(type: PacketType(rawValue: type), byteCount: body.count).bytes + body
  }

  private func literal(_ data: [UInt8]) -> [UInt8] { packet(11, [0x62, 0, 0, 0, 0, 0] + data) }

  private func read(_ message: [UInt8]) throws -> [UInt8] {
    let sink = ArraySink()
    _ = try InlineMessageReader(verifier: nil).read(from: MemorySource(message), to: sink) { _ in true }
    return sink.bytes
  }

  @Test("Uncompressed, deflate and zlib, with lengths of every kind")
  func algorithms() throws {
    for data in [[], patterned(10), patterned(400_000), [UInt8](repeating: 0x20, count: 3_000_000)] {
      let message = literal(data)
      let bodies = [
        [0] + message, [1] + DeflateWriter.stream(message), [2] + DeflateWriter.zlibStream(message),
      ]
      for body in bodies {
        #expect(try read(packet(8, body)) == data)
        // Of indeterminate length, as GnuPG writes it.
        #expect(try read([0xA3] + body) == data)
        // A packet in parts around it.
        let sealed = TestMessage(.version1(.aes256))
        #expect(try sealed.decrypted(try sealed.encrypted(rawly: [0xA3] + body)) == data)
      }
    }
  }

  @Test("bzip2 and unknown algorithms are unsupported, by name")
  func unsupported() throws {
    for algorithm: UInt8 in [3, 4, 99] {
      #expect(throws: OpenPGPError.unsupported(.compressionAlgorithm(algorithm))) {
        try read(packet(8, [algorithm, 0x42, 0x5A, 0x68]))
      }
    }
  }

  @Test("A stream that is cut off or damaged, or has a message too many in it")
  func damage() throws {
    let message = literal(patterned(2_000))
    for (algorithm, stream) in [(1, DeflateWriter.stream(message)), (2, DeflateWriter.zlibStream(message))]
      as [(UInt8, [UInt8])]
    {
      #expect(try read(packet(8, [algorithm] + stream)) == patterned(2_000))
      // Sequoia hides the length of a message with octets behind the stream.
      #expect(try read(packet(8, [algorithm] + stream + [0, 1, 2])) == patterned(2_000))
      for count in [0, 1, 2, 100, stream.count - 2] {
        #expect(throws: OpenPGPError.self, "\(count) octets") {
          try read(packet(8, [algorithm] + stream.prefix(count)))
        }
      }
    }
    var damaged = DeflateWriter.zlibStream(message)
    damaged[damaged.count - 1] ^= 1
    #expect(throws: OpenPGPError.malformed(.compressedData)) { try read(packet(8, [2] + damaged)) }
    #expect(throws: OpenPGPError.malformed(.compressedData)) { try read(packet(8, [1, 0x07])) }
    // Something behind the message inside.
    #expect(throws: OpenPGPError.malformed(.messageStructure)) {
      try read(packet(8, [1] + DeflateWriter.stream(message + message)))
    }
    #expect(throws: OpenPGPError.malformed(.messageStructure)) {
      try read(packet(8, [1] + DeflateWriter.stream([])))
    }
  }

  @Test("Compression within compression, up to the limit")
  func nesting() throws {
    var message = literal(patterned(10))
    for depth in 1...Limits.nestingDepth {
      message = packet(8, depth.isMultiple(of: 2) ? [0] + message : [1] + DeflateWriter.stream(message))
      #expect(try read(message) == patterned(10))
    }
    #expect(throws: OpenPGPError.overLimit(.nestingDepth)) { try read(packet(8, [0] + message)) }
  }

  @Test("A file of zeros is read, a bomb within a bomb is not")
  func bombs() throws {
    let zeros = [UInt8](repeating: 0, count: 2_000_000)
    let single = [1] + DeflateWriter.stream(literal(zeros))
    #expect(try read(packet(8, single)) == zeros)
    // Literal data of indeterminate length: a hundred million zeros, twice compressed to a few kilobytes.
    var inner = DeflateWriter.stream([0xAF, 0x62, 0, 0, 0, 0, 0] + zeros)
    // Thirteen octets hold eight repetitions of 258 zeros: more of them make the stream longer at will.
    let period = inner.firstRepetition(of: 13)
    let more = (0..<60_000).flatMap { _ in inner[period..<period + 13] }
    inner.insert(contentsOf: more, at: period)
    let outer = packet(8, [1] + DeflateWriter.stream([0xA3, 1] + inner, period: 13))
    #expect(outer.count < 20_000)
    #expect(throws: OpenPGPError.overLimit(.compressionRatio)) { try read(outer) }
  }
}

extension [UInt8] {
  /// The first place from which on everything is as it was so many octets before, for a while.
  fileprivate func firstRepetition(of period: Int) -> Int {
    indices.first { place in
      self[place..<place + 100].elementsEqual(self[place + period..<place + period + 100])
    } ?? 0
  }
}
