// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import MessageFormats
internal import Primitives
internal import SearchIndex
internal import Secrets

/// Messages to be sorted, with as much of their metadata as fits.
struct SortedList: ~Copyable {
  struct Place {
    let key: Key
    let number: Int64
    /// Where its identifier and head are; nil when they did not fit.
    let offset: Int?
    /// Where it is in the search index; nil for one that was opened.
    var source: Source?

    var isKept: Bool { offset != nil }
  }

  /// A message in a segment.
  struct Source {
    let segment: Int
    let ordinal: UInt32
    /// The identifier under which it is listed.
    let id: MessageID
  }

  /// What a message is sorted by. Titles are in ordinary memory, as those that are shown.
  enum Key: Comparable {
    case number(Int64)
    case title(String)
  }

  private let order: Vault.Order
  private let byteCountLimit: Int
  private var places: [Place] = []
  /// For each message: identifier of the message (16) ‖ head of the frame.
  private var kept = SecretBytes(zeroed: 0)
  private var usedByteCount = 0

  /// - Parameters:
  ///   - order: what the messages are sorted by.
  ///   - byteCountLimit: how much metadata is kept.
  init(by order: Vault.Order, byteCountLimit: Int) {
    self.order = order
    self.byteCountLimit = byteCountLimit
  }

  mutating func append(_ row: MessageRow, _ metadata: MessageMetadata, head: RawSpan, contentByteCount: Int) {
    let key: Key =
      switch order {
      case .date: .number(metadata.date)
      case .stored: .number(row.number)
      case .size: .number(Int64(contentByteCount))
      case .title: Self.key(metadata.title)
      }
    let start = usedByteCount
    let end = start + MessageID.byteCount + head.byteCount
    guard end <= byteCountLimit else {
      places.append(Place(key: key, number: row.number, offset: nil))
      return
    }
    if end > kept.count { grow(to: end) }
    kept.withMutableBytes { bytes in
      row.message.withBytes { id in bytes.copy(id, to: start) }
      bytes.copy(head, to: start + MessageID.byteCount)
    }
    usedByteCount = end
    places.append(Place(key: key, number: row.number, offset: start))
  }

  /// Appends a message of a segment. Its metadata stays there.
  mutating func append(_ row: borrowing SegmentRow, segment: Int) {
    let key: Key =
      switch order {
      case .date: .number(row.date)
      case .stored: .number(row.number)
      case .size: .number(Int64(row.contentByteCount))
      case .title: Self.key(row.title)
      }
    let source = Source(segment: segment, ordinal: row.ordinal, id: row.id)
    places.append(Place(key: key, number: row.number, offset: nil, source: source))
  }

  private static func key(_ title: String) -> Key {
    .title(title.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
  }

  /// How many there are.
  var mark: Int { places.count }

  /// Takes out what was appended since there were so many.
  mutating func forget(after mark: Int) { places.removeLast(places.count - mark) }

  /// Takes out what is not among the first, when it is much.
  mutating func trim(to limit: Int, isReversed: Bool) {
    guard places.count / 2 > limit + Self.leastTrimmed else { return }
    places = Array(sorted(isReversed: isReversed).prefix(limit))
  }

  private static let leastTrimmed = 4_096

  private mutating func grow(to count: Int) {
    var larger = SecretBytes(zeroed: min(max(2 * kept.count, count, 4_096), byteCountLimit))
    kept.withBytes { former in larger.withMutableBytes { $0.copy(former, to: 0) } }
    swap(&kept, &larger)
  }

  /// Titles from A to Z, everything else from the newest or largest; of equals, the last that was stored comes first.
  borrowing func sorted(isReversed: Bool) -> [Place] {
    let sorted = places.sorted { first, second in
      if first.key == second.key { return first.number > second.number }
      return order == .title ? first.key < second.key : first.key > second.key
    }
    return isReversed ? sorted.reversed() : sorted
  }

  /// The kept part of a message.
  borrowing func metadata(_ place: Place) -> (MessageID, MessageMetadata)? {
    guard let offset = place.offset else { return nil }
    return kept.withBytes { bytes in
      let entry = bytes.extracting(droppingFirst: offset)
      guard let id = MessageID(entry.extracting(first: MessageID.byteCount)),
        let read = MessageFrame.read(entry.extracting(droppingFirst: MessageID.byteCount))
      else { return nil }
      return (id, read.metadata)
    }
  }
}
