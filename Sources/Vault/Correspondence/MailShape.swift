// SPDX-License-Identifier: Apache-2.0
//
// What a mail is: encrypted, signed, or neither. Only these places count, at the top of the mail or of what was
// decrypted; anything else that looks encrypted or signed is listed, and never opened or believed (Specs/mail.md).

public import MessageFormats
internal import OpenPGP
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
    } else if let part = Self.textPart(tree), let text = Self.text(part, tree, mail) {
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

  /// The one text of a mail without other parts.
  static func textPart(_ tree: MailTree) -> Int? {
    let root = tree.parts[0]
    if root.type == "text/plain" { return 0 }
    guard root.type == "multipart/mixed", root.children.count == 1, let part = root.children.first,
      tree.parts[part].type == "text/plain", !tree.parts[part].isAttachment
    else { return nil }
    return part
  }

  private static func text(_ part: Int, _ tree: MailTree, _ mail: RawSpan) -> MailShape? {
    tree.content(of: part, in: mail).withBytes { text in
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
      let content = SharedSecretBytes(tree.content(of: index, in: mail))
      let isArmored = content.withBytes { content in
        isText
          ? ArmoredBlock.all(in: content).contains { $0.kind == .message }
          : ArmoredBlock.begins(content)
      }
      return isArmored || !isText && isEncryptedPackets(content)
    }.map { $0.offset + 1 }
  }

  /// Whether an attachment is an encrypted message in packets: session keys, and what they open.
  private static func isEncryptedPackets(_ content: SharedSecretBytes) -> Bool {
    // The highest bit of a packet's first octet is set, that of a text or of most files is not.
    let mayBePacket = content.withBytes {
      unsafe $0.byteCount > 1 && $0.unsafeLoad(fromByteOffset: 0, as: UInt8.self) & 0x80 != 0
    }
    guard mayBePacket else { return false }
    do throws(OpenPGPError) {
      _ = try MessageRecipients(reading: MemorySource(content))
      return true
    } catch {
      return error == .refused(.noIntegrityProtection)
    }
  }

  /// What mailing lists add is a few lines.
  private static let footerByteCountLimit = 4 << 10
}
