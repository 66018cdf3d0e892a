// SPDX-License-Identifier: Apache-2.0

extension Raster {
  /// The picture turned upright.
  /// - Throws: never ``PictureError/tooLarge``: there are as many pixels as before.
  public consuming func oriented(_ orientation: PictureOrientation) throws(PictureError) -> Raster {
    if orientation == .upright { return self }
    let turned = orientation.exchangesSides
    let (width, height) = turned ? (height, width) : (width, height)
    let (lastColumn, lastRow) = (self.width - 1, self.height - 1)
    return try withPixels { pixels throws(PictureError) in
      try Raster(width: width, height: height) { result in
        unsafe pixels.withUnsafeBytes { from in
          unsafe result.withUnsafeMutableBytes { to in
            var at = 0
            for y in 0..<height {
              for x in 0..<width {
                let (column, row) =
                  switch orientation {
                  case .upright: (x, y)
                  case .mirrored: (lastColumn - x, y)
                  case .upsideDown: (lastColumn - x, lastRow - y)
                  case .flipped: (x, lastRow - y)
                  case .transposed: (y, x)
                  case .quarterClockwise: (y, lastRow - x)
                  case .transversed: (lastColumn - y, lastRow - x)
                  case .quarterCounterclockwise: (lastColumn - y, x)
                  }
                let source = 3 * (row * (lastColumn + 1) + column)
                unsafe to[at] = unsafe from[source]
                unsafe to[at + 1] = unsafe from[source + 1]
                unsafe to[at + 2] = unsafe from[source + 2]
                at += 3
              }
            }
          }
        }
      }
    }
  }
}

/// How to turn stored rows and columns for display: the Exif tag Orientation (CIPA DC-008, tag 0x0112).
public enum PictureOrientation: UInt8, CaseIterable, Sendable {
  /// As stored.
  case upright = 1
  /// Left and right exchanged.
  case mirrored = 2
  /// Half a turn.
  case upsideDown = 3
  /// Top and bottom exchanged.
  case flipped = 4
  /// Rows and columns exchanged.
  case transposed = 5
  /// Turn by a quarter, clockwise.
  case quarterClockwise = 6
  /// Rows and columns exchanged, and half a turn.
  case transversed = 7
  /// Turn by a quarter, counterclockwise.
  case quarterCounterclockwise = 8

  /// From the number in the tag; values that Exif reserves are taken as upright.
  public init(exif value: Int) {
    self = UInt8(exactly: value).flatMap(PictureOrientation.init(rawValue:)) ?? .upright
  }

  /// Whether width and height change places.
  var exchangesSides: Bool { rawValue >= 5 }
}
