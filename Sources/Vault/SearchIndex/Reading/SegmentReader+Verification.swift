// SPDX-License-Identifier: Apache-2.0
//
// Reads everything that a segment has. A search reads little, so that damage elsewhere is not noticed by it.

internal import Secrets

extension SegmentReader {
  /// Opens every block, and checks every row and list.
  public func verify() throws(SegmentError) {
    let block = SharedBlock()
    for section in SegmentFormat.Section.allCases {
      let blocks = file.blocks(section)
      for (index, number) in blocks.enumerated() {
        try file.open(Int(number), as: section, into: block)
        guard index == blocks.count - 1, section != .root else { continue }
        let filled = file.byteCount(section) - index * SegmentFormat.blockByteCount
        let isZero = block.withBytes { bytes in
          (filled..<bytes.byteCount).allSatisfy { bytes.octet($0) == 0 }
        }
        guard isZero else { throw .damaged }
      }
    }
    try verifyRows()
    try verifyTerms()
  }

  private func verifyRows() throws(SegmentError) {
    var (unreadable, partial): ([UInt32], [UInt32]) = ([], [])
    for group in root.rows {
      try withRows(group) { rows in
        for (index, row) in rows.rows.enumerated() {
          let ordinal = UInt32(group.ordinals.lowerBound + index)
          if row.flags.contains(.unreadable) { unreadable.append(ordinal) }
          if row.flags.contains(.partial) { partial.append(ordinal) }
        }
      }
    }
    guard unreadable == root.unreadable, partial == root.partial else { throw .damaged }
  }

  private func verifyTerms() throws(SegmentError) {
    var occurrences = ErasedArray<Occurrence>(capacity: 1 << 10)
    var last = ErasedArray<UInt8>(capacity: 256)
    for (index, group) in root.terms.enumerated() {
      try cursor.open(group, &file)
      try cursor.openNumbers(group, &file)
      var isFirst = true
      while try cursor.next() {
        if isFirst {
          let isNamed = root.bytes.withBytes { root in
            cursor.term.withBytes { compare($0, root.extracting(group.firstTerm)) == 0 }
          }
          let isAfter = cursor.term.withBytes { term in last.withBytes { compare($0, term) < 0 } }
          guard isNamed, isAfter else { throw .damaged }
          isFirst = false
        }
        let entry = try cursor.entry()
        occurrences.removeAll()
        try lists.readDocuments(entry, &file)
        try lists.readPositions(entry, &file, into: &occurrences) { _ in true }
      }
      last.removeAll()
      cursor.term.withBytes { last.append($0) }
      let next = index + 1 < root.terms.count ? root.terms[index + 1] : nil
      guard
        cursor.isAtEnd(
          documents: next?.documentsStart ?? file.byteCount(.documents),
          positions: next?.positionsStart ?? file.byteCount(.positions))
      else { throw .damaged }
    }
  }
}
