// SPDX-License-Identifier: Apache-2.0
//
// The fields as names and values, sorted by name: as JSON for programs, and as a list for a terminal.

extension ExifFields {
  /// The fields that are present: a name, and the value as text for users.
  public var list: [(name: String, text: String)] {
    members.map { name, value in
      switch value {
      case .text(let text), .number(let text): (name, text)
      }
    }
  }

  /// The fields that are present, as a JSON object (RFC 8259) in UTF-8: sorted names, no blanks.
  ///
  /// Times are texts as RFC 3339 writes them, without an offset when none is known. The exposure is a text,
  /// a fraction of a second: `"1/250"`. All else is a number or a text.
  public var json: [UInt8] {
    var output: [UInt8] = [UInt8(ascii: "{")]
    for (name, value) in members {
      if output.count > 1 { output.append(UInt8(ascii: ",")) }
      Self.append(quoted: name, to: &output)
      output.append(UInt8(ascii: ":"))
      switch value {
      case .text(let text): Self.append(quoted: text, to: &output)
      case .number(let digits): output.append(contentsOf: digits.utf8)
      }
    }
    output.append(UInt8(ascii: "}"))
    return output
  }

  private enum Value {
    case text(String)
    case number(String)
  }

  /// In the order of the names.
  private var members: [(name: String, value: Value)] {
    let all: [(String, Value?)] = [
      ("altitudeMetres", position?.altitudeMetres.map(Self.number)),
      ("exposureSeconds", exposureSeconds.map { .text(Self.fraction($0)) }),
      ("fNumber", fNumber.map(Self.number)),
      ("focalLengthMillimetres", focalLengthMillimetres.map(Self.number)),
      ("iso", iso.map(Self.number)),
      ("latitude", (position?.latitude).map(Self.number)),
      ("lensMake", lensMake.map { .text($0) }),
      ("lensModel", lensModel.map { .text($0) }),
      ("longitude", (position?.longitude).map(Self.number)),
      ("make", make.map { .text($0) }),
      ("model", model.map { .text($0) }),
      ("orientation", orientation.map(Self.number)),
      ("pixelHeight", pixelHeight.map(Self.number)),
      ("pixelWidth", pixelWidth.map(Self.number)),
      ("positionTime", positionTime.map { .text($0.description) }),
      ("time", time.map { .text($0.description) }),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }

  private static func number(_ value: Int) -> Value { .number(String(value)) }

  /// Whole numbers without a fraction; all values are finite.
  private static func number(_ value: Double) -> Value {
    .number(Int64(exactly: value).map(String.init) ?? value.description)
  }

  /// Rounded to 4 decimals: cameras write 1.79999 for 1.8.
  private static func number(_ value: ExifRational) -> Value {
    number((value.value * 10_000).rounded() / 10_000)
  }

  /// `1/250`, or the plain number of seconds from one second on.
  private static func fraction(_ value: ExifRational) -> String {
    guard value.numerator > 0, value.numerator < value.denominator else {
      switch number(value) {
      case .text(let text), .number(let text): return text
      }
    }
    let divisor = greatestCommonDivisor(value.numerator, value.denominator)
    return "\(value.numerator / divisor)/\(value.denominator / divisor)"
  }

  private static func greatestCommonDivisor(_ first: UInt32, _ second: UInt32) -> UInt32 {
    var (larger, smaller) = (first, second)
    while smaller > 0 { (larger, smaller) = (smaller, larger % smaller) }
    return larger
  }

  /// The texts hold no control characters, see ``TIFFDirectory/text(_:_:)``; a caller's own might.
  private static func append(quoted text: String, to output: inout [UInt8]) {
    let hexadecimal = Array("0123456789abcdef".utf8)
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        output += [UInt8(ascii: "\\"), UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")]
        output += [hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
      default: output.append(byte)
      }
    }
    output.append(UInt8(ascii: "\""))
  }
}
