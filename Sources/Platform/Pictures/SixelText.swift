// SPDX-License-Identifier: Apache-2.0
//
// Sixels (DEC VT340 programmer's reference, chapter 14): bands of six rows; in each band every colour is
// drawn in a pass of its own, one character a column, repetitions counted.

internal import Secrets

enum SixelText {
  static func make(_ raster: borrowing Raster) -> SecretBytes {
    let (width, height) = (raster.width, raster.height)
    let palette = AdaptivePalette(of: raster)
    var text = GrowingBytes(capacity: width * height + 4096)
    // Pixels that are not drawn keep their colour (second parameter); pixels are square.
    text.append("\u{1B}P0;1;0q\"1;1;")
    text.append(width)
    text.append(";")
    text.append(height)
    for index in palette.colours.indices { define(index, palette.colours[index], in: &text) }

    // One row of sixels for every colour.
    var masks = SecretBytes(zeroed: palette.colours.count * width)
    for top in stride(from: 0, to: height, by: 6) {
      var isUsed = [Bool](repeating: false, count: palette.colours.count)
      masks.erase()
      masks.withMutableBytes { masks in
        unsafe masks.withUnsafeMutableBytes { masks in
          for y in top..<min(top + 6, height) {
            for x in 0..<width {
              let colour = Int(palette.index(of: raster[x, y]))
              isUsed[colour] = true
              unsafe masks[colour * width + x] |= 1 << UInt8(y - top)
            }
          }
        }
      }
      if top > 0 { text.append("-") }
      var isFirst = true
      for colour in isUsed.indices where isUsed[colour] {
        if !isFirst { text.append("$") }
        isFirst = false
        text.append("#")
        text.append(colour)
        masks.withBytes { appendRow($0, colour * width..<(colour + 1) * width, to: &text) }
      }
    }
    text.append("\u{1B}\\\n")
    return text.finished()
  }

  /// Colours are given in hundredths of red, green and blue.
  private static func define(_ index: Int, _ colour: RGB8, in text: inout GrowingBytes) {
    text.append("#")
    text.append(index)
    text.append(";2")
    for value in [colour.red, colour.green, colour.blue] {
      text.append(";")
      text.append((Int(value) * 100 + 127) / 255)
    }
  }

  private static func appendRow(_ masks: RawSpan, _ range: Range<Int>, to text: inout GrowingBytes) {
    var start = range.lowerBound
    while start < range.upperBound {
      let mask = masks.byte(start)
      var end = start + 1
      while end < range.upperBound, masks.byte(end) == mask { end += 1 }
      // Nothing needs to be drawn after the last pixel of this colour.
      if mask == 0 && end == range.upperBound { return }
      let count = end - start
      if count > 3 {
        text.append("!")
        text.append(count)
      }
      for _ in 0..<(count > 3 ? 1 : count) { text.append(mask + 63) }
      start = end
    }
  }
}
