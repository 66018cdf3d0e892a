// SPDX-License-Identifier: Apache-2.0

public import MessageFormats
internal import Primitives

/// Names one version of a message.
public struct VersionID: Hashable, Sendable {
  let row: MessageID
}

/// One version of a message, that which is shown or an earlier one.
public struct MessageVersion: Sendable {
  /// Names it.
  public let id: VersionID
  /// From 1; the one that is shown has the highest.
  public private(set) var number: Int
  /// When it was stored, in seconds since 1970, UTC.
  public let stored: Int64
  /// Its title, tags, type and date.
  public let metadata: MessageMetadata
  /// Bytes of its content.
  public let byteCount: Int
  /// Whether lists, searches and exports show it.
  public let isShown: Bool
  /// The versions that its author had seen.
  let replaced: [MessageID]

  init(_ row: MessageRow, _ metadata: MessageMetadata, _ edition: FrameEdition?, byteCount: Int) {
    id = VersionID(row: row.id)
    number = edition?.number ?? 1
    stored = row.timestamp
    self.metadata = metadata
    self.byteCount = byteCount
    isShown = row.standing == .shown
    replaced = edition?.replaced ?? []
  }

  /// Whether its author had seen that version. If not, both were written beside each other.
  public func replaces(_ former: MessageVersion) -> Bool { replaced.contains(former.id.row) }

  /// Whether both replaced one version, each without having seen the other.
  public func isBeside(_ other: MessageVersion) -> Bool {
    !replaces(other) && !other.replaces(self) && replaced.contains { other.replaced.contains($0) }
  }
}

extension MessageVersion {
  func with(number: Int) -> MessageVersion {
    var version = self
    version.number = number
    return version
  }
}

extension OpenedMessage {
  var version: MessageVersion {
    MessageVersion(row, metadata, edition, byteCount: withContent { $0.byteCount })
  }
}
