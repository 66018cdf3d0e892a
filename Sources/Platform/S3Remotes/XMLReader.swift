// SPDX-License-Identifier: Apache-2.0
//
// The XML of S3's answers, and no more of XML: elements, text, the five entities and characters by their numbers. A
// server is not trusted, so whatever else it sends is an error: declarations of types above all, by which a short text
// could become a long one. Attributes and names of namespaces are passed over. Memory: the bytes, and one text.

/// What is not XML as S3 writes it.
struct XMLError: Error, Equatable {}

/// Reads a document from its beginning to its end.
struct XMLReader {
  /// Elements in one another, at most. S3 has four.
  static let depthLimit = 8
  /// Bytes in a name or a text that is read. A key has 1,024 at most, a continuation 4,096 for us.
  static let textByteCountLimit = 8_192

  private let bytes: [UInt8]
  private var offset = 0
  /// The names of the elements that are open, the outermost first.
  private var path: [String] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Calls `element` at the end of each element that has no others in it, and of each that has some, with its path and
  /// the text in it, which is empty for the latter.
  static func read(
    _ bytes: [UInt8], _ element: (_ path: [String], _ text: String) throws(XMLError) -> Void
  ) throws(XMLError) {
    var reader = XMLReader(bytes)
    try reader.readProlog()
    try reader.readElements(element)
    reader.skipSpace()
    guard reader.offset == bytes.count else { throw XMLError() }
  }

  private mutating func readProlog() throws(XMLError) {
    // A mark of the byte order.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    skipSpace()
    if has("<?xml") {
      guard let end = bytes[offset...].firstIndex(of: UInt8(ascii: ">")), bytes[end - 1] == UInt8(ascii: "?")
      else { throw XMLError() }
      offset = end + 1
      skipSpace()
    }
  }

  private mutating func readElements(
    _ element: (_ path: [String], _ text: String) throws(XMLError) -> Void
  ) throws(XMLError) {
    var text: [UInt8] = []
    repeat {
      text += try readText()
      guard text.count <= Self.textByteCountLimit else { throw XMLError() }
      guard take("<") else { throw XMLError() }
      if take("/") {
        guard let name = path.last, try readName() == name else { throw XMLError() }
        skipSpace()
        guard take(">"), let content = String(validating: text, as: UTF8.self) else { throw XMLError() }
        try element(path, content)
        path.removeLast()
      } else {
        path.append(try readName())
        guard path.count <= Self.depthLimit else { throw XMLError() }
        if try skipAttributes() {
          try element(path, "")
          path.removeLast()
        }
      }
      // What is around elements is space.
      text = []
    } while !path.isEmpty
  }

  /// The text up to the next "<".
  private mutating func readText() throws(XMLError) -> [UInt8] {
    var text: [UInt8] = []
    while offset < bytes.count, bytes[offset] != UInt8(ascii: "<") {
      if bytes[offset] == UInt8(ascii: "&") {
        text += try readReference()
      } else {
        text.append(bytes[offset])
        offset += 1
      }
      guard text.count <= Self.textByteCountLimit else { throw XMLError() }
    }
    return text
  }

  private mutating func readReference() throws(XMLError) -> [UInt8] {
    let end = bytes[offset...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
    guard let end else { throw XMLError() }
    let name = String(decoding: bytes[offset + 1..<end], as: UTF8.self)
    offset = end + 1
    switch name {
    case "lt": return Array("<".utf8)
    case "gt": return Array(">".utf8)
    case "amp": return Array("&".utf8)
    case "quot": return Array("\"".utf8)
    case "apos": return Array("'".utf8)
    default:
      guard name.hasPrefix("#") else { throw XMLError() }
      let digits = name.dropFirst()
      let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
      guard let number, let scalar = Unicode.Scalar(number) else { throw XMLError() }
      return Array(String(scalar).utf8)
    }
  }

  /// A name without that of its namespace.
  private mutating func readName() throws(XMLError) -> String {
    let start = offset
    while offset < bytes.count, !" \t\r\n/>=<&\"'".utf8.contains(bytes[offset]) { offset += 1 }
    guard offset > start, offset - start <= Self.textByteCountLimit, bytes[start] != UInt8(ascii: "!"),
      bytes[start] != UInt8(ascii: "?")
    else { throw XMLError() }
    let name = bytes[start..<offset].split(separator: UInt8(ascii: ":")).last ?? []
    return String(decoding: name, as: UTF8.self)
  }

  /// Whether the element ends with its beginning: "<Name/>".
  private mutating func skipAttributes() throws(XMLError) -> Bool {
    while true {
      skipSpace()
      if take(">") { return false }
      if take("/") {
        guard take(">") else { throw XMLError() }
        return true
      }
      _ = try readName()
      guard take("="), offset < bytes.count else { throw XMLError() }
      let quote = bytes[offset]
      guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
        let end = bytes[(offset + 1)...].firstIndex(of: quote)
      else { throw XMLError() }
      offset = end + 1
    }
  }

  private mutating func skipSpace() {
    while offset < bytes.count, " \t\r\n".utf8.contains(bytes[offset]) { offset += 1 }
  }

  private func has(_ text: StaticString) -> Bool {
    bytes[offset...].starts(with: "\(text)".utf8)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }
}
