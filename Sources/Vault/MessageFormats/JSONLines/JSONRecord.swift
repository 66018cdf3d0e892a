// SPDX-License-Identifier: Apache-2.0
//
// One line of JSON Lines: the members that this module knows, in the order in which it writes them.

internal import Texts

/// The known members of one object.
struct JSONRecord {
  var title: String?
  var tags: [String]?
  var type: String?
  var date: Int64?
  var isBase64: Bool?
  var content: JSONText?
  var file: String?

  /// Reads the object that fills `range`, which must be valid UTF-8. Unknown members are passed over.
  init(_ bytes: RawSpan, _ range: Range<Int>) throws(JSONFlaw) {
    guard bytes.validUTF8End(in: range) == range.upperBound else { throw JSONFlaw("the line is not UTF-8") }
    var scanner = JSONScanner(range)
    guard scanner.take(0x7B, bytes) else { throw JSONFlaw("an object is expected") }
    if !scanner.take(0x7D, bytes) {
      repeat {
        let name = try scanner.string(bytes)
        guard scanner.take(ASCII.colon, bytes) else { throw JSONFlaw("a colon is expected") }
        try member(name, &scanner, bytes)
      } while scanner.take(ASCII.comma, bytes)
      guard scanner.take(0x7D, bytes) else { throw JSONFlaw("the object does not end") }
    }
    guard scanner.peek(bytes) == nil else { throw JSONFlaw("something follows the object") }
  }

  private mutating func member(
    _ name: JSONText, _ scanner: inout JSONScanner, _ bytes: RawSpan
  ) throws(JSONFlaw) {
    let name = name.range.count <= 64 ? JSONScanner.value(name, bytes) : ""
    switch name {
    case "title":
      guard title == nil else { throw Self.repeated }
      title = try text(&scanner, bytes, limit: MessageLimits.titleByteCount)
    case "type":
      guard type == nil else { throw Self.repeated }
      type = try text(&scanner, bytes, limit: MessageLimits.contentTypeByteCount)
    case "file":
      guard file == nil else { throw Self.repeated }
      file = try text(&scanner, bytes, limit: Self.pathByteCount)
    case "tags":
      guard tags == nil else { throw Self.repeated }
      tags = try list(&scanner, bytes)
    case "date":
      guard date == nil else { throw Self.repeated }
      guard let text = try text(&scanner, bytes, limit: 64) else { return }
      guard let seconds = RFC3339.parse(text) else { throw JSONFlaw("the date is not RFC 3339") }
      date = seconds
    case "encoding":
      guard isBase64 == nil else { throw Self.repeated }
      guard let text = try text(&scanner, bytes, limit: 64) else { return }
      guard text == "utf-8" || text == "base64" else { throw JSONFlaw("the encoding is unknown") }
      isBase64 = text == "base64"
    case "content":
      guard content == nil else { throw Self.repeated }
      content = try scanner.string(bytes)
    default:
      try scanner.skipValue(bytes)
    }
  }

  /// A string, or nil for `null`.
  private func text(
    _ scanner: inout JSONScanner, _ bytes: RawSpan, limit: Int
  ) throws(JSONFlaw) -> String? {
    if try scanner.takeNull(bytes) { return nil }
    let text = try scanner.string(bytes)
    // An escaped byte takes at most six.
    guard text.range.count <= 6 * limit else { throw JSONFlaw("a value is longer than allowed") }
    let value = JSONScanner.value(text, bytes)
    guard value.utf8.count <= limit else { throw JSONFlaw("a value is longer than allowed") }
    return value
  }

  private func list(_ scanner: inout JSONScanner, _ bytes: RawSpan) throws(JSONFlaw) -> [String]? {
    if try scanner.takeNull(bytes) { return nil }
    guard scanner.take(0x5B, bytes) else { throw JSONFlaw("the tags are not an array") }
    var tags: [String] = []
    if scanner.take(0x5D, bytes) { return tags }
    repeat {
      guard tags.count < MessageLimits.tagCount else { throw JSONFlaw("there are too many tags") }
      guard let tag = try text(&scanner, bytes, limit: MessageLimits.tagByteCount) else {
        throw JSONFlaw("a tag is not a string")
      }
      tags.append(tag)
    } while scanner.take(ASCII.comma, bytes)
    guard scanner.take(0x5D, bytes) else { throw JSONFlaw("an array does not end") }
    return tags
  }

  private static let repeated = JSONFlaw("a member occurs twice")
  private static let pathByteCount = 4 << 10
}
