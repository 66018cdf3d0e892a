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
