// SPDX-License-Identifier: Apache-2.0
//
// The parts of a stored mail: what `message show` names after the text, and `message save` writes to files. Anything
// else that is stored is one part, with its title as the name.

internal import MessageFormats
internal import Secrets

/// The parts of a message, numbered from one.
struct StoredParts {
  struct Part: Encodable {
    let number: Int
    let type: String
    /// As the sender chose it; nil for none.
    let name: String?
    let byteCount: Int
    /// Whether it is a file, and not text that is shown.
    let attachment: Bool
  }

  let parts: [Part]
  /// Nil for what is not a mail.
  private let tree: MailTree?

  /// - Throws: `MailTreeError` for a mail whose parts cannot be told apart.
  init(_ metadata: MessageMetadata, _ content: RawSpan) throws(MailTreeError) {
    guard metadata.isMail else {
      tree = nil
      parts = [
        Part(
          number: 1, type: metadata.contentType, name: metadata.title.isEmpty ? nil : metadata.title,
          byteCount: content.byteCount, attachment: true)
      ]
      return
    }
    let tree = try MailTree(tolerant: content)
    self.tree = tree
    parts = tree.leaves().enumerated().map { position, index in
      let part = tree.parts[index]
      return Part(
        number: position + 1, type: part.type, name: part.name,
        byteCount: tree.content(of: index, in: content).count,
        attachment: part.isAttachment || part.name != nil || !part.isText)
    }
  }

  var attachments: [Part] { parts.filter(\.attachment) }

  /// The decoded bytes of a part.
  func bytes(of part: Part, in content: RawSpan) -> SecretBytes {
    guard let tree else { return SecretBytes(copying: content) }
    return tree.content(of: tree.leaves()[part.number - 1], in: content)
  }

  /// A part in one line. What the sender chose is in quotation marks.
  static func line(_ part: Part) -> String {
    line(number: part.number, name: part.name, type: part.type, byteCount: part.byteCount)
  }

  static func line(number: Int, name: String?, type: String, byteCount: Int) -> String {
    let name = name.map { LetterWords.quoted(PartName.cleaned($0, number: number)) + ", " } ?? ""
    return "[\(number)] \(name)\(TypeName.shown(type)), \(ByteCount.text(byteCount))"
  }
}
