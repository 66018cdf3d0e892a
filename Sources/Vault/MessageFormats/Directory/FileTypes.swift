// SPDX-License-Identifier: Apache-2.0
//
// Media types and the endings of file names, both ways.

enum FileTypes {
  /// The media type of a file. Text content always gets a text type, whatever its name; the ending of the
  /// name decides which, and the type of other content.
  static func contentType(ofName name: String, _ content: RawSpan) -> String {
    let known = contentType(ofEnding: name)
    guard MessageMetadata.isText(content) else { return known ?? MessageMetadata.binaryType }
    return known.flatMap { kindsOfText.contains($0) ? $0 : nil } ?? MessageMetadata.noteType
  }

  private static func contentType(ofEnding name: String) -> String? {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    let ending = name[name.index(after: dot)...].lowercased()
    return types.first { $0.endings.contains(ending) }?.contentType
  }

  /// The ending for a file of a media type, without its dot.
  static func ending(ofType contentType: String) -> String {
    let bare = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
    for type in types where type.contentType.prefix(while: { $0 != ";" }) == bare { return type.endings[0] }
    return bare.hasPrefix("text/") ? "txt" : "bin"
  }

  /// The types of the table that are written in letters.
  private static let kindsOfText: Set = [
    MessageMetadata.mailType, MessageMetadata.noteType, "text/html; charset=utf-8", "text/csv; charset=utf-8",
    "application/json", "application/xml", "image/svg+xml",
  ]

  private static let types: [(contentType: String, endings: [String])] = [
    (MessageMetadata.mailType, ["eml"]),
    (MessageMetadata.noteType, ["txt", "md", "text"]),
    ("text/html; charset=utf-8", ["html", "htm"]),
    ("text/csv; charset=utf-8", ["csv"]),
    ("application/json", ["json"]),
    ("application/pdf", ["pdf"]),
    ("application/xml", ["xml"]),
    ("application/zip", ["zip"]),
    ("image/jpeg", ["jpg", "jpeg"]),
    ("image/png", ["png"]),
    ("image/gif", ["gif"]),
    ("image/webp", ["webp"]),
    ("image/heic", ["heic"]),
    ("image/svg+xml", ["svg"]),
    ("audio/mpeg", ["mp3"]),
    ("video/mp4", ["mp4"]),
  ]
}
