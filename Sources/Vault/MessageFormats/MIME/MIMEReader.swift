// SPDX-License-Identifier: Apache-2.0
//
// The readable text of a mail (RFC 2045 to 2049). Everything is bounded by `MessageLimits`: deeper or further
// parts are ignored. A mail that breaks the rules gives less text, never an error. Plain text in UTF-8 is
// lent where it lies; the rest passes through reused, erased buffers.

internal import Texts

/// Finds and decodes the headers for people and the text parts of mails.
///
/// One reader serves any number of mails, one after the other.
public struct MIMEReader: ~Copyable, Sendable {
  /// The kind of a piece of text.
  public enum Item: Sendable, Equatable {
    /// The Subject header, decoded (RFC 2047).
    case subject
    /// The From header, decoded.
    case from
    /// The To header, decoded.
    case to
    /// The Cc header, decoded.
    case cc
    /// Before an attachment: the name of the file, decoded and not cleaned; empty for none.
    case attachment
    /// For people, before a text part: the name of its charset, which is not known.
    case unknownCharset
    /// A text part, decoded; HTML has been reduced to its text.
    case text
  }

  private var decoded = ByteBuffer(capacity: 8 << 10)
  private var converted = ByteBuffer(capacity: 8 << 10)
  private var stripped = ByteBuffer(capacity: 8 << 10)
  private var words = EncodedWords()
  private var converters = CharsetConverters()

  private let isForPeople: Bool

  /// A reader with its buffers, which grow with the mails that it reads.
  /// - Parameter isForPeople: whether the text is read, and not only searched: of alternatives (RFC 2046 section 5.1.4)
  ///   the first that has text, and HTML with the addresses of links and without runs of empty lines.
  public init(isForPeople: Bool = false) { self.isForPeople = isForPeople }

  /// Hands the subject, sender, recipients, text parts and names of attachments of `mail` to `body`, in their order,
  /// as UTF-8. Ends early when `body` returns false.
  public mutating func read<E: Error>(
    _ mail: RawSpan, _ body: (Item, RawSpan) throws(E) -> Bool
  ) throws(E) {
    var walk = Walk()
    _ = try readEntity(mail, mail.whole, depth: 0, &walk, body)
  }

  /// Hands `content`, text of the type `contentType` without headers, to `body` as UTF-8.
  public mutating func readText<E: Error>(
    _ content: RawSpan, contentType: String, _ body: (RawSpan) throws(E) -> Void
  ) throws(E) {
    let typeBytes = unsafe contentType.utf8Span.span.bytes
    let type = MediaType(typeBytes, typeBytes.whole)
    _ = try readLeaf(
      content, charset: typeBytes.extracting(type.charset),
      isHTML: typeBytes.equals("html", in: type.subtype)
    ) { (_, text) throws(E) in
      try body(text)
      return true
    }
  }

  /// The state of reading one mail.
  private struct Walk {
    var partCount = 0
  }

  // MARK: Structure

  /// One mail or one part: headers, empty line, body. False when `body` wants no more.
  private mutating func readEntity<E: Error>(
    _ bytes: RawSpan, _ range: Range<Int>, depth: Int, _ walk: inout Walk,
    _ body: (Item, RawSpan) throws(E) -> Bool
  ) throws(E) -> Bool {
    walk.partCount += 1
    guard walk.partCount <= MessageLimits.mimePartCount, depth <= MessageLimits.mimeNesting else {
      return true
    }
    var headers = MailHeaderWalk(range)
    var content = MailContentHeaders()
    while let field = headers.next(bytes) {
      if depth == 0, let item = Self.item(bytes, field.name) {
        if try !readHeader(bytes, field.value, item, body) { return false }
      } else {
        content.take(field, bytes)
      }
    }
    let contentRange = headers.bodyStart..<range.upperBound
    let found = content.contentType.map { MediaType(bytes, $0) }
    if let name = MailAttachment.name(bytes, content, found, depth: depth) {
      if try unsafe !body(.attachment, name.utf8Span.span.bytes) { return false }
    }
    guard let type = found else {
      return try readPart(bytes, contentRange, content, charset: 0..<0, isHTML: false, body)
    }
    if bytes.equals("text", in: type.type) {
      let isHTML = bytes.equals("html", in: type.subtype)
      return try readPart(bytes, contentRange, content, charset: type.charset, isHTML: isHTML, body)
    }
    if bytes.equals("multipart", in: type.type), !type.boundary.isEmpty,
      type.boundary.count <= MessageLimits.boundaryByteCount
    {
      let isChoice = isForPeople && bytes.equals("alternative", in: type.subtype)
      return try readMultipart(
        bytes, contentRange, type.boundary, isChoice: isChoice, depth: depth, &walk, body)
    }
    if bytes.equals("message", in: type.type), bytes.equals("rfc822", in: type.subtype) {
      return try readEntity(bytes, contentRange, depth: depth + 1, &walk, body)
    }
    if type.subtype.isEmpty {
      return try readPart(bytes, contentRange, content, charset: 0..<0, isHTML: false, body)
    }
    return true
  }

