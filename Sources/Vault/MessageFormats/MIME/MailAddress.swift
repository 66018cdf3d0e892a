// SPDX-License-Identifier: Apache-2.0
//
// Senders and recipients in headers (RFC 5322 section 3.4), read strictly: a sender is compared with the owner of a key,
// so a header that could be read in two ways has no sender.

/// Somebody in a header.
public struct MailAddress: Sendable, Equatable {
  /// The name, decoded; empty if there is none. The sender chose it, and it proves nothing.
  public let name: String
  /// The address, in ASCII.
  public let address: String

  /// Those in a header's value; nil if it is not a list of addresses.
  static func list(_ bytes: RawSpan, _ value: Range<Int>) -> [MailAddress]? {
    let range = bytes.trimmed(value)
    guard range.count <= MessageLimits.headerFieldByteCount else { return nil }
    var found: [MailAddress] = []
    var start = range.lowerBound
    var offset = start
    var (isQuoted, depth, isInAngle, hadAngle) = (false, 0, false, false)
    while offset <= range.upperBound {
      let byte = offset < range.upperBound ? bytes.byte(offset) : ASCII.comma
      if offset == range.upperBound, isQuoted || depth > 0 || isInAngle { return nil }
      switch byte {
      case ASCII.backslash where isQuoted || depth > 0: offset += 1
      case ASCII.quote where depth == 0: isQuoted.toggle()
      case 0x28 where !isQuoted: depth += 1
      case 0x29 where !isQuoted:
        guard depth > 0 else { return nil }
        depth -= 1
      case ASCII.less where !isQuoted && depth == 0:
        guard !isInAngle, !hadAngle else { return nil }
        (isInAngle, hadAngle) = (true, true)
      case ASCII.greater where !isQuoted && depth == 0:
        guard isInAngle else { return nil }
        isInAngle = false
      // Groups, such as "undisclosed-recipients:;".
      case ASCII.colon where !isQuoted && depth == 0, ASCII.semicolon where !isQuoted && depth == 0:
        return nil
      case ASCII.comma where !isQuoted && depth == 0 && !isInAngle:
        guard let one = single(bytes, bytes.trimmed(start..<min(offset, range.upperBound))) else {
          return nil
        }
        found.append(one)
        (start, hadAngle) = (offset + 1, false)
      default: break
      }
      offset += 1
    }
    return found
  }

  private static func single(_ bytes: RawSpan, _ range: Range<Int>) -> MailAddress? {
    guard !range.isEmpty else { return nil }
    // The address is at the end; what is before it is a name, whatever it looks like.
    guard bytes.byte(range.upperBound - 1) == ASCII.greater else {
      return address(bytes, range).map { MailAddress(name: "", address: $0) }
    }
    guard let open = lastOpening(bytes, range) else { return nil }
    guard let address = address(bytes, open + 1..<range.upperBound - 1) else { return nil }
    var name = MailTree.text(bytes, range.lowerBound..<open)
    if name.count >= 2, name.hasPrefix("\""), name.hasSuffix("\"") {
      name = String(name.dropFirst().dropLast()).replacing("\\\"", with: "\"")
    }
    return MailAddress(name: name, address: address)
  }

  private static func lastOpening(_ bytes: RawSpan, _ range: Range<Int>) -> Int? {
    for offset in range.reversed() where bytes.byte(offset) == ASCII.less { return offset }
    return nil
  }

  /// `local@domain` in printable ASCII without anything that would have to be quoted.
  private static func address(_ bytes: RawSpan, _ range: Range<Int>) -> String? {
    guard 3...320 ~= range.count else { return nil }
    var atCount = 0
    for offset in range {
      let byte = bytes.byte(offset)
      guard 0x21..<0x7F ~= byte else { return nil }
      switch byte {
      case 0x40: atCount += 1
      case ASCII.quote, 0x28, 0x29, ASCII.comma, ASCII.colon, ASCII.semicolon, ASCII.less, ASCII.greater,
        ASCII.backslash, 0x5B, 0x5D:
        return nil
      default: break
      }
    }
    let text = bytes.string(range)
    guard atCount == 1, !text.hasPrefix("@"), !text.hasSuffix("@") else { return nil }
    return text
  }
}

extension MailTree {
  /// The value of a header for people: on one line, encoded words decoded.
  static func text(_ bytes: RawSpan, _ value: Range<Int>) -> String {
    var words = EncodedWords()
    var buffer = ByteBuffer(capacity: 256)
    words.decode(bytes, value, into: &buffer)
    return buffer.withBytes { $0.string($0.trimmed($0.whole)) }
  }

  /// The values of a header for people, in their order.
  public func texts(_ name: String, of index: Int, in mail: RawSpan) -> [String] {
    parts[index].fields.filter { $0.name == name }.map { Self.text(mail, $0.value) }
  }

  /// Everybody in the headers of a name; nil if one of them is not a list of addresses.
  public func addresses(_ name: String, of index: Int, in mail: RawSpan) -> [MailAddress]? {
    var found: [MailAddress] = []
    for field in parts[index].fields where field.name == name {
      guard let list = MailAddress.list(mail, field.value) else { return nil }
      found += list
    }
    return found
  }

  /// The date, in seconds since 1970; nil if there is none that can be read.
  public func date(of index: Int, in mail: RawSpan) -> Int64? {
    parts[index].fields.first { $0.name == "date" }.flatMap { MailDate.parse(mail, $0.value) }
  }
}
