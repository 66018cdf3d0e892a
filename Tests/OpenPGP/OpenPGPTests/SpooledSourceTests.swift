// SPDX-License-Identifier: Apache-2.0

import Glibc
import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Input is read twice, and is the same")
struct SpooledSourceTests {
  private static let piece = 256 << 10
  private static let lengths = [0, 1, 100_000, piece - 1, piece, piece + 1, 2 * piece, 1_000_000]

  /// All of a source, as its room would read it.
  private func readAll(_ source: any ByteSource, inLargeSteps: Bool) throws -> [UInt8] {
    let sink = ArraySink()
    guard inLargeSteps else {
      try sink.write(allOf: source)
      return sink.bytes
    }
    var bytes = SecretBytes(zeroed: 700_001)
    while true {
      let count = try bytes.withMutableBytes { (bytes) throws(OpenPGPError) in try source.read(into: &bytes) }
      try bytes.withBytes { (bytes) throws(OpenPGPError) in try sink.write(bytes.extracting(0..<count)) }
      if count < 700_001 { return sink.bytes }
    }
  }

  @Test("Regular files, checked and unchecked, in small steps and large", arguments: lengths)
  func files(_ length: Int) throws {
    for (checks, isLarge) in [(true, false), (true, true), (false, false), (false, true)] {
      let file = TestFile(patterned(length))
      let source = try SpooledSource(descriptor: file.descriptor)
      if !checks { try source.rewind(recognising: false) }
      for _ in 0..<3 {
        #expect(try readAll(source, inLargeSteps: isLarge) == patterned(length))
        try source.rewind(recognising: checks)
      }
    }
  }

  @Test("Pipes", arguments: lengths)
  func pipes(_ length: Int) throws {
    for (checks, isLarge) in [(true, false), (true, true), (false, false), (false, true)] {
      let pipe = TestPipe(patterned(length))
      let source = try SpooledSource(descriptor: pipe.reading)
      if !checks { try source.rewind(recognising: false) }
      for _ in 0..<3 {
        #expect(try readAll(source, inLargeSteps: isLarge) == patterned(length))
        try source.rewind(recognising: checks)
      }
    }
  }

  @Test("Going back before the end: what was seen is read again, and then the rest")
  func early() throws {
    let data = patterned(1_500_000)
    let (file, pipe) = (TestFile(data), TestPipe(data))
    for descriptor in [file.descriptor, pipe.reading] {
      let source = try SpooledSource(descriptor: descriptor)
      for count in [10, 200_000, 300_000, 700_000, 100] {
        var bytes = SecretBytes(zeroed: count)
        let read = try bytes.withMutableBytes { (bytes) throws(OpenPGPError) in try source.read(into: &bytes)
        }
        #expect(read == count)
        #expect(bytes.withBytes { [UInt8](copying: $0) } == patterned(count))
        try source.rewind(recognising: true)
      }
      #expect(try readAll(source, inLargeSteps: false) == data)
    }
  }

  @Test("A file that does not begin at its beginning")
  func offset() throws {
    let file = TestFile(patterned(600_000))
    lseek(file.descriptor, 1_000, SEEK_SET)
    let source = try SpooledSource(descriptor: file.descriptor)
    for _ in 0..<2 {
      #expect(try readAll(source, inLargeSteps: false) == Array(patterned(600_000).dropFirst(1_000)))
      try source.rewind(recognising: true)
    }
  }

  enum Change: CaseIterable { case first, middle, last, shorter, shorterByPiece, longer, empty }

  @Test("A file that somebody changes between the passes is noticed", arguments: Change.allCases)
  func changes(_ change: Change) throws {
    for count in [3 * Self.piece, 3 * Self.piece + 5] {
      let file = TestFile(patterned(count))
      let source = try SpooledSource(descriptor: file.descriptor)
      #expect(try readAll(source, inLargeSteps: false).count == count)
      switch change {
      case .first: file.overwrite([patterned(1)[0] ^ 1], at: 0)
      case .middle: file.overwrite([patterned(Self.piece + 8)[Self.piece + 7] ^ 1], at: Self.piece + 7)
      case .last: file.overwrite([patterned(count)[count - 1] ^ 1], at: count - 1)
      case .shorter: file.truncate(to: count - 1)
      case .shorterByPiece: file.truncate(to: 2 * Self.piece)
      case .longer: file.overwrite([1, 2, 3], at: count)
      case .empty: file.truncate(to: 0)
      }
      try source.rewind(recognising: true)
      let sink = ArraySink()
      if change == .longer {
        // What was not there in the first pass is not there in the second.
        try sink.write(allOf: source)
        #expect(sink.bytes == patterned(count))
      } else {
        #expect(throws: OpenPGPError.inputChanged) { try sink.write(allOf: source) }
        #expect(sink.bytes == patterned(sink.bytes.count))
      }
    }
  }

  @Test(
    "A message that is changed between the passes: what comes out is of the first", arguments: [true, false])
  func decryption(_ verifies: Bool) throws {
    for format in TestMessage.formats {
      let message = TestMessage(format)
      let data = patterned(4_000_000)
      let good = try message.encrypted(data)
      var decryption = MessageDecryption()
      decryption.sessionKeys = [message.sessionKey]
      if verifies {
        decryption.verifier = SignatureVerifier(certificates: [], policy: .standard, time: day(1))
      }
      // Another message under the same session key has other data at the same places.
      let other = try message.encrypted(Array(data.reversed()))
      for (place, bytes) in [(2_000_000, [0, 1, 2, 3]), (0, other), (1_000_000, Array(other[1_000_000...]))] {
        let file = TestFile(good)
        let source = ChangingSource(try SpooledSource(descriptor: file.descriptor)) {
          file.overwrite(bytes, at: place)
        }
        let sink = ArraySink()
        #expect(throws: OpenPGPError.inputChanged) { try decryption.decrypt(from: source, to: sink) }
        #expect(sink.bytes.count < data.count && sink.bytes == patterned(sink.bytes.count))
      }
      let pipe = TestPipe(good)
      let sink = ArraySink()
      _ = try decryption.decrypt(from: try SpooledSource(descriptor: pipe.reading), to: sink)
      #expect(sink.bytes == data)
    }
  }

  @Test("A descriptor that cannot be read is an error of the system")
  func failures() throws {
    let source = try SpooledSource(descriptor: open("/", O_RDONLY | O_DIRECTORY))
    #expect(throws: OpenPGPError.inputOutput(errno: EISDIR)) { try source.isAtEnd() }
    #expect(throws: OpenPGPError.inputOutput(errno: EBADF)) { try SpooledSource(descriptor: -1) }
  }
}
