// SPDX-License-Identifier: Apache-2.0
//
// The columns of a list of messages, as `--columns` names them.

internal import MessageFormats
internal import Texts
internal import Vaults

enum MessageColumn: String, CaseIterable {
  /// The N of @N.
  case number
  case id
  case date
  /// Who sent a mail; what anything else is.
  case from
  case type
  case size
  case title
  case tags
  /// A mark.
  case attachment

  /// What a pipe gets unless others are named.
  static let ofPipes: [MessageColumn] = [.id, .date, .title, .tags]

  /// The columns of `--columns`; nil without the option.
  /// - Throws: an error of usage that names them.
  static func named(_ option: String?) throws -> [MessageColumn]? {
    guard let option else { return nil }
    let names = option.split(separator: ",", omittingEmptySubsequences: false).map {
      String($0).trimmingBlanks().lowercased()
    }
    var columns: [MessageColumn] = []
    for name in names {
      guard let column = MessageColumn(rawValue: name) else {
        throw Failure.usage(
          "there is no column '\(name)'",
          hint: "the columns are \(allCases.map(\.rawValue).joined(separator: ", "))")
      }
      guard !columns.contains(column) else { throw Failure.usage("the column '\(name)' occurs twice") }
      columns.append(column)
    }
    return columns
  }

  /// Whether only the content tells it.
  var needsContent: Bool { [.from, .size, .attachment].contains(self) }

  /// What `type` is called in a narrow column: `pdf` for `application/pdf`.
  static func shortType(_ type: String) -> String {
    let name = type.prefix { $0 != ";" }.trimmingBlanks().lowercased()
    switch name {
    case "text/plain": return "text"
    case "application/octet-stream": return "file"
    case MessageMetadata.mailType: return "mail"
    default: return String(name.split(separator: "/").last ?? "file")
    }
  }
}

/// What a list shows of a message beside its metadata.
struct MessageDetails {
  /// The From header of a mail, decoded; empty for anything else.
  var from = ""
  /// Whether a search for has:attachment finds it.
  var hasAttachment = false
  var byteCount: Int?

  /// The name of the sender, or the address if there is no name.
  var sender: String {
    let header = Substring(from)
    guard let angle = header.lastIndex(of: "<") else { return from }
    let name = header[..<angle].drop { $0 == " " || $0 == "\"" }
    let end = name.lastIndex { $0 != " " && $0 != "\"" }
    guard let end else { return String(header[header.index(after: angle)...].prefix { $0 != ">" }) }
    return String(name[...end])
  }
}

/// Finds the details of messages, one after the other, with buffers that are used again.
final class MessageDetailsReader {
  private var reader = MIMEReader()

  func details(_ metadata: MessageMetadata, _ content: RawSpan) -> MessageDetails {
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
