// SPDX-License-Identifier: Apache-2.0
//
// What the search index is made of, for people.

internal import Primitives
internal import SearchIndex
internal import Storage

extension Vault {
  /// The state of the search index.
  public struct IndexStatus: Sendable, Equatable {
    /// Files that the index consists of.
    public var segmentCount = 0
    /// Bytes of these files.
    public var byteCount = 0
    /// Messages that are in them.
    public var indexedCount = 0
    /// Messages that lists and searches show.
    public var messageCount = 0
    /// Messages that have left, whose words are still in a file.
    public var markCount = 0
    /// Why the index, or a part of it, cannot be used.
    public var trouble: IndexTrouble?
  }

  /// Opens every segment, and tells what there is.
  ///
  /// - Parameter isDeep: whether to read every block, and not just those that tell where the others are.
  /// - Returns: nil when there is no index.
  public func indexStatus(isDeep: Bool = false) throws -> IndexStatus? {
    var status = IndexStatus()
    for _ in 1...Self.triesBesideWriters {
      let index = try openIndex()
      guard case .open(let open) = index else {
        if case .none = index { return nil }
        return IndexStatus(messageCount: try read { _, state, _ in state.shown.count }, trouble: .damaged)
      }
      status = IndexStatus(
        indexedCount: open.record.indexed.count, messageCount: open.state.shown.count)
      for segment in open.segments {
        status.segmentCount += 1
        status.byteCount += segment.segment.description.byteCount
        status.markCount += segment.segment.marks.count
        do throws(SegmentError) {
          let reader = try segment.reader.get()
          if isDeep { try reader.verify() }
        } catch { status.trouble.note(error) }
      }
      // A writer beside this may have taken a segment away.
      guard try status.trouble != nil && read({ _, state, _ in state != open.state }) else { return status }
    }
    return status
  }
}