  /// The parts between the delimiter lines (RFC 2046 section 5.1.1).
  /// - Parameter isChoice: whether the first part with text is enough.
  private mutating func readMultipart<E: Error>(
    _ bytes: RawSpan, _ range: Range<Int>, _ boundary: Range<Int>, isChoice: Bool, depth: Int,
    _ walk: inout Walk, _ body: (Item, RawSpan) throws(E) -> Bool
  ) throws(E) -> Bool {
    var hasText = false
    func noting(_ item: Item, _ text: RawSpan) throws(E) -> Bool {
      if isChoice, item == .text, !text.trimmed(text.whole).isEmpty { hasText = true }
      return try body(item, text)
    }
    var partStart: Int?
    var offset = range.lowerBound
    while walk.partCount <= MessageLimits.mimePartCount {
      let delimiter = Self.nextDelimiter(bytes, offset..<range.upperBound, in: range, boundary)
      if let start = partStart {
        let part = start..<(delimiter?.contentEnd ?? range.upperBound)
        if part.lowerBound <= part.upperBound,
          try !readEntity(bytes, part, depth: depth + 1, &walk, noting)
        {
          return false
        }
        if hasText { break }
      }
      guard let delimiter, !delimiter.isClose else { break }
      partStart = delimiter.next
      offset = delimiter.next
    }
    return true
  }

  private struct Delimiter {
    /// Before the line break that belongs to the delimiter.
    var contentEnd: Int
    /// After the delimiter line.
    var next: Int
    var isClose: Bool
  }

  private static func nextDelimiter(
    _ bytes: RawSpan, _ search: Range<Int>, in whole: Range<Int>, _ boundary: Range<Int>
  ) -> Delimiter? {
    let needle = bytes.extracting(boundary)
    var offset = search.lowerBound
    while let hit = bytes.firstOffset(of: needle, in: offset..<search.upperBound) {
      let lineEnd = bytes.lineEnd(from: hit, until: search.upperBound)
      // One comparison a line is enough: a delimiter is at the beginning of a line.
      offset = lineEnd
      let start = hit - 2
      guard start >= search.lowerBound, bytes.matches("--", at: start),
        start == whole.lowerBound || bytes.byte(start - 1) == ASCII.newline
      else { continue }
      let after = hit + boundary.count
      let isClose = after + 2 <= search.upperBound && bytes.matches("--", at: after)
      if !isClose && !bytes.trimmed(after..<lineEnd).isEmpty { continue }
      var contentEnd = start
      if contentEnd > search.lowerBound { contentEnd -= 1 }
      if contentEnd > search.lowerBound, bytes.byte(contentEnd - 1) == ASCII.carriageReturn {
        contentEnd -= 1
      }
      return Delimiter(contentEnd: contentEnd, next: lineEnd, isClose: isClose)
    }
    return nil
  }

  // MARK: Text

  private static func item(_ bytes: RawSpan, _ name: Range<Int>) -> Item? {
    switch name.count {
    case 2: return bytes.equals("to", in: name) ? .to : bytes.equals("cc", in: name) ? .cc : nil
    case 4: return bytes.equals("from", in: name) ? .from : nil
    case 7: return bytes.equals("subject", in: name) ? .subject : nil
    default: return nil
    }
  }

  private mutating func readHeader<E: Error>(
    _ bytes: RawSpan, _ value: Range<Int>, _ item: Item, _ body: (Item, RawSpan) throws(E) -> Bool
  ) throws(E) -> Bool {
    let plain = bytes.trimmed(value)
    if plain.count <= MessageLimits.headerFieldByteCount, bytes.asciiEnd(in: plain) == plain.upperBound,
      bytes.firstOffset(of: ASCII.newline, in: plain) == nil, bytes.firstOffset(of: "=?", in: plain) == nil
    {
      return try body(item, bytes.extracting(plain))
    }
    converted.removeAll()
    words.decode(bytes, value, into: &converted)
    return try converted.withBytes { (text) throws(E) in try body(item, text) }
  }

