// SPDX-License-Identifier: Apache-2.0
//
// Public parts that a mail brings (Specs/mail.md, "Keys in mail"). They are offered and never obeyed: nothing is stored
// without the user, and nothing else of what a mail says about keys is read.

public import Contacts
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Secrets

/// Where a mail brings public parts.
public struct MailKeys: Sendable {
  /// Files that are said to be public parts, as they came.
  private let files: [SharedSecretBytes]
  /// The header, if there is exactly one, and it is for the address that the mail is from.
  private let header: AutocryptHeader?

  /// Of a mail that was decrypted: what is inside before what is outside.
  public init(_ content: MailContent, of letter: MailLetter) {
    self.init(
      content.tree, content.root, content.bytes, letter, sender: content.heading.sender,
      hasOuterFiles: !content.isEncrypted)
  }

  /// Of a mail that is not encrypted: what is signed before what is not. No signature is verified.
  public init(_ letter: MailLetter) {
    var root = 0
    if case .signed(let content, _, _) = letter.shape { root = content }
    let (tree, part) = (letter.tree, root)
    let heading = letter.bytes.withBytes {
      MailHeading(tree, $0, content: tree, part: part, $0, isEncrypted: false)
    }
    self.init(tree, root, letter.bytes, letter, sender: heading.sender, hasOuterFiles: true)
  }

  private init(
    _ tree: MailTree, _ root: Int, _ bytes: SharedSecretBytes, _ letter: MailLetter, sender: String?,
    hasOuterFiles: Bool
  ) {
    var files = Self.files(tree, below: root, bytes)
    if files.isEmpty, hasOuterFiles { files = Self.files(letter.tree, below: 0, letter.bytes) }
    self.files = files
    var found = bytes.withBytes { tree.autocrypt(of: root, in: $0) }
    if found.count == 0 { found = letter.bytes.withBytes { letter.tree.autocrypt(of: 0, in: $0) } }
    header = found.only.flatMap { header in
      header.address.lowercased() == sender?.lowercased() ? header : nil
    }
  }

  private static func files(
    _ tree: MailTree, below root: Int, _ bytes: SharedSecretBytes
  ) -> [SharedSecretBytes] {
    tree.leaves(below: root).compactMap { index in
      let type = tree.parts[index].type
      guard type == keyType || type == anyType && tree.parts[index].body.count <= Self.anyByteCountLimit
      else { return nil }
      let file = SharedSecretBytes(bytes.withBytes { tree.content(of: index, in: $0) })
      return type == keyType || isPublicPart(file) ? file : nil
    }
  }

  private static let keyType = "application/pgp-keys"
  /// What programs write that do not know the kind of a file.
  private static let anyType = "application/octet-stream"
  /// Of such a file, encoded: more than any contact's public part has.
  private static let anyByteCountLimit = 1 << 20

  /// Whether a file is a public part and nothing else.
  private static func isPublicPart(_ file: SharedSecretBytes) -> Bool {
    do throws(ContactError) { return try PublicParts(file).count > 0 } catch { return error == .privateKey }
  }

  /// The public parts, copies of one made one; nil if the mail brings none.
  ///
  /// That of the header counts only if it claims the address that it is for.
  /// - Throws: `ContactError`, such as `.privateKey` for a file with a private key, which refuses all.
  public func publicParts() throws(ContactError) -> PublicParts? {
    var pieces: [PublicParts] = []
    for file in files { pieces.append(try PublicParts(file)) }
    if let header, let parts = try Self.parts(header) { pieces.append(parts) }
    return pieces.isEmpty ? nil : PublicParts(merging: pieces)
  }

  /// Nil for what is not one public part with the header's address.
  private static func parts(_ header: AutocryptHeader) throws(ContactError) -> PublicParts? {
    let bytes = SharedSecretBytes(SecretBytes(copying: header.keyData.rawSpan))
    let parts: PublicParts
    do throws(ContactError) { parts = try PublicParts(bytes) } catch {
      if error == .privateKey { throw error }
      return nil
    }
    guard parts.certificates.count == 1 else { return nil }
    let claimed = parts.certificates[0].userIDs.compactMap {
      UserIDText(String(decoding: $0.packet.bytes, as: UTF8.self)).address?.lowercased()
    }
    return claimed.contains(header.address.lowercased()) ? parts : nil
  }
}
