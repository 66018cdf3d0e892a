// SPDX-License-Identifier: Apache-2.0
//
// Shared by the fuzzers through symbolic links: a source that lends little at a time, so that everything is
// cut in all places, and what turns the fuzzer's pointer into bytes.

import OpenPGP

/// Lends at most so many bytes of an array at once, and can be read again.
final class PieceSource: RewindableSource {
  private let bytes: [UInt8]
  private let pieceByteCount: Int
  private var source: MemorySource

  init(_ bytes: [UInt8], pieceByteCount: Int) {
    self.bytes = bytes
    self.pieceByteCount = pieceByteCount
    source = MemorySource(bytes)
  }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    try source.withNext { (next) throws(OpenPGPError) -> R in
      try body(next.extracting(0..<min(next.byteCount, pieceByteCount)))
    }
  }

  func consume(_ count: Int) {
    guard count <= pieceByteCount else { fatalError("more was consumed than lent") }
    source.consume(count)
  }

  func rewind(recognising: Bool) throws(OpenPGPError) { source = MemorySource(bytes) }
}

/// The input of one run: its first octet says in what pieces the rest is lent.
struct FuzzInput {
  let bytes: [UInt8]
  let pieceByteCount: Int

  init(_ data: UnsafePointer<UInt8>?, _ count: Int) {
    let all = UnsafeBufferPointer(start: data, count: count)
    bytes = Array(all.dropFirst())
    pieceByteCount = [1, 7, 64, 1 << 20][Int(all.first ?? 3) & 3]
  }

  var source: PieceSource { PieceSource(bytes, pieceByteCount: pieceByteCount) }
}

/// All that a source has.
func readAll(_ source: any ByteSource) throws(OpenPGPError) -> [UInt8] {
  var output: [UInt8] = []
  while true {
    let count = try source.withNext { (next) throws(OpenPGPError) in
      next.withUnsafeBytes { output.append(contentsOf: $0) }
      return next.byteCount
    }
    if count == 0 { return output }
    source.consume(count)
  }
}
