// SPDX-License-Identifier: Apache-2.0
//
// A mail that is written: the part that is encrypted or signed, with the headers in it (RFC 9788, and
// `protected-headers="v1"` for programs that know only that), and the mail around it (RFC 3156). CR LF and 7 bits
// throughout. Specs/mail.md has an example.

public import Secrets
internal import Texts

/// Why a mail cannot be written.
@nonexhaustive
public enum MailDraftError: Error, Equatable, Sendable {
  /// The text is not UTF-8, or has NUL.
  case notText
  /// The subject has control characters, or is too long.
  case subject
  /// Something that is not `Name <address>` with an address in ASCII.
  case address(String)
  /// More than a mail may have.
  case tooLarge
}

/// Somebody whom a mail is from or goes to.
public struct Mailbox: Sendable, Equatable {
  /// What to call them; nil for an address alone.
  public let name: String?
  /// The address, in ASCII.
  public let address: String

  /// - Throws: ``MailDraftError/address(_:)``.
  public init(name: String?, address: String) throws(MailDraftError) {
    let bytes = unsafe address.utf8Span.span.bytes
    guard MailAddress.list(bytes, bytes.whole)?.map(\.address) == [address],
      !(name ?? "").unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
    else { throw .address(address) }
    (self.name, self.address) = (name, address)
  }

  /// `Name <address>`, or an address.
  /// - Throws: ``MailDraftError/address(_:)``.
  public init(_ text: String) throws(MailDraftError) {
    let bytes = unsafe text.utf8Span.span.bytes
    guard let list = MailAddress.list(bytes, bytes.whole), list.count == 1 else { throw .address(text) }
    try self.init(name: list[0].name.isEmpty ? nil : list[0].name, address: list[0].address)
  }

  var header: String {
    guard let name else { return address }
    return "\(HeaderText.phrase(name)) <\(address)>"
  }
}

/// A mail before it is encrypted or signed.
public struct MailDraft: Sendable {
  /// A file that goes with it.
  public struct File: Sendable {
    /// Its name without folders.
    public let name: String
    /// Its content.
    public let content: SharedSecretBytes
    let type: String

    /// A file; its type follows from its name and its content.
    public init(name: String, content: SharedSecretBytes) {
      let found = content.withBytes { MessageMetadata.contentType(ofFileNamed: name, $0) }
      // What is encoded cannot have the type of a mail (RFC 2046 section 5.2.1).
      self.init(name: name, type: found.hasPrefix("message/") ? MessageMetadata.binaryType : found, content)
    }

    /// A file of this type.
    public init(name: String, type: String, _ content: SharedSecretBytes) {
      (self.name, self.type, self.content) = (name, type, content)
    }
  }

  /// The sender's public part, which goes along inside of the protection.
  public struct PublicPart: Sendable {
    let header: AutocryptHeader
    let file: File

    /// - Parameters:
    ///   - address: the sender's.
    ///   - packets: the public part, as small as it can be.
    ///   - armored: the same as text (RFC 3156 section 7).
    public init(address: String, packets: [UInt8], armored: SharedSecretBytes) {
      header = AutocryptHeader(address: address, keyData: packets)
      file = File(name: "\(address).asc", type: "application/pgp-keys", armored)
    }
  }

  /// Random texts, which nothing in a mail can contain by chance.
  public struct Marks: Sendable {
    let outer: String
    let inner: String
    let messageID: String

    /// - Parameter random: 48 random bytes.
    public init(random: [UInt8]) {
      precondition(random.count == 48, "three marks of 16 bytes")
      let texts = stride(from: 0, to: 48, by: 16).map { start in
        random[start..<start + 16].flatMap { [ASCII.hexDigit($0 >> 4), ASCII.hexDigit($0 & 15)] }
      }.map { String(decoding: $0, as: UTF8.self) }
      (outer, inner, messageID) = (texts[0], texts[1], texts[2])
    }
  }

  private let from: Mailbox
  private let to: [Mailbox]
  private let subject: String
  private let date: String
  private let text: SharedSecretBytes
  private let files: [File]
  private let marks: Marks
  /// A header that is only inside.
  private let autocrypt: AutocryptHeader?

  /// - Parameters:
  ///   - date: seconds since 1970.
  ///   - text: UTF-8; one line end at its end is not part of the mail.
  ///   - publicPart: of the sender; nil for none.
  /// - Throws: ``MailDraftError``.
  public init(
    from: Mailbox, to: [Mailbox], subject: String, date: Int64, text: SharedSecretBytes, files: [File],
    marks: Marks, publicPart: PublicPart? = nil
  ) throws(MailDraftError) {
    let files = files + [publicPart?.file].compactMap(\.self)
    guard text.withBytes({ MessageMetadata.isText($0) }) else { throw .notText }
    guard subject.utf8.count <= Self.subjectByteCountLimit,
      !subject.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
    else { throw .subject }
    // Encoded, it is up to half as long again.
    let byteCount = files.reduce(3 * text.count) { $0 + $1.content.count / 2 * 3 }
    guard byteCount <= MessageLimits.messageByteCount else { throw .tooLarge }
    (self.from, self.to, self.subject, self.text) = (from, to, subject, text)
    (self.files, self.marks, autocrypt) = (files, marks, publicPart?.header)
    var written = ByteBuffer(capacity: 64)
    MailDate.appendHeader(date, into: &written)
    self.date = written.withBytes { $0.string($0.whole) }
  }