  /// Undoes the transfer encoding (RFC 2045 section 6), then the charset.
  private mutating func readPart<E: Error>(
    _ bytes: RawSpan, _ range: Range<Int>, _ headers: MailContentHeaders, charset: Range<Int>, isHTML: Bool,
    _ body: (Item, RawSpan) throws(E) -> Bool
  ) throws(E) -> Bool {
    let charset = bytes.extracting(charset)
    let content = bytes.extracting(range)
    if let encoding = headers.transferEncoding {
      decoded.removeAll()
      if bytes.equals("base64", in: encoding) {
        Base64.decode(content, into: &decoded)
        return try readDecoded(charset, isHTML: isHTML, body)
      }
      if bytes.equals("quoted-printable", in: encoding) {
        QuotedPrintable.decodeBody(content, into: &decoded)
        return try readDecoded(charset, isHTML: isHTML, body)
      }
    }
    return try readLeaf(content, charset: charset, isHTML: isHTML, body)
  }

  private mutating func readDecoded<E: Error>(
    _ charset: RawSpan, isHTML: Bool, _ body: (Item, RawSpan) throws(E) -> Bool
  ) throws(E) -> Bool {
    // The buffer is moved out for the call, so that the reader can change.
    let bytes = exchange(&decoded, with: ByteBuffer(capacity: 0))
    let goOn: Result<Bool, E>
    do throws(E) {
      goOn = .success(
        try bytes.withBytes { (text) throws(E) in
          try readLeaf(text, charset: charset, isHTML: isHTML, body)
        })
    } catch {
      goOn = .failure(error)
    }
    decoded = bytes
    return try goOn.get()
  }

  private mutating func readLeaf<E: Error>(
    _ text: RawSpan, charset: RawSpan, isHTML: Bool, _ body: (Item, RawSpan) throws(E) -> Bool
  ) throws(E) -> Bool {
    if let mark = ByteOrderMark(text) {
      let rest = text.extracting(mark.byteCount..<text.byteCount)
      return try unsafe readText(rest, charset: mark.charset.utf8Span.span.bytes, isHTML: isHTML, body)
    }
    if isHTML, charset.isEmpty || charset.equals("us-ascii", in: charset.whole),
      let declared = HTMLCharset.declared(in: text), !Self.isBeyondASCII(text)
    {
      let label = text.extracting(declared)
      // A document that says UTF-16 in ASCII is UTF-8 (HTML Living Standard).
      if !label.matches("utf-16", at: 0, ignoringCase: true) {
        return try readText(text, charset: label, isHTML: isHTML, body)
      }
    }
    return try readText(text, charset: charset, isHTML: isHTML, body)
  }

  /// Hands over a text in a charset that is decided.
  private mutating func readText<E: Error>(
    _ text: RawSpan, charset: RawSpan, isHTML: Bool, _ body: (Item, RawSpan) throws(E) -> Bool
  ) throws(E) -> Bool {
    if isForPeople, !converters.knows(charset), Self.wantsCharset(text) {
      if try !body(.unknownCharset, charset) { return false }
    }
    if Self.isReadable(text, charset) {
      if !isHTML { return try body(.text, text) }
      strip(text)
      return try stripped.withBytes { (text) throws(E) in try body(.text, text) }
    }
    converted.removeAll()
    converters.convert(text, charset: charset, into: &converted, limit: MessageLimits.decodedTextByteCount)
    guard isHTML else { return try converted.withBytes { (text) throws(E) in try body(.text, text) } }
    let html = exchange(&converted, with: ByteBuffer(capacity: 0))
    html.withBytes { strip($0) }
    converted = html
    return try stripped.withBytes { (text) throws(E) in try body(.text, text) }
  }

  /// Leaves the text of `html` in the buffer for it.
  private mutating func strip(_ html: RawSpan) {
    stripped.removeAll()
    HTMLText.append(html, showsLinks: isForPeople, into: &stripped)
    if isForPeople { HTMLText.tidy(&stripped) }
  }

  /// Whether the bytes are UTF-8 with other characters than those of ASCII.
  private static func isBeyondASCII(_ text: RawSpan) -> Bool {
    text.asciiEnd(in: text.whole) < text.byteCount && text.validUTF8End(in: text.whole) == text.byteCount
  }

  /// Whether a text can be read wrongly in another charset: there is more than ASCII, or what switches between charsets.
  private static func wantsCharset(_ text: RawSpan) -> Bool {
    text.asciiEnd(in: text.whole) < text.byteCount || text.firstOffset(of: 0x1B, in: text.whole) != nil
      || text.firstOffset(of: "~{", in: text.whole) != nil
  }

  /// Whether the bytes are UTF-8 as they stand.
  private static func isReadable(_ text: RawSpan, _ charset: RawSpan) -> Bool {
    if CharsetConverters.isUTF8(charset) { return text.validUTF8End(in: text.whole) == text.byteCount }
    let extendsASCII =
      charset.matches("iso-8859-", at: 0, ignoringCase: true)
      || charset.matches("windows-125", at: 0, ignoringCase: true)
    return extendsASCII && text.asciiEnd(in: text.whole) == text.byteCount
  }
}
