// SPDX-License-Identifier: Apache-2.0
//
// What a mail is: encrypted, signed, or neither. Only these places count, at the top of the mail or of what was
// decrypted; anything else that looks encrypted or signed is listed, and never opened or believed (Specs/mail.md).

public import MessageFormats
internal import Secrets

/// What a mail, or the content of one, is.
public enum MailShape: Sendable, Equatable {
  /// PGP/MIME (RFC 3156 section 4): the part with the message. A gateway may have changed the parts around it.
  case encrypted(part: Int, isRepaired: Bool)
  /// PGP/MIME (RFC 3156 section 5), perhaps with a text that a mailing list has added.
  case signed(content: Int, signature: Int, footer: Int?)
  /// A text of one part with a block in armor, perhaps with other text around it.
  case text(ArmoredBlock, isAlone: Bool)
  /// A text with several blocks.
  case severalTexts([ArmoredBlock])
  /// Neither; with the numbers of the parts that are encrypted somewhere inside.
  case plain(ciphertexts: [Int])

  /// What `mail` is at the top.
  public init(_ tree: MailTree, _ mail: RawSpan) {
    let root = tree.parts[0]
    if let part = Self.encrypted(tree, mail) {
      self = .encrypted(part: part, isRepaired: root.type == "multipart/mixed")
    } else if let signed = Self.signed(tree, mail) {
      self = signed
    } else if root.type == "text/plain", let text = Self.text(tree, mail) {
      self = text
    } else {
      self = .plain(ciphertexts: Self.ciphertexts(tree, mail))
    }
  }

  // MARK: Forms

  private static func encrypted(_ tree: MailTree, _ mail: RawSpan) -> Int? {
    let root = tree.parts[0]
    switch root.type {
    case "multipart/encrypted":
      guard root.parameter("protocol")?.lowercased() == "application/pgp-encrypted", root.children.count == 2
      else { return nil }
      return message(root.children, tree, mail)
    case "multipart/mixed":
      guard root.children.count == 3, isEmptyText(root.children[0], tree, mail) else { return nil }
      return message(Array(root.children.dropFirst()), tree, mail)
    default: return nil
    }
  }

  /// The second of the two parts of PGP/MIME.
  private static func message(_ parts: [Int], _ tree: MailTree, _ mail: RawSpan) -> Int? {
    guard tree.parts[parts[0]].type == "application/pgp-encrypted",
      tree.parts[parts[1]].type == "application/octet-stream"
    else { return nil }
    let version = tree.content(of: parts[0], in: mail)
    guard version.withBytes({ hasVersion($0) }) else { return nil }
    return parts[1]
  }

  private static func hasVersion(_ control: RawSpan) -> Bool {
    guard control.byteCount <= 1_000 else { return false }
    let text = unsafe control.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    return text.split(whereSeparator: \.isNewline).contains { line in
      let halves = line.split(separator: ":")
      return halves.count == 2 && halves[0].lowercased() == "version" && halves[1].filter { $0 != " " } == "1"
    }
  }

  private static func isEmptyText(_ index: Int, _ tree: MailTree, _ mail: RawSpan) -> Bool {
    guard tree.parts[index].type == "text/plain", tree.parts[index].body.count <= 1_000 else { return false }
    return tree.content(of: index, in: mail).withBytes { content in
      unsafe content.withUnsafeBytes { unsafe $0.allSatisfy { [0x20, 0x09, 0x0D, 0x0A].contains($0) } }
    }
  }

  private static func signed(_ tree: MailTree, _ mail: RawSpan) -> MailShape? {
    let root = tree.parts[0]
    if let (content, signature) = signedPair(0, tree) {
      return .signed(content: content, signature: signature, footer: nil)
    }
    guard root.type == "multipart/mixed", root.children.count == 2,
      let (content, signature) = signedPair(root.children[0], tree)
    else { return nil }
    let footer = root.children[1]
    guard tree.parts[footer].type == "text/plain", tree.parts[footer].body.count <= footerByteCountLimit,
      !tree.parts[footer].isAttachment
    else { return nil }
    return .signed(content: content, signature: signature, footer: footer)
  }

  private static func signedPair(_ index: Int, _ tree: MailTree) -> (content: Int, signature: Int)? {
    let part = tree.parts[index]
    guard part.type == "multipart/signed",
      part.parameter("protocol")?.lowercased() == "application/pgp-signature", part.children.count == 2,
      tree.parts[part.children[1]].type == "application/pgp-signature"
    else { return nil }
    return (part.children[0], part.children[1])
  }

  private static func text(_ tree: MailTree, _ mail: RawSpan) -> MailShape? {
    tree.content(of: 0, in: mail).withBytes { text in
      let blocks = ArmoredBlock.all(in: text)
      guard let first = blocks.first else { return nil }
      return blocks.count > 1 ? .severalTexts(blocks) : .text(first, isAlone: first.isAlone(in: text))
    }
  }

  /// The numbers of the parts that are encrypted, as far as that can be seen.
  private static func ciphertexts(_ tree: MailTree, _ mail: RawSpan) -> [Int] {
    let encrypted = tree.parts.filter { $0.type == "multipart/encrypted" }.flatMap { $0.children.dropFirst() }
    return tree.leaves().enumerated().filter { _, index in
      if encrypted.contains(index) { return true }
      let isText = tree.parts[index].type.hasPrefix("text/")
      return tree.content(of: index, in: mail).withBytes { content in
        isText
          ? ArmoredBlock.all(in: content).contains { $0.kind == .message }
          : ArmoredBlock.begins(content)
      }
    }.map { $0.offset + 1 }
  }

  /// What mailing lists add is a few lines.
  private static let footerByteCountLimit = 4 << 10
}
