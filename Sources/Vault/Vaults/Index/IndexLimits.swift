// SPDX-License-Identifier: Apache-2.0

internal import SearchIndex
internal import Storage

/// When the search index is written, and how its segments are merged (Specs/search-index.md, "Writing").
package struct IndexLimits: Sendable {
  /// Messages that are read one by one at each search; more are indexed by the next command that writes.
  package var tailCount = 1_024
  /// The same in bytes of their boxes.
  package var tailByteCount = 2 << 20
  /// Most documents of a segment that is made from rows.
  package var documentCount = 8_192
  /// Upper ends of the tiers, in documents. Neighbours of one tier are merged.
  package var tiers = [8_192, 65_536]
  /// Most documents of a merged segment.
  package var mergedDocumentCount = 131_072
  /// How many neighbours of a tier become one.
  package var fanIn = 8
  /// With so many segments they are merged also while many messages come.
  package var mergedFrom = 64
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
    mergedDocumentCount * (segmentCount >= SearchRecord.segmentLimit / 2 ? 2 : 1)
  }

  /// Whether the result of a merge is not too large for a segment, by its messages and by its blocks, of which it may
  /// have a few more than they.
  private func fits(_ segments: ArraySlice<SearchRecord.Segment>, _ largest: Int) -> Bool {
    segments.reduce(0) { $0 + $1.shownCount } <= largest
      && segments.reduce(0) { $0 + $1.description.blockCount } <= SegmentDescription.blockCountLimit / 2
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
  /// - Parameter failed: names of segments that are left alone.
  func nextMerge(_ segments: [SearchRecord.Segment], except failed: Set<BlobName> = []) -> Range<Int>? {
    let largest = largest(segmentCount: segments.count)
    for tier in tiers.indices {
      var start = 0
      for (index, segment) in segments.enumerated() {
        if self.tier(segment.description.documentCount) != tier || failed.contains(segment.description.id) {
          start = index + 1
        }
        guard index + 1 - start == fanIn else { continue }
        if fits(segments[start...index], largest) { return start..<index + 1 }
        start += 1
      }
    }
    return nil
  }

  /// The neighbours that are merged next when there shall be as few segments as the limit allows.
  /// - Parameter failed: names of segments that are left alone.
  func nextFullMerge(_ segments: [SearchRecord.Segment], except failed: Set<BlobName> = []) -> Range<Int>? {
    let largest = largest(segmentCount: segments.count)
    var start = 0
    for (index, segment) in segments.enumerated() {
      let hasFailed = failed.contains(segment.description.id)
      guard hasFailed || !fits(segments[start...index], largest) else { continue }
      if index - start > 1 { return start..<index }
      start = hasFailed ? index + 1 : index
    }
    return segments.count - start > 1 ? start..<segments.count : nil
  }
}
