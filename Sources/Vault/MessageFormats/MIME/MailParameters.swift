// SPDX-License-Identifier: Apache-2.0
//
// Header values of the form `word; name=value` (RFC 2045 section 5.1, RFC 2183 section 2, RFC 2231), read strictly: what
// two programs could read differently is not read at all.

/// A word and its parameters.
struct MailParameters {
  /// In lower case, such as `text/plain` or `attachment`.
  let word: String
  /// By their names in lower case.
  let values: [String: [UInt8]]

  /// Nil when the value is not of this form, or a parameter occurs twice.
  init?(_ bytes: RawSpan, _ range: Range<Int>) {
    guard range.count <= Self.byteCountLimit else { return nil }
    var scanner = Scanner(bytes, range)
    guard let word = scanner.token(), !word.isEmpty else { return nil }
    var values: [String: [UInt8]] = [:]
    while true {
      scanner.skipBlanks()
      if scanner.isAtEnd { break }
      guard scanner.take(ASCII.semicolon) else { return nil }
      scanner.skipBlanks()
      if scanner.isAtEnd { break }
      guard let name = scanner.token(), !name.isEmpty else { return nil }
      scanner.skipBlanks()
      guard scanner.take(ASCII.equals) else { return nil }
      scanner.skipBlanks()
      guard let value = scanner.value() else { return nil }
      guard values.updateValue(value, forKey: Self.lowercased(name)) == nil else { return nil }
    }
    self.word = Self.lowercased(word)
    self.values = values
  }

  /// Takes what other programs take: a value without quotation marks up to the next semicolon, the first of two of a name.
  init(tolerant bytes: RawSpan, _ range: Range<Int>) {
    var scanner = Scanner(
      bytes, range.lowerBound..<min(range.upperBound, range.lowerBound + Self.byteCountLimit))
    word = Self.lowercased(scanner.piece(until: ASCII.semicolon))
    var values: [String: [UInt8]] = [:]
    while scanner.take(ASCII.semicolon) {
      scanner.skipBlanks()
      let name = scanner.piece(until: ASCII.equals, or: ASCII.semicolon)
      guard scanner.take(ASCII.equals) else { continue }
      scanner.skipBlanks()
      let value = scanner.tolerantValue()
      if !name.isEmpty, !value.isEmpty, values[Self.lowercased(name)] == nil {
        values[Self.lowercased(name)] = value
      }
    }
    self.values = values
  }

  /// A parameter that is ASCII; nil if it is missing or has other characters.
  func plain(_ name: String) -> String? {
    guard let value = values[name], value.allSatisfy({ 0x20..<0x7F ~= $0 }) else { return nil }
    return String(decoding: value, as: UTF8.self)
  }

  /// A parameter for people: in pieces, percent-encoded (RFC 2231), or with encoded words, which are not allowed
  /// there and are common.
  func text(_ name: String) -> String? {
    if let extended = extended(name) { return extended }
    guard let value = values[name] else { return nil }
    var words = EncodedWords()
    var buffer = ByteBuffer(capacity: 256)
    let bytes = unsafe value.span.bytes
    words.decode(bytes, bytes.whole, into: &buffer)
    return buffer.withBytes { $0.string($0.whole) }
  }

  private func extended(_ name: String) -> String? {
    var (encoded, isEncoded): ([UInt8], Bool) = ([], false)
    if let value = values[name + "*"] {
      (encoded, isEncoded) = (value, true)
    } else {
      for number in 0..<Self.pieceLimit {
        if let value = values["\(name)*\(number)*"] {
          // The charset is in the first piece.
          if number == 0 { isEncoded = true }
          encoded += isEncoded ? value : Self.percentEncoded(value)
        } else if let value = values["\(name)*\(number)"] {
          encoded += isEncoded ? Self.percentEncoded(value) : value
        } else {
          break
        }
      }
    }
    guard !encoded.isEmpty else { return nil }
    return isEncoded ? Self.decoded(encoded) : String(decoding: encoded, as: UTF8.self)
  }

  /// A piece that is not encoded, among those that are.
  private static func percentEncoded(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { $0 == ASCII.percent ? Array("%25".utf8) : [$0] }
  }

