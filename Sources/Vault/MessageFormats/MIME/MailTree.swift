// SPDX-License-Identifier: Apache-2.0
//
// A mail as a tree of parts (RFC 5322, RFC 2045, RFC 2046), with the places of the parts in its bytes. Specs/mail.md
// says what is refused: whatever another program could read in another way, because a signature or an encryption would
// then be shown around something that it does not protect. Nothing is repaired.
//
// Where nothing is signed or encrypted, such a mail may be read like other programs do: what is odd in it decides nothing
// but how a part is called, or where the last one ends.

internal import Texts
public import Secrets

/// Why a mail is not read as a tree.
@nonexhaustive
public enum MailTreeError: Error, Equatable, Sendable {
  /// A line in the headers is not one, or there are control characters.
  case header
  /// A header that says how the content is to be read occurs twice, or cannot be read.
  case contentHeader
  /// A multipart without a usable boundary, or with that of a part around it.
  case boundary
  /// A multipart without an end, without parts, or with something like a part after its end.
  case unclosed
  /// More than ``MessageLimits`` allow.
  case overLimit
}

/// One header.
public struct MailField: Sendable {
  /// In lower case.
  public let name: String
  /// Where its value is, with line ends.
  public let value: Range<Int>
  /// Where all of it is, with its line end.
  public let line: Range<Int>
}

/// A mail, or the content of one, as a tree.
public struct MailTree: Sendable {
  /// How a body is encoded (RFC 2045 section 6).
  public enum Encoding: Sendable { case plain, base64, quotedPrintable }

  /// One part.
  public struct Part: Sendable {
    /// Its headers, the empty line and its body: what a signature over it covers (RFC 3156 section 5).
    public let entity: Range<Int>
    /// The body as it is encoded.
    public let body: Range<Int>
    /// Its headers, in their order.
    public let fields: [MailField]
    /// Its media type without parameters, in lower case.
    public let type: String
    /// The encoding of the body.
    public let encoding: Encoding
    /// The name of a file, decoded and not cleaned; nil for none.
    public let name: String?
    /// Whether it is to be an attachment (RFC 2183).
    public let isAttachment: Bool
    /// The parts of a multipart.
    public fileprivate(set) var children: [Int] = []
    private let parameters: MailParameters?
    /// Whether something is encrypted or signed by it.
    fileprivate var isProtection: Bool {
      type == "multipart/signed" || type == "multipart/encrypted" || type.hasPrefix("application/pgp-")
        || type.hasPrefix("application/pkcs7-") || type.hasPrefix("application/x-pkcs7-")
    }

    /// A parameter of the media type, if it is ASCII; `name` is in lower case.
    public func parameter(_ name: String) -> String? { parameters?.plain(name) }

    /// Whether its parts cannot be found.
    fileprivate var isWhole = false

    /// Whether it consists of parts.
    public var isMultipart: Bool { type.hasPrefix("multipart/") && !isWhole }
    /// Whether it is text that can be shown.
    public var isText: Bool { type == "text/plain" || type == "text/html" }

    fileprivate init(
      _ bytes: RawSpan, _ entity: Range<Int>, _ reading: Reading
    ) throws(MailTreeError) {
      let (fields, body) = try MailTree.fields(bytes, entity, reading)
      (self.entity, self.body, self.fields) = (entity, body, fields)
      guard reading == .strict else {
        func first(_ name: String) -> Range<Int>? { fields.first { $0.name == name }?.value }
        parameters = first("content-type").map { MailParameters(tolerant: bytes, $0) }
        let disposition = first("content-disposition").map { MailParameters(tolerant: bytes, $0) }
        let word = parameters?.word ?? ""
        type = Self.isType(word) ? word : "text/plain"
        encoding = first("content-transfer-encoding").map { Self.likelyEncoding(bytes, $0) } ?? .plain
        isAttachment = disposition?.word == "attachment"
        name = disposition?.text("filename") ?? parameters?.text("name")
        return
      }
      parameters = try Self.single("content-type", fields).map { (field) throws(MailTreeError) in
        guard let found = MailParameters(bytes, field.value) else { throw .contentHeader }
        return found
      }
      type = parameters?.word ?? "text/plain"
      guard Self.isType(type) else { throw .contentHeader }
      encoding =
        try Self.single("content-transfer-encoding", fields).map { (field) throws(MailTreeError) in
          try Self.encoding(bytes, bytes.trimmed(field.value))
        } ?? .plain
      // Its name and place decide nothing, so one that cannot be read is left out.
      let disposition = try Self.single("content-disposition", fields).flatMap {
        MailParameters(bytes, $0.value)
      }
      isAttachment = disposition?.word == "attachment"
      name = disposition?.text("filename") ?? parameters?.text("name")
    }

    /// A text that is not a mail.
    fileprivate init(opaque bytes: RawSpan) {
      (entity, body, fields) = (bytes.whole, bytes.whole, [])
      (type, encoding, name, isAttachment) = ("text/plain", .plain, nil, false)
      parameters = nil
    }

    private static func single(
      _ name: String, _ fields: [MailField]
    ) throws(MailTreeError) -> MailField? {
      let found = fields.filter { $0.name == name }
      guard found.count <= 1 else { throw .contentHeader }
      return found.first
    }

    private static func isType(_ word: String) -> Bool {
      let halves = word.split(separator: "/", omittingEmptySubsequences: false)
      return halves.count == 2 && halves.allSatisfy { !$0.isEmpty }
    }

    /// The encoding that a header names among other things; none for one that is not known.
    private static func likelyEncoding(_ bytes: RawSpan, _ value: Range<Int>) -> Encoding {
      let text = bytes.string(bytes.trimmed(value)).lowercased().drop { $0 == "\"" }
      return text.hasPrefix("base64")
        ? .base64 : text.hasPrefix("quoted-printable") ? .quotedPrintable : .plain
    }

