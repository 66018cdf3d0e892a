// SPDX-License-Identifier: Apache-2.0
//
// What a mail says, once it was decrypted or its signature was verified: what is shown with bars, what without, and what
// can be said about it.

public import MessageFormats
public import OpenPGP
public import Secrets

/// A mail that may be shown.
public struct MailContent: Sendable {
  /// Where the parts are.
  public let bytes: SharedSecretBytes
  /// The parts.
  public let tree: MailTree
  /// The part that the verdict is about.
  public let root: Int
  /// The headers that are shown.
  public let heading: MailHeading
  /// Whether all of ``bytes`` was encrypted.
  public let isEncrypted: Bool
  /// What the signatures are worth.
  public let verdict: Verdict
  /// What was added to the mail outside of the signature.
  public let footer: Int?
  /// Text around a block, which nothing protects.
  public let others: [SharedSecretBytes]
  /// What to know besides.
  public let notes: [Note]

  /// Something to know about a mail.
  public enum Note: Equatable, Sendable {
    /// A gateway has changed its form.
    case repaired
    /// There is text around what was encrypted or signed.
    case mixed
    /// Something was added that is not signed.
    case partlySigned
    /// The mail names another sender than the signer.
    case senderDiffers
    /// Headers outside are not those inside.
    case headersChanged
    /// What was encrypted is not a mail, and is one text.
    case notAMail
  }

  /// Whether there is a good signature by somebody whose key is here.
  public var isSigned: Bool { verdict.grade == .verified || verdict.grade == .unverified }

  /// How much of what is shown is signed, by somebody whose key is here.
  public var coverage: Coverage {
    guard isSigned else { return .none }
    return isWhole ? .all : .part
  }

  /// How much of a mail is signed.
  public enum Coverage: String, Sendable { case all, part, none }

  /// Whether nothing of what is shown is outside of the protection.
  public var isWhole: Bool { footer == nil && others.isEmpty && heading.lines.allSatisfy(\.isProtected) }

  private init(
    _ bytes: SharedSecretBytes, _ tree: MailTree, root: Int, _ heading: MailHeading, isEncrypted: Bool,
    _ verdict: Verdict, footer: Int? = nil, others: [SharedSecretBytes] = [], notes: [Note] = []
  ) {
    (self.bytes, self.tree, self.root, self.heading) = (bytes, tree, root, heading)
    (self.isEncrypted, self.verdict, self.footer, self.others) = (isEncrypted, verdict, footer, others)
    var notes = notes
    if !others.isEmpty { notes.append(.mixed) }
    if footer != nil, isEncrypted || verdict.grade != .none { notes.append(.partlySigned) }
    if let addresses = verdict.decisive?.addresses, heading.differs(from: addresses) {
      notes.append(.senderDiffers)
    }
    if !heading.changed.isEmpty { notes.append(.headersChanged) }
    self.notes = notes
  }

  // MARK: What is shown

  /// The texts that are shown and the other parts, each as an index of the tree.
  public var shown: (texts: [Int], attachments: [Int]) {
    var found: (texts: [Int], attachments: [Int]) = ([], [])
    walk(root, into: &found)
    return found
  }

  private func walk(_ index: Int, into found: inout (texts: [Int], attachments: [Int])) {
    let part = tree.parts[index]
    if part.type == "multipart/alternative" {
      let children = part.children
      let best =
        children.first { tree.parts[$0].type == "text/plain" } ?? children.first {
          tree.parts[$0].isMultipart
        }
        ?? children.first { tree.parts[$0].isText }
      if let best { return walk(best, into: &found) }
    }
    if part.isMultipart {
      for child in part.children where !isHeaderCopy(child, in: part) { walk(child, into: &found) }
    } else if part.isText, !part.isAttachment {
      found.texts.append(index)
    } else {
      found.attachments.append(index)
    }
  }

  /// Whether a part only repeats the protected headers for old programs.
  private func isHeaderCopy(_ index: Int, in parent: MailTree.Part) -> Bool {
    let part = tree.parts[index]
    return heading.hidesCopies && parent.children.first == index && part.type == "text/rfc822-headers"
      && part.parameter("protected-headers") == "v1"
  }

  /// A text as it is shown: of HTML the text alone, with the addresses of its links.
  public func text(_ index: Int) -> String {
    let part = tree.parts[index]
    var content = bytes.withBytes { tree.content(of: index, in: $0) }
    if heading.hidesCopies, heading.protection == .headerProtection, part.type == "text/plain",
      part.parameter("hp-legacy-display") == "1"
    {
      content = content.withBytes { bytes in
        SecretBytes(copying: bytes.extracting(MailTree.legacyDisplayByteCount(bytes)..<bytes.byteCount))
      }
    }
    return Self.text(content, part)
  }

  /// The text around a block, in the charset of its part.
  public func text(other: SharedSecretBytes, in mail: MailTree) -> String {
    let copy = other.withBytes { SecretBytes(copying: $0) }
    return Self.text(copy, mail.parts[MailShape.textPart(mail) ?? 0])
  }