  // MARK: Headers

  private func heads(subject: String) -> [String] {
    ["From: \(from.header)"] + (to.isEmpty ? [] : ["To: \(to.map(\.header).joined(separator: ",\r\n "))"])
      + ["Date: \(date)", subject.isEmpty ? "Subject:" : "Subject: \(HeaderText.unstructured(subject))"]
  }

  private func outerHeaders(subject: String, _ contentType: String) -> String {
    let domain = from.address.split(separator: "@").last.map(String.init) ?? "localhost"
    return
      (heads(subject: subject)
      + ["Message-ID: <\(marks.messageID)@\(domain)>", "MIME-Version: 1.0", "Content-Type: \(contentType)"])
      .map { $0 + "\r\n" }.joined() + "\r\n"
  }

  // MARK: Encrypted

  /// What is encrypted: the headers, the text and the files.
  public func encryptedPart() -> SharedSecretBytes {
    let said = heads(subject: Self.outerSubject).map { "HP-Outer: \($0)" }
    return part("hp=\"cipher\"", heads(subject: subject) + said)
  }

  /// The mail around the armored message, before it and after it.
  public func encryptedMail() -> (before: String, after: String) {
    let type = "multipart/encrypted; protocol=\"application/pgp-encrypted\";\r\n boundary=\"\(marks.outer)\""
    let before =
      outerHeaders(subject: Self.outerSubject, type)
        + """
        --\(marks.outer)
        Content-Type: application/pgp-encrypted
        Content-Description: PGP/MIME version identification

        Version: 1

        --\(marks.outer)
        Content-Type: application/octet-stream; name="encrypted.asc"
        Content-Description: OpenPGP encrypted message
        Content-Disposition: inline; filename="encrypted.asc"


        """.replacing("\n", with: "\r\n")
    return (before, "\r\n--\(marks.outer)--\r\n")
  }

  // MARK: Signed

  /// What is signed: no line of it ends with a blank or begins with "From ", so that no program changes it.
  public func signedPart() -> SharedSecretBytes { part("hp=\"clear\"", heads(subject: subject)) }

  /// The mail around the part that is signed and the armored signature: before, between and after them.
  /// - Parameter hash: the name of the hash algorithm in lower case.
  public func signedMail(hash: String) -> (before: String, between: String, after: String) {
    let type =
      "multipart/signed; micalg=pgp-\(hash);\r\n protocol=\"application/pgp-signature\";\r\n boundary=\"\(marks.outer)\""
    let between = """

      --\(marks.outer)
      Content-Type: application/pgp-signature; name="signature.asc"
      Content-Description: OpenPGP digital signature
      Content-Disposition: attachment; filename="signature.asc"


      """.replacing("\n", with: "\r\n")
    return (
      outerHeaders(subject: subject, type) + "--\(marks.outer)\r\n", between, "\r\n--\(marks.outer)--\r\n"
    )
  }

  // MARK: Parts

  /// A multipart, also around a text alone: Thunderbird looks for `protected-headers` on a multipart only.
  private func part(_ protection: String, _ headers: [String]) -> SharedSecretBytes {
    var buffer = ByteBuffer(
      capacity: 2 * text.count + files.reduce(4 << 10) { $0 + $1.content.count / 2 * 3 })
    buffer.append(
      "Content-Type: multipart/mixed; boundary=\"\(marks.inner)\";\r\n protected-headers=\"v1\"; \(protection)\r\n"
    )
    for header in headers { buffer.append(header + "\r\n") }
    if let autocrypt { buffer.append(autocrypt.text) }
    buffer.append(
      "\r\n--\(marks.inner)\r\nContent-Type: text/plain; charset=utf-8\r\n"
        + "Content-Transfer-Encoding: quoted-printable\r\n\r\n")
    text.withBytes { QuotedPrintable.encode($0, into: &buffer) }
    for file in files {
      let name = HeaderText.fileName(file.name)
      buffer.append(
        "\r\n--\(marks.inner)\r\nContent-Type: \(file.type)\r\nContent-Transfer-Encoding: base64\r\n"
          + "Content-Disposition: attachment;\r\n \(name)\r\n\r\n")
      file.content.withBytes { Self.append(base64: $0, to: &buffer) }
    }
    buffer.append("\r\n--\(marks.inner)--\r\n")
    return SharedSecretBytes(buffer.withBytes { SecretBytes(copying: $0) })
  }