  /// `charset'language'text` with percent signs.
  private static func decoded(_ bytes: [UInt8]) -> String? {
    let quote: UInt8 = 0x27
    let pieces = bytes.split(separator: quote, maxSplits: 2, omittingEmptySubsequences: false)
    guard pieces.count == 3 else { return nil }
    var plain: [UInt8] = []
    var rest = pieces[2][...]
    while let byte = rest.popFirst() {
      guard byte == ASCII.percent else {
        plain.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(ASCII.hexValue),
        let low = rest.popFirst().flatMap(ASCII.hexValue)
      else { return nil }
      plain.append(high << 4 | low)
    }
    let charset = Array(pieces[0])
    var converters = CharsetConverters()
    var buffer = ByteBuffer(capacity: 256)
    unsafe converters.convert(
      plain.span.bytes, charset: charset.span.bytes, into: &buffer, limit: MessageLimits.headerFieldByteCount)
    return buffer.withBytes { $0.string($0.whole) }
  }

  private static func lowercased(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.map(ASCII.lowercased), as: UTF8.self)
  }

  /// Longer than any real one; the names of files are the longest.
  private static let byteCountLimit = 8 << 10
  private static let pieceLimit = 64

  /// A position in a value.
  private struct Scanner {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ span: RawSpan, _ range: Range<Int>) {
      // Line ends of folded lines go (RFC 5322 section 2.2.3); the blanks after them stay.
      bytes = range.map { span.byte($0) }.filter { $0 != ASCII.newline && $0 != ASCII.carriageReturn }
      skipBlanks()
    }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func skipBlanks() {
      while offset < bytes.count, ASCII.isBlank(bytes[offset]) { offset += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
      guard offset < bytes.count, bytes[offset] == byte else { return false }
      offset += 1
      return true
    }

    /// Characters up to a blank, a semicolon or an equals sign; nil for those that no word has.
    mutating func token() -> [UInt8]? {
      let start = offset
      while offset < bytes.count, !ASCII.isBlank(bytes[offset]), bytes[offset] != ASCII.semicolon,
        bytes[offset] != ASCII.equals
      {
        guard Self.isWord(bytes[offset]) else { return nil }
        offset += 1
      }
      return Array(bytes[start..<offset])
    }

    /// A quoted string, or characters up to a blank or a semicolon: more than the standard allows, and as mailers
    /// write boundaries.
    mutating func value() -> [UInt8]? {
      if take(ASCII.quote) { return quoted() }
      let start = offset
      while offset < bytes.count, !ASCII.isBlank(bytes[offset]), bytes[offset] != ASCII.semicolon {
        guard bytes[offset] == ASCII.equals || Self.isWord(bytes[offset]) else { return nil }
        offset += 1
      }
      return start == offset ? nil : Array(bytes[start..<offset])
    }

    /// Characters up to one of these, without blanks around them.
    mutating func piece(until end: UInt8, or other: UInt8? = nil) -> [UInt8] {
      let start = offset
      while offset < bytes.count, bytes[offset] != end, bytes[offset] != other { offset += 1 }
      var piece = bytes[start..<offset]
      while let last = piece.last, ASCII.isBlank(last) { piece.removeLast() }
      return Array(piece)
    }

    /// A quoted string, whatever is after it, or everything up to a semicolon.
    mutating func tolerantValue() -> [UInt8] {
      let start = offset
      if take(ASCII.quote), let value = quoted() {
        _ = piece(until: ASCII.semicolon)
        return value
      }
      offset = start
      return piece(until: ASCII.semicolon)
    }

    private mutating func quoted() -> [UInt8]? {
      var value: [UInt8] = []
      while offset < bytes.count {
        let byte = bytes[offset]
        offset += 1
        if byte == ASCII.quote { return value }
        if byte == ASCII.backslash {
          guard offset < bytes.count else { return nil }
          value.append(bytes[offset])
          offset += 1
        } else {
          guard byte >= ASCII.space || byte == ASCII.tab else { return nil }
          value.append(byte)
        }
      }
      return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
      guard 0x21..<0x7F ~= byte else { return false }
      switch byte {
      case ASCII.quote, 0x28, 0x29, ASCII.less, ASCII.greater, ASCII.backslash, ASCII.comma, 0x40:
        return false
      default: return true
      }
    }
  }
}
