// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededGenerators
import Testing

@testable import MessageFormats
import Texts

@Suite("Failing devices")
struct OutputFileTests {
  @Test("a full device is told apart from other failures")
  func full() throws {
    let descriptor = open("/dev/full", O_WRONLY)
    defer { close(descriptor) }
    var file = OutputFile(descriptor: descriptor)
    let bytes = [UInt8](repeating: 1, count: 1 << 20)
    let error = #expect(throws: MessageFormatError.self) { try file.write(bytes.span.bytes) }
    #expect(error == .cannotWrite(errno: ENOSPC))
    #expect(error?.isOutOfSpace == true)
    #expect(throws: MessageFormatError.finished) { try file.finish() }
    #expect(!MessageFormatError.cannotWrite(errno: EIO).isOutOfSpace)
  }

  @Test("a buffer erases what it leaves behind when it grows, and keeps its content")
  func growth() {
    var buffer = ByteBuffer(capacity: 64)
    for index in 0..<10_000 { buffer.append(UInt8(truncatingIfNeeded: index)) }
    #expect(buffer.count == 10_000)
    #expect((0..<10_000).allSatisfy { buffer[$0] == UInt8(truncatingIfNeeded: $0) })
    buffer.removeFirst(5_000)
    #expect(buffer.count == 5_000 && buffer[0] == UInt8(truncatingIfNeeded: 5_000))
  }

  @Test("base64 agrees with the system's and decodes in place")
  func base64() {
    var random = SeededGenerator(run: 5)
    for count in 0..<300 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      var buffer = ByteBuffer(capacity: 64)
      Base64.encode(bytes.span.bytes, into: &buffer)
      let text = buffer.withBytes { $0.string($0.whole) }
      #expect(text == Data(bytes).base64EncodedString())
      #expect(Base64.decodeInPlace(&buffer, 0..<buffer.count, .exact) == count)
      #expect((0..<count).allSatisfy { buffer[$0] == bytes[$0] })
    }
  }
}
