// SPDX-License-Identifier: Apache-2.0
//
// Looks terms up: one by a search in the root and one group, a beginning by a range of groups, what is inside of words
// by going through all terms of the namespace.

internal import Glibc
internal import MessageFormats
internal import Secrets

extension SegmentReader {
  /// The terms of a namespace that a word of a search stands for.
  func entries(
    _ namespace: SegmentFormat.Namespace, _ word: String, _ extent: SearchPhrase.Token.Extent
  ) throws(SegmentError) -> [TermEntry] {
    let term = [namespace.rawValue] + Array(word.utf8)
    // No term of the index is longer; messages with longer words are asked themselves.
    guard term.count <= SegmentFormat.termByteCountLimit else { return [] }
    switch extent {
    case .whole: return try entries(from: term) { $0.count == term.count && $0.hasPrefix(term) }
    case .beginning: return try entries(from: term) { $0.hasPrefix(term) }
    case .ending, .inside: return try scan(namespace, Array(word.utf8), isEnding: extent == .ending)
    }
  }

  /// The group in which a term is if it is there.
  private func groupIndex(_ term: [UInt8]) -> Int {
    root.bytes.withBytes { bytes in
      let next = root.terms.partitionIndex { compare(bytes.extracting($0.firstTerm), term.rawSpan) > 0 }
      return max(0, next - 1)
    }
  }

  /// Terms next to each other, from the first one that is not before `start`, as long as they are wanted.
  private func entries(
    from start: [UInt8], while isWanted: (borrowing ErasedArray<UInt8>) -> Bool
  ) throws(SegmentError) -> [TermEntry] {
    var found: [TermEntry] = []
    for index in groupIndex(start)..<max(groupIndex(start), root.terms.count) {
      let group = root.terms[index]
      try cursor.open(group, &file)
      var hasNumbers = false
      var before = 0
      while try cursor.next() {
        let order = cursor.term.withBytes { compare($0, start.rawSpan) }
        if order < 0 {
          before += 1
          continue
        }
        guard isWanted(cursor.term) else { return found }
        if !hasNumbers {
          try cursor.openNumbers(group, &file)
          for _ in 0..<before { _ = try cursor.entry() }
          hasNumbers = true
        }
        found.append(try cursor.entry())
      }
    }
    return found
  }

  /// Terms that have these letters somewhere, or at their end.
  private func scan(
    _ namespace: SegmentFormat.Namespace, _ letters: [UInt8], isEnding: Bool
  ) throws(SegmentError) -> [TermEntry] {
    var found: [TermEntry] = []
    var matches: [Int] = []
    for index in groupIndex([namespace.rawValue])..<max(groupIndex([namespace.rawValue]), root.terms.count) {
      let group = root.terms[index]
      let first = root.bytes.withBytes { $0.octet(group.firstTerm.lowerBound) }
      if first > namespace.rawValue { break }
      matches.removeAll(keepingCapacity: true)
      try cursor.open(group, &file)
      try cursor.findMatches(namespace.rawValue, letters, isEnding: isEnding, &matches)
      guard let last = matches.last else { continue }
      try cursor.openNumbers(group, &file)
      var next = matches.makeIterator()
      var wanted = next.next()
      for number in 0...last {
        let entry = try cursor.entry()
        guard number == wanted else { continue }
        found.append(entry)
        wanted = next.next()
      }
    }
    return found
  }
}

extension TermCursor {
  /// Goes through the group that is open, and notes which of its terms have these letters after the namespace.
  mutating func findMatches(
    _ namespace: UInt8, _ letters: [UInt8], isEnding: Bool, _ matches: inout [Int]
  ) throws(SegmentError) {
    var number = 0
    // Where the first match of the last term ends; what the next term shares with it need not be looked at again.
    var matchEnd = Int.max
    while try next() {
      defer { number += 1 }
      guard term.count > 0, term[0] == namespace else {
        matchEnd = .max
        continue
      }
      if isEnding {
        if term.hasSuffix(letters, after: 1) { matches.append(number) }
        continue
      }
      if matchEnd > shared {
        matchEnd = term.firstEnd(of: letters, from: max(1, shared - letters.count + 1))
      }
      if matchEnd != .max { matches.append(number) }
    }
  }
}

extension ErasedArray<UInt8> {
  func hasPrefix(_ prefix: [UInt8]) -> Bool {
    guard count >= prefix.count else { return false }
    return unsafe prefix.withUnsafeBytes {
      unsafe memcmp(pointer, $0.baseAddress ?? UnsafeRawPointer(pointer), $0.count) == 0
    }
  }

  /// - Parameter start: bytes at the beginning that do not count.
  fileprivate func hasSuffix(_ suffix: [UInt8], after start: Int) -> Bool {
    guard count - start >= suffix.count else { return false }
    return unsafe suffix.withUnsafeBytes {
      unsafe memcmp(pointer + (count - suffix.count), $0.baseAddress ?? UnsafeRawPointer(pointer), $0.count)
        == 0
    }
  }

  /// Where the first occurrence that begins at `start` or later ends.
  @inline(__always)
  fileprivate func firstEnd(of letters: [UInt8], from start: Int) -> Int {
    let first = letters[0]
    var offset = start
    let last = count - letters.count
    while offset <= last {
      if unsafe pointer[offset] == first {
        var index = 1
        while index < letters.count, unsafe pointer[offset + index] == letters[index] { index += 1 }
        if index == letters.count { return offset + index }
      }
      offset += 1
    }
    return .max
  }
}