  private static func append(base64 bytes: RawSpan, to buffer: inout ByteBuffer) {
    for start in stride(from: 0, to: bytes.byteCount, by: 57) {
      if start > 0 { buffer.append("\r\n") }
      Base64.encode(bytes.extracting(start..<min(start + 57, bytes.byteCount)), into: &buffer)
    }
  }

  /// The subject outside of an encrypted mail: in no language, and of no program.
  private static let outerSubject = "[...]"
  /// Encoded, it stays below the 998 characters that servers promise for each of its lines.
  private static let subjectByteCountLimit = 4 << 10
}

/// Texts in headers, in ASCII.
enum HeaderText {
  /// A subject: as it is, or in encoded words (RFC 2047), each in a line of its own.
  static func unstructured(_ text: String) -> String {
    let isPlain =
      text.utf8.allSatisfy { 0x20..<0x7F ~= $0 } && !text.contains("=?") && text.utf8.count <= 66
      && text.first != " " && text.last != " "
    return isPlain ? text : encodedWords(text)
  }

  /// A name before an address.
  static func phrase(_ text: String) -> String {
    guard text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }), !text.contains("=?"), text.utf8.count <= 66 else {
      return encodedWords(text)
    }
    let isAtoms = text.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x20 || $0 == 0x2D }
    if isAtoms, text.first != " ", text.last != " " { return text }
    return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// The parameter of a file's name (RFC 2183, RFC 2231).
  static func fileName(_ name: String) -> String {
    let name = String(name.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
    if name.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) {
      return "filename=\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
    let encoded = name.utf8.map { byte -> String in
      let isPlain = ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.dot || byte == ASCII.dash
      let digits = [ASCII.percent, ASCII.upperHexDigit(byte >> 4), ASCII.upperHexDigit(byte & 15)]
      return String(decoding: isPlain ? [byte] : digits, as: UTF8.self)
    }
    return "filename*=utf-8''\(encoded.joined())"
  }

  private static func encodedWords(_ text: String) -> String {
    var words: [String] = []
    var piece: [UInt8] = []
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if piece.count + bytes.count > pieceByteCount {
        words.append(word(piece))
        piece = []
      }
      piece += bytes
    }
    return (words + [word(piece)]).joined(separator: "\r\n ")
  }

  private static func word(_ bytes: [UInt8]) -> String {
    var buffer = ByteBuffer(capacity: 96)
    unsafe Base64.encode(bytes.span.bytes, into: &buffer)
    return "=?utf-8?B?" + buffer.withBytes { $0.string($0.whole) } + "?="
  }

  /// An encoded word has at most 75 characters (RFC 2047 section 2); a header's name comes before the first.
  private static let pieceByteCount = 39
}

extension QuotedPrintable {
  /// Appends text encoded, with CR LF; a line end at its end goes. No line ends with a blank or begins with "From ".
  static func encode(_ text: RawSpan, into buffer: inout ByteBuffer) {
    var column = 0
    var offset = 0
    let end = contentEnd(text)
    while offset < end {
      if let lineEnd = lineEnd(text, at: offset) {
        buffer.append("\r\n")
        (offset, column) = (lineEnd, 0)
        continue
      }
      let byte = text.byte(offset)
      let next = offset + 1
      let isLast = next == end || lineEnd(text, at: next) != nil
      let isPlain =
        0x21..<0x7F ~= byte && byte != ASCII.equals && !(column == 0 && (byte == 0x46 || byte == ASCII.dot))
        || ASCII.isBlank(byte) && !isLast
      let count = isPlain ? 1 : 3
      // 76 characters with the sign of a soft line break.
      if column + count > 75 {
        buffer.append("=\r\n")
        column = 0
        continue
      }
      if isPlain {
        buffer.append(byte)
      } else {
        buffer.append(ASCII.equals)
        buffer.append(ASCII.upperHexDigit(byte >> 4))
        buffer.append(ASCII.upperHexDigit(byte & 15))
      }
      column += count
      offset = next
    }
  }

  private static func contentEnd(_ text: RawSpan) -> Int {
    var end = text.byteCount
    if end > 0, text.byte(end - 1) == ASCII.newline { end -= 1 }
    if end > 0, end < text.byteCount, text.byte(end - 1) == ASCII.carriageReturn { end -= 1 }
    return end
  }

  /// After the line end at `offset`; nil if there is none.
  private static func lineEnd(_ text: RawSpan, at offset: Int) -> Int? {
    if text.byte(offset) == ASCII.newline { return offset + 1 }
    return text.matches("\r\n", at: offset) ? offset + 2 : nil
  }
}
