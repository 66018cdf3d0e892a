// SPDX-License-Identifier: Apache-2.0
//
// Two pixels a character: "▀" with the upper pixel as its colour and the lower one as its background.

internal import Secrets

enum HalfBlockText {
  static func make(_ raster: borrowing Raster, in256Colours: Bool) -> SecretBytes {
    var text = GrowingBytes(capacity: raster.width * (raster.height + 1) / 2 * 32)
    for y in stride(from: 0, to: raster.height, by: 2) {
      // Colours are only named when they change.
      var (former, formerLower): (RGB8?, RGB8?) = (nil, nil)
      for x in 0..<raster.width {
        let upper = raster[x, y]
        if upper != former {
          appendColour(upper, "38", in256Colours, to: &text)
          former = upper
        }
        if y + 1 < raster.height {
          let lower = raster[x, y + 1]
          if lower != formerLower {
            appendColour(lower, "48", in256Colours, to: &text)
            formerLower = lower
          }
        }
        text.append("▀")
      }
      text.append("\u{1B}[0m\n")
    }
    return text.finished()
  }

  private static func appendColour(
    _ colour: RGB8, _ place: StaticString, _ in256Colours: Bool, to text: inout GrowingBytes
  ) {
    text.append("\u{1B}[")
    text.append(place)
    if in256Colours {
      text.append(";5;")
      text.append(Int(XtermPalette.nearest(to: colour)))
    } else {
      text.append(";2;")
      text.append(Int(colour.red))
      text.append(";")
      text.append(Int(colour.green))
      text.append(";")
      text.append(Int(colour.blue))
    }
    text.append("m")
  }
}

/// The fixed part of xterm's 256 colours: a cube of 6 × 6 × 6 from 16 on, and 24 greys from 232 on. The
/// first 16 are the user's own.
enum XtermPalette {
  /// The number of the colour that differs least.
  static func nearest(to colour: RGB8) -> UInt8 {
    let (red, green, blue) = (level(colour.red), level(colour.green), level(colour.blue))
    let cube = RGB8(levels[red], levels[green], levels[blue])
    let mean = (Int(colour.red) + Int(colour.green) + Int(colour.blue)) / 3
    let step = min(23, max(0, (mean - 3) / 10))
    let value = UInt8(8 + 10 * step)
    let isGrey = distance(RGB8(value, value, value), colour) < distance(cube, colour)
    return UInt8(isGrey ? 232 + step : 16 + 36 * red + 6 * green + blue)
  }

  private static func level(_ value: UInt8) -> Int {
    value < 48 ? 0 : value < 115 ? 1 : (Int(value) - 35) / 40
  }

  private static func distance(_ left: RGB8, _ right: RGB8) -> Int {
    func square(_ one: UInt8, _ other: UInt8) -> Int { (Int(one) - Int(other)) * (Int(one) - Int(other)) }
    return square(left.red, right.red) + square(left.green, right.green) + square(left.blue, right.blue)
  }

  private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]
}
