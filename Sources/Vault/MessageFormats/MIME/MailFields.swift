// SPDX-License-Identifier: Apache-2.0
//
// The header lines of a mail or a part (RFC 5322 section 2.2): all of them and their places. A line that is not one is an
// error, or passed over.

extension MailTree {
  /// The headers of an entity, and where its body is.
  static func fields(
    _ bytes: RawSpan, _ entity: Range<Int>, _ reading: Reading
  ) throws(MailTreeError) -> ([MailField], Range<Int>) {
    var fields: [MailField] = []
    var offset = entity.lowerBound
    // Whether the lines that go on belong to a header.
    var goesOn = false
    while offset < entity.upperBound {
      let lineEnd = bytes.lineEnd(from: offset, until: entity.upperBound)
      defer { offset = lineEnd }
      let line: Range<Int>
      do throws(MailTreeError) { line = try headerLine(bytes, offset..<lineEnd) } catch {
        guard reading == .tolerant else { throw error }
        goesOn = false
        continue
      }
      if line.isEmpty { return (fields, lineEnd..<entity.upperBound) }
      guard lineEnd - entity.lowerBound <= MessageLimits.headerSectionByteCount,
        fields.count < Self.fieldCountLimit
      else { throw .overLimit }
      do throws(MailTreeError) {
        if ASCII.isBlank(bytes.byte(offset)) {
          guard goesOn, let last = fields.popLast() else { throw .header }
          fields.append(
            MailField(
              name: last.name, value: last.value.lowerBound..<line.upperBound,
              line: last.line.lowerBound..<lineEnd))
        } else {
          fields.append(try field(bytes, line, until: lineEnd))
          goesOn = true
        }
      } catch {
        guard reading == .tolerant else { throw error }
        goesOn = false
      }
    }
    return (fields, entity.upperBound..<entity.upperBound)
  }

  /// The line without its end.
  static func headerLine(_ bytes: RawSpan, _ whole: Range<Int>) throws(MailTreeError) -> Range<Int> {
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

  static func field(
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
  /// Whether the first line is a header.
  static func beginsWithField(_ bytes: RawSpan) -> Bool {
    let lineEnd = bytes.lineEnd(from: 0, until: bytes.byteCount)
    guard let line = try? headerLine(bytes, 0..<lineEnd), !line.isEmpty else { return false }
    return (try? field(bytes, line, until: lineEnd)) != nil
  }

  /// Whether there is an empty line.
  static func hasHeaderEnd(_ bytes: RawSpan) -> Bool {
    bytes.firstOffset(of: "\n\n", in: bytes.whole) != nil
      || bytes.firstOffset(of: "\n\r\n", in: bytes.whole) != nil
  }

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
