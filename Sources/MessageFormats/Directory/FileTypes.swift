// SPDX-License-Identifier: Apache-2.0
//
// Media types and the endings of file names, both ways.

enum FileTypes {
  /// The media type of a file by the ending of its name.
  static func contentType(ofName name: String) -> String {
    guard let dot = name.lastIndex(of: ".") else { return MessageMetadata.binaryType }
    let ending = name[name.index(after: dot)...].lowercased()
    for type in types where type.endings.contains(ending) { return type.contentType }
    return MessageMetadata.binaryType
  }

  /// The ending for a file of a media type, without its dot.
  static func ending(ofType contentType: String) -> String {
    let bare = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
    for type in types where type.contentType.prefix(while: { $0 != ";" }) == bare { return type.endings[0] }
    return bare.hasPrefix("text/") ? "txt" : "bin"
  }

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
