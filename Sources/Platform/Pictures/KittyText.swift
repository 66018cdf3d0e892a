// SPDX-License-Identifier: Apache-2.0
//
// The kitty graphics protocol: pixels in base64, in parts of at most 4,096 characters.

internal import Secrets

enum KittyText {
  /// Transmits and shows at once (`a=T`), 24 bits a pixel (`f=24`), over so many columns and rows; the
  /// terminal is asked not to answer (`q=2`).
  static func make(_ raster: borrowing Raster, _ cell: TerminalPicture.Cell) -> SecretBytes {
    let columns = (raster.width + cell.width - 1) / cell.width
    let rows = (raster.height + cell.height - 1) / cell.height
    let (width, height) = (raster.width, raster.height)
    return raster.withPixels { pixels in
      let partCount = (pixels.byteCount + partByteCount - 1) / partByteCount
      var text = GrowingBytes(capacity: partCount * (4 * partByteCount / 3 + 16) + 128)
      for part in 0..<partCount {
        let start = part * partByteCount
        let end = min(start + partByteCount, pixels.byteCount)
        text.append("\u{1B}_G")
        if part == 0 {
          text.append("a=T,f=24,s=")
          text.append(width)
          text.append(",v=")
          text.append(height)
          text.append(",c=")
          text.append(columns)
          text.append(",r=")
          text.append(rows)
          text.append(",q=2,")
        }
        text.append(end < pixels.byteCount ? "m=1;" : "m=0;")
        text.append(base64: pixels.extracting(start..<end))
        text.append("\u{1B}\\")
      }
      text.append("\n")
      return text.finished()
    }
  }

  /// 4,096 characters are 3,072 bytes.
  private static let partByteCount = 3072
}
