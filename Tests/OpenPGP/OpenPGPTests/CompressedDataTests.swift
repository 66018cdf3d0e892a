// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.6: compressed data, as others write them.

import Testing

@testable import OpenPGP

@Suite struct CompressedDataTests {
  private static let text = Array("hidden in a length that is not its own".utf8)

  /// A literal packet in one stored block of deflate (RFC 1951, section 3.2.4).
  private static var stream: [UInt8] {
    let literal = [0xCB, UInt8(text.count + 6)] + [UInt8(ascii: "b"), 0, 0, 0, 0, 0] + text
    let count = UInt8(literal.count)
    return [0x01, count, 0, ~count, 0xFF] + literal
  }

  private static func message(_ stream: [UInt8]) -> [UInt8] {
    [0xC8, UInt8(stream.count + 1), CompressionAlgorithm.zip.rawValue] + stream
  }

  private static func read(_ message: [UInt8]) -> (data: [UInt8], error: OpenPGPError?) {
    let sink = ArraySink()
    do throws(OpenPGPError) {
      let reader = InlineMessageReader(verifier: nil)
      _ = try reader.read(from: MemorySource(message), to: sink) { _ in true }
      return (sink.bytes, nil)
    } catch {
      return (sink.bytes, error)
    }
  }

  @Test("Octets behind a deflate stream, with which Sequoia hides lengths, are passed over")
  func padded() {
    let (data, error) = Self.read(Self.message(Self.stream + [UInt8](repeating: 0x5A, count: 40)))
    #expect(error == nil)
    #expect(data == Self.text)
  }

  @Test("Octets behind a deflate stream are refused where no length says that they belong to it")
  func behindIndeterminate() {
    let message = [0xA3, CompressionAlgorithm.zip.rawValue] + Self.stream
    #expect(Self.read(message).data == Self.text)
    let (data, error) = Self.read(message + message)
    #expect(error == .malformed(.trailingOctets))
    #expect(data.isEmpty)
  }

  @Test("A deflate stream that ends early is refused, and nothing of it is released")
  func truncated() {
    let (data, error) = Self.read(Self.message(Self.stream.dropLast()))
    #expect(error == .malformed(.compressedData))
    #expect(data.isEmpty)
  }
}
