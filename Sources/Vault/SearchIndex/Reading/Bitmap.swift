// SPDX-License-Identifier: Apache-2.0

/// A set of ordinals of one segment: a bit for each message.
struct Bitmap: Equatable {
  private var words: [UInt64]
  let count: Int

  /// - Parameter count: messages of the segment.
  init(count: Int, isFull: Bool = false) {
    self.count = count
    words = [UInt64](repeating: isFull ? .max : 0, count: (count + 63) / 64)
    if isFull, count % 64 != 0 { words[words.count - 1] = 1 << UInt64(count % 64) - 1 }
  }

  /// - Parameter ordinals: those that are outside of the segment are left out.
  init(count: Int, _ ordinals: [UInt32]) {
    self.init(count: count)
    for ordinal in ordinals where ordinal < count { insert(ordinal) }
  }

  @inline(__always) func contains(_ ordinal: UInt32) -> Bool {
    words[Int(ordinal >> 6)] >> UInt64(ordinal & 63) & 1 == 1
  }

  @inline(__always) mutating func insert(_ ordinal: UInt32) {
    words[Int(ordinal >> 6)] |= 1 << UInt64(ordinal & 63)
  }

  mutating func formUnion(_ other: Bitmap) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  mutating func formIntersection(_ other: Bitmap) {
    for index in words.indices { words[index] &= other.words[index] }
  }

  mutating func subtract(_ other: Bitmap) {
    for index in words.indices { words[index] &= ~other.words[index] }
  }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  /// Whether an ordinal of this range is in it.
  func intersects(_ range: Range<Int>) -> Bool {
    var found = false
    forEach(in: range) { _ in
      found = true
      return false
    }
    return found
  }

  /// Goes through the ordinals, rising, until `body` answers false.
  func forEach<E: Error>(
    in range: Range<Int>? = nil, _ body: (UInt32) throws(E) -> Bool
  ) throws(E) {
    let range = range ?? 0..<count
    guard !range.isEmpty else { return }
    let (first, last) = (range.lowerBound / 64, (range.upperBound - 1) / 64)
    for index in first...last {
      var word = words[index]
      if index == first { word &= .max << UInt64(range.lowerBound % 64) }
      if index == last, range.upperBound % 64 != 0 { word &= 1 << UInt64(range.upperBound % 64) - 1 }
      while word != 0 {
        guard try body(UInt32(index * 64 + word.trailingZeroBitCount)) else { return }
        word &= word - 1
      }
    }
  }
}
