// SPDX-License-Identifier: Apache-2.0
//
// The header lines that an export puts before each message, in this order:
//
//     X-Coffer-Export: 1; content=verbatim | 1; content=verbatim; newline=missing | 1; content=base64
//     X-Coffer-Id:     percent-encoded, for people
//     X-Coffer-Title:  percent-encoded UTF-8
//     X-Coffer-Tags:   percent-encoded, each followed by a comma
//     X-Coffer-Type:   percent-encoded
//     X-Coffer-Date:   RFC 3339
//     X-Coffer-Seal:   64 hexadecimal digits: the code of the six and of the content, by a key of the coffer
//
// Long values are folded (RFC 5322 section 2.2.3). Anybody can send a mail with the first six. The reader
// therefore accepts and removes them only if the seal is from its own coffer; otherwise the message is an
// ordinary mail. Specs/vault.md, "Seal of an export".

internal import Texts

/// Proves that the headers of an export, and the content after them, are from this coffer.
public protocol ExportSeal: Sendable {
  /// The code of header lines, without the seal's own, and of the content of a message: 32 bytes.
  func code(headers: RawSpan, content: RawSpan) -> [UInt8]
}

/// The values of the export headers.
struct MboxExportHeader {
  var metadata: MessageMetadata
  /// How many bytes the headers take, with the seal and without it.
  var byteCount = 0
  var sealedByteCount = 0
  /// The seal.
  var seal = ""
  /// The content is not a mail, or not made of lines: it is wrapped in one, in base64.
  var isBase64: Bool
  /// The export added a newline that the content does not have.
  var lacksFinalNewline = false

  init(metadata: MessageMetadata, isBase64: Bool, lacksFinalNewline: Bool) {
    self.metadata = metadata
    self.isBase64 = isBase64
    self.lacksFinalNewline = lacksFinalNewline
  }

  /// Whether the bytes at `offset` begin like the headers of an export.
  static func isAnnounced(_ bytes: RawSpan, at offset: Int = 0) -> Bool {
    offset < bytes.byteCount && bytes.byte(offset) == 0x58 && bytes.matches(exportName, at: offset)
  }

  /// Whether a wrapped message begins at `offset`.
  static func announcesBase64(_ bytes: RawSpan, at offset: Int) -> Bool {
    bytes.matches(exportName, at: offset)
      && bytes.matches(base64Value, at: offset + exportName.utf8CodeUnitCount)
  }

  /// Reads the headers at the start of a message; nil when it does not begin with all of them, in order.
  init?(_ bytes: RawSpan) {
    var offset = 0
    guard let export = Self.value(bytes, &offset, Self.exportName),
      Self.value(bytes, &offset, Self.idName) != nil,
      let titleText = Self.value(bytes, &offset, Self.titleName),
      let tagsText = Self.value(bytes, &offset, Self.tagsName),
      let typeText = Self.value(bytes, &offset, Self.typeName),
      let dateText = Self.value(bytes, &offset, Self.dateName)
    else { return nil }
    sealedByteCount = offset
    guard let seal = Self.value(bytes, &offset, Self.sealName),
      let title = Self.decoded(titleText), let type = Self.decoded(typeText),
      let date = RFC3339.parse(dateText), let tags = Self.tags(tagsText)
    else { return nil }
    self.seal = seal
    switch export {
    case "1; content=base64": isBase64 = true
    case "1; content=verbatim": isBase64 = false
    case "1; content=verbatim; newline=missing":
      isBase64 = false
      lacksFinalNewline = true
    default: return nil
    }
    metadata = MessageMetadata(title: title, tags: tags, contentType: type, date: date)
    byteCount = offset
    do throws(MessageFormatError) { try metadata.checkBounds() } catch { return nil }
  }

  /// Whether the seal is that of `headers`, this header's six lines, and `content`.
  func isSealed(by key: any ExportSeal, headers: RawSpan, content: RawSpan) -> Bool {
    seal == Self.digits(key.code(headers: headers, content: content))
  }

