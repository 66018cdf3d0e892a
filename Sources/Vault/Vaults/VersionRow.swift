// SPDX-License-Identifier: Apache-2.0
//
// A row of a message as other devices of the same user know it: every version is a row, with the same name everywhere.

internal import MessageFormats
internal import Primitives
package import Secrets
internal import Texts

/// One version of a message: a row.
package struct VersionRow: Sendable {
  /// Names the row.
  package let id: MessageID
  /// The first version of the message.
  package let message: MessageID
  package let standing: RowStanding
  /// When it was stored, in seconds since 1970, UTC.
  package let stored: Int64

  /// - Parameter stored: a time that no vault can have becomes the nearest that it can.
  package init(id: MessageID, message: MessageID, standing: RowStanding, stored: Int64) {
    self.id = id
    self.message = message
    self.standing = standing
    let range = CivilTime.representable
    self.stored = min(max(stored, range.lowerBound), range.upperBound)
  }

  /// What a frame says about the row that holds it (Specs/vault.md, "Frame").
  /// - Returns: the message, and the rows that this one replaced; nil when this is not a frame of that row, or holds what no
  ///   vault takes.
  package static func facts(
    of frame: RawSpan, row: MessageID
  ) -> (message: MessageID, replaced: [MessageID])? {
    guard let read = MessageFrame.read(frame), MessageFrame.accepts(read.metadata),
      frame.byteCount - read.contentOffset <= MessageLimits.messageByteCount
    else { return nil }
    guard let edition = read.edition else { return (row, []) }
    return edition.message == row ? nil : (edition.message, edition.replaced)
  }

  /// The title in a frame; nil when this is not one.
  package static func title(of frame: RawSpan) -> String? { MessageFrame.read(frame)?.metadata.title }
}

/// A change of a row that another device made.
package enum RowChange: Sendable {
  /// A version that is not here. It is stored as one that is shown.
  case insert(VersionRow, frame: SharedSecretBytes)
  /// Another standing.
  case set(MessageID, RowStanding)
}
