// SPDX-License-Identifier: Apache-2.0

import Secrets

@testable import OpenPGP

/// Bytes that are lent a few at a time, as a pipe may.
final class PiecemealSource: ByteSource {
  private let whole: MemorySource
  private let pieceByteCount: Int

  init(_ bytes: [UInt8], pieceByteCount: Int) {
    whole = MemorySource(bytes)
    self.pieceByteCount = pieceByteCount
  }

  convenience init(_ text: String, pieceByteCount: Int = 7) {
    self.init(Array(text.utf8), pieceByteCount: pieceByteCount)
  }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    try whole.withNext { (next) throws(OpenPGPError) -> R in
      try body(next.extracting(0..<min(pieceByteCount, next.byteCount)))
    }
  }

  func consume(_ count: Int) { whole.consume(count) }
}

extension ByteSource {
  /// Everything up to the end.
  func allBytes() throws(OpenPGPError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let byte = try readByteIfAny() { bytes.append(byte) }
    return bytes
  }
}
