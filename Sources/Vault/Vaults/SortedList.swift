// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import MessageFormats
internal import Primitives
internal import SearchIndex
internal import Secrets

/// The first messages of an order, with as much of their metadata as fits.
struct SortedList: ~Copyable {
  struct Place {
    let rank: Rank
    /// Where its identifier and head are; nil when they did not fit.
    let offset: Int?
    /// Where it is in the search index; nil for one that was opened.
    var source: Source?

    var number: Int64 { rank.number }
    var isKept: Bool { offset != nil }
  }

  /// What decides where a message is in the order.
  struct Rank {
    let key: Key
    /// The identifier under which it is listed, which is the same on all devices.
    let id: MessageID
    /// Of its row.
    let number: Int64
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
  private let isReversed: Bool
  /// At most so many are wanted.
  private let limit: Int
  private let byteCountLimit: Int
  private var places: [Place] = []
  /// The last of those that are wanted, once there are enough.
  private var last: Rank?
  /// For each message: identifier of the message (16) ‖ head of the frame.
  private var kept = SecretBytes(zeroed: 0)
  private var usedByteCount = 0

  /// - Parameters:
  ///   - selection: the order, and how many are wanted.
  ///   - byteCountLimit: how much metadata is kept.
  init(_ selection: Vault.Selection, byteCountLimit: Int) {
    order = selection.order
    isReversed = selection.isReversed
    limit = selection.limit ?? .max
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
    let rank = Rank(key: key, id: row.message, number: row.number)
    guard takes(rank) else { return }
    let start = usedByteCount
    let end = start + MessageID.byteCount + head.byteCount
    guard end <= byteCountLimit else {
      return append(Place(rank: rank, offset: nil))
    }
    if end > kept.count { grow(to: end) }
    kept.withMutableBytes { bytes in
      row.message.withBytes { id in bytes.copy(id, to: start) }
      bytes.copy(head, to: start + MessageID.byteCount)
    }
    usedByteCount = end
    append(Place(rank: rank, offset: start))
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
    let rank = Rank(key: key, id: row.id, number: row.number)
    guard takes(rank) else { return }
    let source = Source(segment: segment, ordinal: row.ordinal, id: row.id)
    append(Place(rank: rank, offset: nil, source: source))
  }

  private mutating func append(_ place: Place) {
    places.append(place)
    guard places.count >= limit, last == nil || places.count - limit >= Self.mostUnwanted else { return }
    places = Array(sorted())
    last = places.last?.rank
  }

  /// How many more than wanted are kept before they are sorted and dropped.
  private static let mostUnwanted = 1_024

  private static func key(_ title: String) -> Key {
    .title(title.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
  }

  /// Whether a message would be among those that are wanted, as far as they are known.
  func takes(_ rank: Rank) -> Bool {
    if let last { return precedes(rank, last) }
    return limit > 0
  }

  /// The first that a message with one of these dates and row numbers can be; nil if the order is another one.
  /// - Parameter dates: nil for a group without a message that opens.
  func best(dates: ClosedRange<Int64>?, numbers: ClosedRange<Int64>) -> Rank? {
    let number = isReversed ? numbers.lowerBound : numbers.upperBound
    let id = isReversed ? MessageID.lowest : .highest
    switch order {
    case .date:
      return dates.map {
        Rank(key: .number(isReversed ? $0.lowerBound : $0.upperBound), id: id, number: number)
      }
    case .stored: return Rank(key: .number(number), id: id, number: number)
    case .title, .size: return nil
    }
  }

  private mutating func grow(to count: Int) {
    var larger = SecretBytes(zeroed: min(max(2 * kept.count, count, 4_096), byteCountLimit))
    kept.withBytes { former in larger.withMutableBytes { $0.copy(former, to: 0) } }
    swap(&kept, &larger)
  }

  /// Titles from A to Z, everything else from the newest or largest; of equals, the last that was added comes first.
  /// Identifiers say which that is: a row's number says when it came to this device.
  func precedes(_ first: Rank, _ second: Rank) -> Bool {
    let (first, second) = isReversed ? (second, first) : (first, second)
    if first.key == second.key { return (first.id, first.number) > (second.id, second.number) }
    return order == .title ? first.key < second.key : first.key > second.key
  }

  /// Those that are wanted, in order.
  borrowing func sorted() -> ArraySlice<Place> {
    places.sorted { precedes($0.rank, $1.rank) }.prefix(limit)
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
