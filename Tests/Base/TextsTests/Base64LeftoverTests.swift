// SPDX-License-Identifier: Apache-2.0
//
// Secret keys and session keys pass through base64: vectors that hold them, or their text, may not stay on the stack.

import Glibc
import MemorySearch
import Testing

@testable import Texts

@Suite("What base64 leaves in memory")
struct Base64LeftoverTests {
  private enum Last: CaseIterable {
    case encoded, encodedInLines, decoded
  }

  @Test("Neither bytes nor their text remain in memory, whichever way they went last")
  func nothingRemains() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for last in Last.allCases {
          let (bytes, text) = try Base64LeftoverTests().pass(last)
          try ProcessMemory.expectGone(bytes, "bytes, \(last)")
          try ProcessMemory.expectGone(text, "text, \(last)")
        }
      }
    }
  }

  /// One line. What was done last is the deepest call, and the last one that leaves anything on the stack.
  @inline(never)
  private func pass(_ last: Last) throws -> (bytes: Needle, text: Needle) {
    let (byteCount, textByteCount) = (Base64.lineByteCount, Base64.lineTextByteCount)
    let (bytes, text) = (Self.erasable(byteCount), Self.erasable(textByteCount))
    let decoded = Self.erasable(2 * byteCount)
    defer {
      for place in [bytes, text, decoded] {
        explicit_bzero(place.baseAddress!, place.count)
        place.deallocate()
      }
    }
    for index in 0..<byteCount { bytes[index] = UInt8.random(in: .min ... .max) }
    var lines = text.mutableBytes
    Base64.encodeLines(bytes.bytes, into: &lines)
    let line = UnsafeMutableRawBufferPointer(rebasing: text[..<(textByteCount - 1)])
    let needles = (bytes: Needle(bytes.bytes), text: Needle(line.bytes))
    try #require(try ProcessMemory.places(of: needles.text).count == 2, "the search sees what is there")
    switch last {
    case .encoded: Base64.encode(bytes.bytes, into: &lines, at: 0)
    case .encodedInLines: Base64.encodeLines(bytes.bytes, into: &lines)
    case .decoded:
      var output = decoded.mutableBytes
      guard Base64.decode(line.bytes, into: &output, .exact) == byteCount else { exit(3) }
    }
    return needles
  }

  private static func erasable(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let place = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    place.initializeMemory(as: UInt8.self, repeating: 0)
    return place
  }
}