  /// Appends the headers, and the seal of them and of `content`.
  func append(id: String, sealing content: RawSpan, _ key: any ExportSeal, into buffer: inout ByteBuffer) {
    let start = buffer.count
    buffer.append(Self.exportName)
    if isBase64 {
      buffer.append(Self.base64Value)
    } else {
      buffer.append(" 1; content=verbatim")
      if lacksFinalNewline { buffer.append("; newline=missing") }
    }
    buffer.append(ASCII.newline)
    Self.append(Self.idName, id, into: &buffer)
    Self.append(Self.titleName, metadata.title, into: &buffer)
    buffer.append(Self.tagsName)
    buffer.append(ASCII.space)
    for tag in metadata.tags {
      Self.appendFolded(tag, into: &buffer)
      buffer.append(ASCII.comma)
      buffer.append("\n ")
    }
    if !metadata.tags.isEmpty { buffer.shorten(to: buffer.count - 2) }
    buffer.append(ASCII.newline)
    Self.append(Self.typeName, metadata.contentType, into: &buffer)
    Self.append(Self.dateName, RFC3339.format(metadata.date), into: &buffer, isPlain: true)
    let code = buffer.withBytes(in: start..<buffer.count) { key.code(headers: $0, content: content) }
    Self.append(Self.sealName, Self.digits(code), into: &buffer, isPlain: true)
  }

  private static func digits(_ code: [UInt8]) -> String {
    code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func append(
    _ name: StaticString, _ value: String, into buffer: inout ByteBuffer, isPlain: Bool = false
  ) {
    buffer.append(name)
    buffer.append(ASCII.space)
    if isPlain { buffer.append(value) } else { appendFolded(value, into: &buffer) }
    buffer.append(ASCII.newline)
  }

  /// Percent-encodes `value`, in lines that stay below the 998 characters of RFC 5322.
  private static func appendFolded(_ value: String, into buffer: inout ByteBuffer) {
    if value.utf8.count <= foldByteCount {
      PercentEncoding.encode(value, into: &buffer)
      return
    }
    var rest = Substring(value).unicodeScalars
    while !rest.isEmpty {
      let piece = rest.prefix(foldByteCount / 4)
      rest = rest.dropFirst(foldByteCount / 4)
      PercentEncoding.encode(String(piece), into: &buffer)
      if !rest.isEmpty { buffer.append("\n ") }
    }
  }

  /// The unfolded value of the header `name` at `offset`, which moves to its end.
  private static func value(_ bytes: RawSpan, _ offset: inout Int, _ name: StaticString) -> String? {
    guard bytes.matches(name, at: offset) else { return nil }
    var lineStart = offset + name.utf8CodeUnitCount
    var value = ""
    while true {
      guard let newline = bytes.firstOffset(of: ASCII.newline, in: lineStart..<bytes.byteCount) else {
        return nil
      }
      value += bytes.string(bytes.trimmed(lineStart..<newline))
      guard value.utf8.count <= valueByteCount else { return nil }
      lineStart = newline + 1
      // The last header ends at its line: what follows belongs to the content, blank or not.
      guard lineStart < bytes.byteCount, bytes.byte(lineStart) == ASCII.space else { break }
    }
    offset = lineStart
    return value
  }

  private static func decoded(_ text: String) -> String? {
    let bytes = unsafe text.utf8Span.span.bytes
    return PercentEncoding.decode(bytes, bytes.whole)
  }

  private static func tags(_ text: String) -> [String]? {
    let bytes = unsafe text.utf8Span.span.bytes
    var tags: [String] = []
    var offset = 0
    while offset < bytes.byteCount {
      guard let comma = bytes.firstOffset(of: ASCII.comma, in: offset..<bytes.byteCount),
        let tag = PercentEncoding.decode(bytes, offset..<comma), tags.count < MessageLimits.tagCount
      else { return nil }
      tags.append(tag)
      offset = comma + 1
    }
    return tags
  }

  private static let exportName: StaticString = "X-Coffer-Export:"
  private static let base64Value: StaticString = " 1; content=base64"
  private static let idName: StaticString = "X-Coffer-Id:"
  private static let titleName: StaticString = "X-Coffer-Title:"
  private static let tagsName: StaticString = "X-Coffer-Tags:"
  private static let typeName: StaticString = "X-Coffer-Type:"
  private static let dateName: StaticString = "X-Coffer-Date:"
  private static let sealName: StaticString = "X-Coffer-Seal:"
  /// Percent encoding makes three characters of a byte.
  private static let foldByteCount = 300
  /// All tags at their limits, encoded.
  private static let valueByteCount = 3 * (MessageLimits.tagCount * (MessageLimits.tagByteCount + 1))
}
