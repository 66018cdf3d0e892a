// SPDX-License-Identifier: Apache-2.0

extension Raster {
  /// The picture as it is to be looked at.
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
