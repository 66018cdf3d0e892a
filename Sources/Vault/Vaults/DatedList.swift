// SPDX-License-Identifier: Apache-2.0

internal import MessageFormats
internal import Primitives
internal import Secrets

/// Messages to be sorted by date, with as much of their metadata as fits.
struct DatedList: ~Copyable {
  struct Place {
    let date: Int64
    let number: Int64
    /// Where its identifier and head are; nil when they did not fit.
    let offset: Int?

    var isKept: Bool { offset != nil }
  }

  private let byteCountLimit: Int
  private var places: [Place] = []
  /// For each message: identifier of the message (16) ‖ head of the frame.
  private var kept = SecretBytes(zeroed: 0)
  private var usedByteCount = 0

  init(byteCountLimit: Int) { self.byteCountLimit = byteCountLimit }

  mutating func append(_ row: MessageRow, date: Int64, head: RawSpan) {
    let start = usedByteCount
    let end = start + MessageID.byteCount + head.byteCount
    guard end <= byteCountLimit else {
      places.append(Place(date: date, number: row.number, offset: nil))
      return
    }
    if end > kept.count { grow(to: end) }
    kept.withMutableBytes { bytes in
      row.message.withBytes { id in bytes.copy(id, to: start) }
      bytes.copy(head, to: start + MessageID.byteCount)
    }
    usedByteCount = end
    places.append(Place(date: date, number: row.number, offset: start))
  }

  private mutating func grow(to count: Int) {
    var larger = SecretBytes(zeroed: min(max(2 * kept.count, count, 4_096), byteCountLimit))
    kept.withBytes { former in larger.withMutableBytes { $0.copy(former, to: 0) } }
    swap(&kept, &larger)
  }

  borrowing func newestFirst() -> [Place] {
    places.sorted { ($0.date, $0.number) > ($1.date, $1.number) }
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