    private static func encoding(_ bytes: RawSpan, _ value: Range<Int>) throws(MailTreeError) -> Encoding {
      switch bytes.string(value).lowercased() {
      case "7bit", "8bit", "binary": return .plain
      case "base64": return .base64
      case "quoted-printable": return .quotedPrintable
      default: throw .contentHeader
      }
    }
  }

  /// How a mail is read.
  enum Reading {
    /// Refuses what could be read in two ways.
    case strict
    /// Takes the first of two meanings, and the rest of the mail for a part without an end.
    case tolerant
  }

  /// The mail itself, and then its parts, each before those in it.
  public private(set) var parts: [Part] = []

  /// Reads a whole mail.
  public init(_ mail: RawSpan) throws(MailTreeError) {
    try self.init(mail, .strict)
  }

  /// Reads a whole mail also if it is not well made, unless something in it is signed or encrypted.
  public init(tolerant mail: RawSpan) throws(MailTreeError) {
    try self.init(mail, .tolerant)
    if parts.contains(where: \.isProtection) { self = try MailTree(mail) }
  }

  private init(_ mail: RawSpan, _ reading: Reading) throws(MailTreeError) {
    guard mail.byteCount <= MessageLimits.messageByteCount else { throw .overLimit }
    _ = try read(mail, mail.whole, reading, boundaries: [])
  }

  /// A content that is not a mail, as one text. No header around it says how it is to be read.
  public init(text: RawSpan) { parts = [Part(opaque: text)] }

  /// The parts that have no parts, in their order. Their places here, from one, are the numbers of parts.
  public func leaves(below root: Int = 0) -> [Int] {
    let part = parts[root]
    return part.isMultipart ? part.children.flatMap { leaves(below: $0) } : [root]
  }

  /// The number of a part without parts, from one.
  public func number(of index: Int) -> Int? { leaves().firstIndex(of: index).map { $0 + 1 } }

  /// The decoded body of a part.
  public func content(of index: Int, in mail: RawSpan) -> SecretBytes {
    let part = parts[index]
    let body = mail.extracting(part.body)
    var decoded = ByteBuffer(capacity: part.encoding == .plain ? 0 : body.byteCount)
    switch part.encoding {
    case .plain: return SecretBytes(copying: body)
    case .base64: Base64.decode(body, into: &decoded)
    case .quotedPrintable: QuotedPrintable.decodeBody(body, into: &decoded)
    }
    return decoded.withBytes { SecretBytes(copying: $0) }
  }

  // MARK: Reading

  private mutating func read(
    _ bytes: RawSpan, _ entity: Range<Int>, _ reading: Reading, boundaries: [[UInt8]]
  ) throws(MailTreeError) -> Int {
    guard parts.count < MessageLimits.mimePartCount else { throw .overLimit }
    let index = parts.count
    let part = try Part(bytes, entity, reading)
    parts.append(part)
    guard part.isMultipart else { return index }
    guard boundaries.count < MessageLimits.mimeNesting else { throw .overLimit }
    do throws(MailTreeError) {
      guard part.encoding == .plain || reading == .tolerant else { throw .contentHeader }
      guard let boundary = part.parameter("boundary").map({ Array($0.utf8) }),
        1...MessageLimits.boundaryByteCount ~= boundary.count, boundary.last != ASCII.space,
        !boundaries.contains(boundary)
      else { throw .boundary }
      for entity in try Self.entities(bytes, part.body, boundary, reading) {
        let child = try read(bytes, entity, reading, boundaries: boundaries + [boundary])
        parts[index].children.append(child)
      }
    } catch {
      guard reading == .tolerant, error != .overLimit else { throw error }
      parts[index].isWhole = true
    }
    return index
  }

  /// What is between the delimiter lines (RFC 2046 section 5.1.1).
  private static func entities(
    _ bytes: RawSpan, _ body: Range<Int>, _ boundary: [UInt8], _ reading: Reading
  ) throws(MailTreeError) -> [Range<Int>] {
    let delimiter = Array("--".utf8) + boundary
    var entities: [Range<Int>] = []
    var (start, isClosed): (Int?, Bool) = (nil, false)
    var offset = body.lowerBound
    while let hit = bytes.firstOffset(of: delimiter.rawSpan, in: offset..<body.upperBound) {
      let lineEnd = bytes.lineEnd(from: hit, until: body.upperBound)
      offset = lineEnd
      guard hit == body.lowerBound || bytes.byte(hit - 1) == ASCII.newline else { continue }
      let after = hit + delimiter.count
      let isClose = after + 2 <= lineEnd && bytes.matches("--", at: after)
      guard bytes.trimmed((isClose ? after + 2 : after)..<lineEnd).isEmpty else { continue }
      if isClosed, reading == .tolerant { break }
      guard !isClosed else { throw .unclosed }
      if let start {
        guard entities.count < MessageLimits.mimePartCount else { throw .overLimit }
        entities.append(start..<max(start, contentEnd(bytes, before: hit)))
      }
      isClosed = isClose
      start = isClose ? nil : lineEnd
    }
    if let start, reading == .tolerant {
      entities.append(start..<body.upperBound)
      isClosed = true
    }
    guard isClosed, !entities.isEmpty else { throw .unclosed }
    return entities
  }

  /// Without the line end that belongs to the delimiter after it.
  private static func contentEnd(_ bytes: RawSpan, before delimiter: Int) -> Int {
    var end = delimiter
    if end > 0, bytes.byte(end - 1) == ASCII.newline { end -= 1 }
    if end > 0, end < delimiter, bytes.byte(end - 1) == ASCII.carriageReturn { end -= 1 }
    return end
  }
}
