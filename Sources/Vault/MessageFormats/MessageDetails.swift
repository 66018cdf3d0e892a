// SPDX-License-Identifier: Apache-2.0
//
// What lists show of a message beside its metadata: it is in the content, and in the search index.

/// The sender, the size, and whether something is attached.
public struct MessageDetails: Sendable, Equatable {
  /// The From header of a mail, decoded; empty for anything else.
  public var from: String
  /// Whether a search for `has:attachment` finds it.
  public var hasAttachment: Bool
  /// Bytes of the content; nil if they are not known.
  public var byteCount: Int?

  /// The details of a message.
  public init(from: String = "", hasAttachment: Bool = false, byteCount: Int? = nil) {
    self.from = from
    self.hasAttachment = hasAttachment
    self.byteCount = byteCount
  }

  /// The name of the sender, or the address if there is no name.
  public var sender: String {
    let header = Substring(from)
    guard let angle = header.lastIndex(of: "<") else { return from }
    let name = header[..<angle].drop { $0 == " " || $0 == "\"" }
    let end = name.lastIndex { $0 != " " && $0 != "\"" }
    guard let end else { return String(header[header.index(after: angle)...].prefix { $0 != ">" }) }
    return String(name[...end])
  }
}

/// Finds the details of messages, one after the other, with buffers that are used again.
public final class MessageDetailsReader {
  private var reader = MIMEReader()

  /// A reader without a message.
  public init() {}

  /// Reads the content of a message as far as its first attachment.
  public func details(_ metadata: MessageMetadata, _ content: RawSpan) -> MessageDetails {
    var details = MessageDetails(byteCount: content.byteCount)
    guard metadata.isMail else {
      details.hasAttachment = metadata.isFile
      return details
    }
    var hasFrom = false
    reader.read(content) { item, text in
      switch item {
      case .from where !hasFrom:
        details.from = unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        hasFrom = true
      case .attachment:
        // After the headers.
        details.hasAttachment = true
        return false
      default: break
      }
      return true
    }
    return details
  }
}
