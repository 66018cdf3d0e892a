// SPDX-License-Identifier: Apache-2.0

internal import SearchIndex

/// When the search index is written, and how its segments are merged (Specs/search-index.md, "Writing").
package struct IndexLimits: Sendable {
  /// Messages that are read one by one at each search; more are indexed by the next command that writes.
  package var tailCount = 1_024
  /// The same in bytes of their boxes.
  package var tailByteCount = 2 << 20
  /// Most documents of a segment that is made from rows.
  package var documentCount = 8_192
  /// Upper ends of the tiers, in documents. Neighbours of one tier are merged; no segment is larger than the last.
  package var tiers = [8_192, 65_536, 131_072]
  /// How many neighbours of a tier become one.
  package var fanIn = 8
  /// A segment with no more documents loses marked ones at once: that takes less than a tenth of a second.
  package var instantPurgeCount = 16_384
  /// A larger one when one in so many is marked.
  package var markShare = 64
  /// Or when the first mark is so old.
  package var markAgeSeconds: Int64 = 86_400

  /// What coffers use.
  package static let standard = IndexLimits()

  package init() {}

  /// The tier of a segment.
  func tier(_ documentCount: Int) -> Int {
    tiers.firstIndex { documentCount <= $0 } ?? tiers.count
  }

  /// Most documents of a merged segment. It doubles when there are so many segments that the record would be full.
  func largest(segmentCount: Int) -> Int {
    (tiers.last ?? documentCount) * (segmentCount >= SearchRecord.segmentLimit / 2 ? 2 : 1)
  }

  /// Whether marked documents are taken out of a segment now.
  func isPurgeDue(_ segment: SearchRecord.Segment, now: Int64) -> Bool {
    guard !segment.marks.isEmpty else { return false }
    return isSmall(segment) || segment.marks.count * markShare >= segment.description.documentCount
      || now - segment.firstMarked >= markAgeSeconds
  }

  func isSmall(_ segment: SearchRecord.Segment) -> Bool {
    segment.description.documentCount <= instantPurgeCount
  }

  /// The neighbours that are merged next: ``fanIn`` of one tier.
  func nextMerge(_ segments: [SearchRecord.Segment]) -> Range<Int>? {
    let largest = largest(segmentCount: segments.count)
    for tier in tiers.indices {
      var start = 0
      for index in segments.indices {
        if self.tier(segments[index].description.documentCount) != tier { start = index + 1 }
        guard index + 1 - start == fanIn else { continue }
        let sum = segments[start...index].reduce(0) { $0 + $1.shownCount }
        if sum <= largest { return start..<index + 1 }
        start += 1
      }
    }
    return nil
  }

  /// The neighbours that are merged next when there shall be as few segments as the limit allows.
  func nextFullMerge(_ segments: [SearchRecord.Segment]) -> Range<Int>? {
    let largest = largest(segmentCount: segments.count)
    var start = 0
    var sum = 0
    for index in segments.indices {
      let count = segments[index].shownCount
      if sum + count > largest {
        if index - start > 1 { return start..<index }
        (start, sum) = (index, 0)
      }
      sum += count
    }
    return segments.count - start > 1 ? start..<segments.count : nil
  }
}
