// SPDX-License-Identifier: Apache-2.0
//
// The message that is read, in locked memory, and where its rows begin and end in a width. Only rows that are shown become
// strings.

internal import Secrets
internal import Texts

/// A text as rows of a terminal.
struct BrowseText {
  private let text: SharedSecretBytes
  private var rows: [Range<Int>] = []

  /// Nothing.
  init() { text = SharedSecretBytes(SecretBytes(zeroed: 0)) }

  /// - Parameter text: UTF-8 with line feeds.
  init(_ text: SharedSecretBytes, columns: Int) {
    self.text = text
    wrap(columns: columns)
  }

  var count: Int { rows.count }

  /// A row, fit for a terminal but for its width.
  func row(_ index: Int) -> String {
    let range = rows[index]
    let row = text.withBytes { bytes in
      let part = bytes.extracting(range)
      return unsafe part.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
    return TerminalText.line(row.replacing("\t", with: Self.tab))
  }

  /// Breaks lines between words where that is possible.
  mutating func wrap(columns: Int) {
    rows = text.withBytes { Self.rows($0, columns: max(1, columns)) }
  }

  private static let tab = "    "

  private static func rows(_ text: RawSpan, columns: Int) -> [Range<Int>] {
    var rows: [Range<Int>] = []
    var (start, offset, width) = (0, 0, 0)
    /// Behind the last blank of the row.
    var word: Int?
    func end(at end: Int, next: Int) {
      rows.append(start..<end)
      (start, offset, width, word) = (next, next, 0, nil)
    }
    while offset < text.byteCount {
      let (scalar, count) = scalar(text, at: offset)
      if scalar == "\n" {
        end(at: offset, next: offset + 1)
        continue
      }
      let wide = self.columns(of: scalar)
      if width + wide > columns, offset > start {
        if scalar == " " {
          end(at: offset, next: offset + 1)
        } else {
          let place = word ?? offset
          end(at: place, next: place)
        }
        continue
      }
      width += wide
      offset += count
      if scalar == " " { word = offset }
    }
    if start < text.byteCount { rows.append(start..<text.byteCount) }
    return rows
  }

  /// At least as many as it takes when it is shown: what is invisible is shown as a mark.
  private static func columns(of scalar: Unicode.Scalar) -> Int {
    if scalar == "\t" { return tab.count }
    return scalar.properties.isDefaultIgnorableCodePoint ? 1 : ColumnWidth.of(scalar)
  }

  /// The character that begins there, and its bytes. What is not UTF-8 is taken byte by byte.
  private static func scalar(_ text: RawSpan, at offset: Int) -> (scalar: Unicode.Scalar, count: Int) {
    func byte(_ at: Int) -> UInt32 {
      at < text.byteCount ? UInt32(unsafe text.unsafeLoad(fromByteOffset: at, as: UInt8.self)) : 0
    }
    let first = byte(offset)
    let count =
      switch first {
      case ..<0x80: 1
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 0
      }
    if count == 1, let scalar = Unicode.Scalar(first) { return (scalar, 1) }
    guard count > 1, offset + count <= text.byteCount else { return ("\u{FFFD}", 1) }
    var value = first & (0x7F >> UInt32(count))
    for next in 1..<count {
      guard byte(offset + next) & 0xC0 == 0x80 else { return ("\u{FFFD}", 1) }
      value = value << 6 | byte(offset + next) & 0x3F
    }
    guard let scalar = Unicode.Scalar(value) else { return ("\u{FFFD}", 1) }
    return (scalar, count)
  }
}
