// SPDX-License-Identifier: Apache-2.0
//
// A mail as a tree of parts (RFC 5322, RFC 2045, RFC 2046), with the places of the parts in its bytes. Specs/mail.md
// says what is refused: whatever another program could read in another way, because a signature or an encryption would
// then be shown around something that it does not protect. Nothing is repaired.

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

    /// A parameter of the media type, if it is ASCII; `name` is in lower case.
    public func parameter(_ name: String) -> String? { parameters?.plain(name) }

    /// Whether it consists of parts.
    public var isMultipart: Bool { type.hasPrefix("multipart/") }
    /// Whether it is text that can be shown.
    public var isText: Bool { type == "text/plain" || type == "text/html" }

    fileprivate init(_ bytes: RawSpan, _ entity: Range<Int>) throws(MailTreeError) {
      let (fields, body) = try MailTree.fields(bytes, entity)
      (self.entity, self.body, self.fields) = (entity, body, fields)
      parameters = try Self.single("content-type", fields).map { (field) throws(MailTreeError) in
        guard let found = MailParameters(bytes, field.value) else { throw .contentHeader }
        return found
      }
      type = parameters?.word ?? "text/plain"
      let halves = type.split(separator: "/", omittingEmptySubsequences: false)
      guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty }) else { throw .contentHeader }
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

    private static func encoding(_ bytes: RawSpan, _ value: Range<Int>) throws(MailTreeError) -> Encoding {
      switch bytes.string(value).lowercased() {
      case "7bit", "8bit", "binary": return .plain
      case "base64": return .base64
      case "quoted-printable": return .quotedPrintable
      default: throw .contentHeader
      }
    }
  }

  /// The mail itself, and then its parts, each before those in it.
  public private(set) var parts: [Part] = []

  /// Reads a whole mail.
  public init(_ mail: RawSpan) throws(MailTreeError) {
    guard mail.byteCount <= MessageLimits.messageByteCount else { throw .overLimit }
    _ = try read(mail, mail.whole, boundaries: [])
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
    _ bytes: RawSpan, _ entity: Range<Int>, boundaries: [[UInt8]]
  ) throws(MailTreeError) -> Int {
    guard parts.count < MessageLimits.mimePartCount else { throw .overLimit }
    let index = parts.count
    let part = try Part(bytes, entity)
    parts.append(part)
    guard part.isMultipart else { return index }
    guard boundaries.count < MessageLimits.mimeNesting else { throw .overLimit }
    guard part.encoding == .plain else { throw .contentHeader }
    guard let boundary = part.parameter("boundary").map({ Array($0.utf8) }),
      1...MessageLimits.boundaryByteCount ~= boundary.count, boundary.last != ASCII.space,
      !boundaries.contains(boundary)
    else { throw .boundary }
    for entity in try Self.entities(bytes, part.body, boundary) {
      let child = try read(bytes, entity, boundaries: boundaries + [boundary])
      parts[index].children.append(child)
    }
    return index
  }

  /// What is between the delimiter lines (RFC 2046 section 5.1.1).
  private static func entities(
    _ bytes: RawSpan, _ body: Range<Int>, _ boundary: [UInt8]
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
      guard !isClosed else { throw .unclosed }
      if let start {
        guard entities.count < MessageLimits.mimePartCount else { throw .overLimit }
        entities.append(start..<max(start, contentEnd(bytes, before: hit)))
      }
      isClosed = isClose
      start = isClose ? nil : lineEnd
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

  // MARK: Headers

  /// The headers of an entity, and where its body is.
  private static func fields(
    _ bytes: RawSpan, _ entity: Range<Int>
  ) throws(MailTreeError) -> ([MailField], Range<Int>) {
    var fields: [MailField] = []
    var offset = entity.lowerBound
    while offset < entity.upperBound {
      let lineEnd = bytes.lineEnd(from: offset, until: entity.upperBound)
      let line = try headerLine(bytes, offset..<lineEnd)
      if line.isEmpty { return (fields, lineEnd..<entity.upperBound) }
      guard lineEnd - entity.lowerBound <= MessageLimits.headerSectionByteCount,
        fields.count < Self.fieldCountLimit
      else { throw .overLimit }
      if ASCII.isBlank(bytes.byte(offset)) {
        guard let last = fields.popLast() else { throw .header }
        fields.append(
          MailField(
            name: last.name, value: last.value.lowerBound..<line.upperBound,
            line: last.line.lowerBound..<lineEnd))
      } else {
        fields.append(try field(bytes, line, until: lineEnd))
      }
      offset = lineEnd
    }
    return (fields, entity.upperBound..<entity.upperBound)
  }

  /// The line without its end.
  private static func headerLine(_ bytes: RawSpan, _ whole: Range<Int>) throws(MailTreeError) -> Range<Int> {
    var end = whole.upperBound
    if end > whole.lowerBound, bytes.byte(end - 1) == ASCII.newline {
      end -= 1
      if end > whole.lowerBound, bytes.byte(end - 1) == ASCII.carriageReturn { end -= 1 }
    }
    let line = whole.lowerBound..<end
    for control: UInt8 in [0, ASCII.carriageReturn] {
      guard bytes.firstOffset(of: control, in: line) == nil else { throw .header }
    }
    return line
  }

  private static func field(
    _ bytes: RawSpan, _ line: Range<Int>, until lineEnd: Int
  ) throws(MailTreeError) -> MailField {
    guard let colon = bytes.firstOffset(of: ASCII.colon, in: line), colon > line.lowerBound else {
      throw .header
    }
    for offset in line.lowerBound..<colon where !(0x21..<0x7F ~= bytes.byte(offset)) { throw .header }
    let name = bytes.string(line.lowerBound..<colon).lowercased()
    return MailField(name: name, value: colon + 1..<line.upperBound, line: line.lowerBound..<lineEnd)
  }

  /// A real mail has some fifty.
  private static let fieldCountLimit = 2_000
}

extension MailTree {
  /// Whether bytes begin like a mail: lines of headers, among them some that every mail has.
  ///
  /// An OpenPGP message, armored or not, does not.
  public static func isMail(_ beginning: RawSpan) -> Bool {
    var offset = 0
    var found: Set<String> = []
    while offset < beginning.byteCount {
      let lineEnd = beginning.lineEnd(from: offset, until: beginning.byteCount)
      guard let line = try? headerLine(beginning, offset..<lineEnd) else { return false }
      if line.isEmpty { break }
      if !ASCII.isBlank(beginning.byte(offset)) {
        guard let field = try? field(beginning, line, until: lineEnd) else { break }
        found.insert(field.name)
      } else if offset == 0 {
        return false
      }
      offset = lineEnd
    }
    return found.contains("mime-version") && found.contains("content-type")
      || found.contains("from")
        && !found.isDisjoint(with: ["to", "date", "subject", "received", "message-id"])
  }
}