  private static func text(_ content: borrowing SecretBytes, _ part: MailTree.Part) -> String {
    let charset = part.parameter("charset").map { "; charset=\"\($0)\"" } ?? ""
    var reader = MIMEReader(isForPeople: true)
    var text = ""
    content.withBytes { bytes in
      reader.readText(bytes, contentType: part.type + charset) { read in
        text = unsafe read.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
    }
    return text
  }

  /// Whether the part is under what the verdict is about.
  public func isProtected(_ index: Int) -> Bool { tree.leaves(below: root).contains(index) }
}

extension MailLetter {
  /// The mail, if it is signed and not encrypted.
  /// - Throws: ``MailError``.
  public func verified(_ judge: SignatureJudge) throws(MailError) -> MailContent {
    do throws(OpenPGPError) {
      switch shape {
      case .signed(let content, let signature, let footer):
        return try MailContent(signed: self, content, signature, footer: footer, judge)
      case .text(let block, _) where block.kind == .signedText:
        return try MailContent(signedText: block.range, of: self, judge)
      case .severalTexts, .encrypted, .text, .plain: break
      }
    } catch {
      throw .badSignaturePart
    }
    switch shape {
    case .encrypted, .text: throw .encrypted
    case .severalTexts: throw .severalTexts
    case .plain, .signed: throw .notSigned
    }
  }
}

extension MailContent {
  /// A mail that is signed and not encrypted.
  fileprivate init(
    signed mail: MailLetter, _ content: Int, _ signature: Int, footer: Int?, _ judge: SignatureJudge
  ) throws(OpenPGPError) {
    let (tree, bytes) = (mail.tree, mail.bytes)
    let found = try bytes.withBytes { (span) throws(OpenPGPError) in
      try judge.verifications(of: content, signature: signature, in: tree, span, reader: nil)
    }
    let heading = bytes.withBytes {
      MailHeading(tree, $0, content: tree, part: content, $0, isEncrypted: false)
    }
    self.init(
      bytes, tree, root: content, heading, isEncrypted: false, judge.verdict(found, isEncrypted: false),
      footer: footer)
  }

  /// A mail with a readable signed text, perhaps with other text around it.
  fileprivate init(
    signedText range: Range<Int>, of letter: MailLetter, _ judge: SignatureJudge
  ) throws(OpenPGPError) {
    let block = MemorySource(letter.excerpt(range))
    guard case .cleartext(let message) = try OpenPGPInput(block) else {
      throw .malformed(.cleartextSignature)
    }
    let sink = MailSink()
    let found = try message.verify(with: judge.verifier, writingTo: sink) { _ in true }
    let text = sink.finish()
    let heading = letter.bytes.withBytes { MailHeading(letter.tree, $0) }
    // The headers around the text are not signed, so none of them says how it is read: it is UTF-8.
    let tree = text.withBytes { MailTree(text: $0) }
    self.init(
      text, tree, root: 0, heading, isEncrypted: false,
      judge.verdict(found, unreadable: message.unreadableSignatureCount, isEncrypted: false),
      others: letter.others(around: range))
  }

  /// A mail whose top was decrypted.
  /// - Parameters:
  ///   - content: what was decrypted.
  ///   - isText: whether it was a block in a text, and not a mail of its own.
  ///   - others: the text around it.
  ///   - verifications: of the message's own signatures.
  ///   - unreadable: how many signatures it has besides that cannot be read.
  ///   - reader: the identity that has opened it; nil for a password.
  ///   - opensParts: whether a part was named, so that a second layer is a part like others.
  /// - Throws: ``MailError/nested`` for a second layer of encryption; ``MailError/badSignaturePart``.
  public init(
    decrypted content: SharedSecretBytes, of mail: MailLetter, isText: Bool, others: [SharedSecretBytes],
    _ verifications: [SignatureVerification], unreadable: Int = 0, reader: Fingerprint?,
    _ judge: SignatureJudge,
    opensParts: Bool = false
  ) throws(MailError) {
    var (notes, root, footer): ([Note], Int, Int?) = ([], 0, nil)
    if case .encrypted(_, isRepaired: true) = mail.shape { notes.append(.repaired) }
    let parsed = isText ? nil : content.withBytes { try? MailTree($0) }
    let isMail = parsed.map { !$0.parts[0].fields.isEmpty } ?? false
    if !isText, !isMail { notes.append(.notAMail) }
    let tree = content.withBytes { bytes in
      isMail ? parsed ?? MailTree(text: bytes) : MailTree(text: bytes)
    }
    var verifications = verifications
    switch content.withBytes({ isMail ? MailShape(tree, $0) : .plain(ciphertexts: []) }) {
    case .encrypted where !opensParts: throw .nested
    case .text(let block, isAlone: true) where block.kind == .message && !opensParts: throw .nested
    case .signed(let signed, let signature, let added):
      (root, footer) = (signed, added)
      do throws(OpenPGPError) {
        verifications += try content.withBytes { (bytes) throws(OpenPGPError) in
          try judge.verifications(of: signed, signature: signature, in: tree, bytes, reader: reader)
        }
      } catch { throw .badSignaturePart }
    default: break
    }
    let part = root
    let heading = mail.bytes.withBytes { outer in
      content.withBytes { MailHeading(mail.tree, outer, content: tree, part: part, $0, isEncrypted: true) }
    }
    self.init(
      content, tree, root: root, heading, isEncrypted: true,
      judge.verdict(
        verifications, unreadable: unreadable, isEncrypted: true, hadPassword: reader == nil),
      footer: footer, others: others, notes: notes)
  }
}
