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
