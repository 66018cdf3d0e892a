// SPDX-License-Identifier: Apache-2.0
//
// Searches for hundreds of byte sequences at once. Wherever a trace begins, one aligned word lies within its first
// bytes, and it is one of eight (of four, for short traces): one look into a table for every word that is read tells
// whether it may be one of those.
//
// The loop does with a debug build, too: plain pointers and wrapping operators are all that is inlined there.

import Glibc

/// The traces of several secrets, ready to be looked for.
public struct TraceSearch {
  private let traces: [(secret: Int, trace: ToldSecret.Trace)]
  /// Words of eight bytes for traces of at least fifteen bytes, of four for the shorter ones.
  private var long: [UInt: [Anchor]] = [:]
  private var short: [UInt: [Anchor]] = [:]
  private var table = [UInt8](repeating: 0, count: 1 << tableBitCount)
  /// The same by another hash: what the first lets pass is none of them, almost always.
  private var secondTable = [UInt8](repeating: 0, count: 1 << tableBitCount)
  /// The longest trace.
  public let longest: Int

  /// A word of a trace.
  private struct Anchor {
    let trace: Int
    /// Where in the trace it stands.
    let offset: Int
  }

  /// 256 KiB stay in the processor's cache; a thousand words fill one place in two hundred.
  private static let tableBitCount = 18
  /// 2^64 divided by the golden ratio: spreads words over the table (Fibonacci hashing).
  private static let multiplier: UInt = 0x9E37_79B9_7F4A_7C15
  private static let secondMultiplier: UInt = 0xC2B2_AE3D_27D4_EB4F
  private static let isLong: UInt8 = 1
  private static let isShort: UInt8 = 2

  public init(_ secrets: [ToldSecret]) {
    traces = secrets.enumerated().flatMap { index, secret in secret.traces().map { (index, $0) } }
    longest = traces.map(\.trace.bytes.count).max() ?? 0
    for (index, (_, trace)) in traces.enumerated() {
      let byteCount = trace.bytes.count >= 15 ? 8 : 4
      for offset in 0..<byteCount {
        var word: UInt = 0
        for byte in trace.bytes[offset..<offset + byteCount].reversed() { word = word << 8 | UInt(byte) }
        let anchor = Anchor(trace: index, offset: offset)
        if byteCount == 8 {
          long[word, default: []].append(anchor)
        } else {
          short[word, default: []].append(anchor)
        }
        let kind = byteCount == 8 ? Self.isLong : Self.isShort
        table[Self.slot(word, Self.multiplier)] |= kind
        secondTable[Self.slot(word, Self.secondMultiplier)] |= kind
      }
    }
  }

  /// How many byte sequences are looked for.
  public var traceCount: Int { traces.count }

  private static func slot(_ word: UInt, _ multiplier: UInt) -> Int {
    Int(bitPattern: (word &* multiplier) &>> UInt(64 - tableBitCount))
  }

  /// Hands every place of a trace to `found`.
  ///
  /// - Parameters:
  ///   - bytes: begins at a multiple of eight, and can be read to one.
  ///   - byteCount: how many bytes.
  ///   - found: the number of the secret, the trace, and where it begins.
  func search(
    _ bytes: UnsafeRawPointer, byteCount: Int, found: (Int, ToldSecret.Trace, Int) -> Void
  ) {
    let words = bytes.assumingMemoryBound(to: UInt.self)
    let wordCount = (byteCount + 7) / 8
    let hasShort = !short.isEmpty
    let shift = UInt(64 - Self.tableBitCount)
    let multiplier = Self.multiplier
    table.withUnsafeBufferPointer { buffer in
      guard let table = buffer.baseAddress else { return }
      var index = 0
      while index < wordCount {
        let word = words[index]
        if word != 0 {
          if table[Int(bitPattern: (word &* multiplier) &>> shift)] & Self.isLong != 0,
            isLikely(word, Self.isLong)
          {
            check(long[word], at: 8 * index, bytes, byteCount, found)
          }
          if hasShort {
            let (low, high) = (word & 0xFFFF_FFFF, word &>> 32)
            if table[Int(bitPattern: (low &* multiplier) &>> shift)] & Self.isShort != 0,
              isLikely(low, Self.isShort)
            {
              check(short[low], at: 8 * index, bytes, byteCount, found)
            }
            if table[Int(bitPattern: (high &* multiplier) &>> shift)] & Self.isShort != 0,
              isLikely(high, Self.isShort)
            {
              check(short[high], at: 8 * index + 4, bytes, byteCount, found)
            }
          }
        }
        index = index &+ 1
      }
    }
  }

  private func isLikely(_ word: UInt, _ kind: UInt8) -> Bool {
    secondTable[Self.slot(word, Self.secondMultiplier)] & kind != 0
  }

  private func check(
    _ anchors: [Anchor]?, at offset: Int, _ bytes: UnsafeRawPointer, _ byteCount: Int,
    _ found: (Int, ToldSecret.Trace, Int) -> Void
  ) {
    for anchor in anchors ?? [] {
      let (secret, trace) = traces[anchor.trace]
      let start = offset - anchor.offset
      guard start >= 0, start + trace.bytes.count <= byteCount,
        memcmp(bytes + start, trace.bytes, trace.bytes.count) == 0
      else { continue }
      found(secret, trace, start)
    }
  }
}
