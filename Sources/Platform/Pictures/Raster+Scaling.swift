// SPDX-License-Identifier: Apache-2.0
//
// Making a picture smaller: every new pixel is the mean of the area it covers, edges by their share. The
// sums are whole numbers, so that the same picture gives the same bytes everywhere.

internal import Secrets

extension Raster {
  /// The picture made smaller, in its proportions, so that it fits into `width` × `height`. A picture that
  /// fits already stays as it is.
  /// - Throws: ``PictureError/invalidSize`` when there is no room for a pixel.
  public consuming func fitted(width: Int, height: Int) throws(PictureError) -> Raster {
    guard width > 0, height > 0 else { throw .invalidSize }
    if self.width <= width && self.height <= height { return self }
    let (newWidth, newHeight) = Raster.size(self.width, self.height, fitting: width, height)
    return try shrunk(width: newWidth, height: newHeight)
  }

  /// The largest size of the same proportions that fits; at least one pixel each way.
  static func size(_ width: Int, _ height: Int, fitting mostWidth: Int, _ mostHeight: Int) -> (Int, Int) {
    if width * mostHeight >= height * mostWidth {
      return (mostWidth, max(1, min(mostHeight, (height * mostWidth + width / 2) / width)))
    }
    return (max(1, min(mostWidth, (width * mostHeight + height / 2) / height)), mostHeight)
  }

  /// Rows first into a row of sums, then columns. A source row `i` of `H` covers `h·i ..< h·(i + 1)`, a new
  /// row `y` of `h` covers `H·y ..< H·(y + 1)`: the overlap is the weight, and weights add up to `H`.
  borrowing func shrunk(width newWidth: Int, height newHeight: Int) throws(PictureError) -> Raster {
    let (width, height) = (width, height)
    precondition(newWidth <= width && newHeight <= height, "only ever made smaller")
    // The sum of a column is at most 255 · 65,500, and fits into 32 bits.
    var sums = SecretBytes(zeroed: 3 * width * MemoryLayout<UInt32>.size)
    return try withPixels { pixels throws(PictureError) in
      try Raster(width: newWidth, height: newHeight) { result in
        unsafe pixels.withUnsafeBytes { from in
          unsafe result.withUnsafeMutableBytes { to in
            sums.withMutableBytes { bytes in
              unsafe bytes.withUnsafeMutableBytes { bytes in
                let sums = unsafe bytes.bindMemory(to: UInt32.self)
                for y in 0..<newHeight {
                  unsafe Raster.addRows(of: from, width, height, y, newHeight, into: sums)
                  unsafe Raster.addColumns(
                    of: sums, width, height, into: to, at: 3 * newWidth * y, newWidth)
                }
              }
            }
          }
        }
      }
    }
  }

  private static func addRows(
    of pixels: UnsafeRawBufferPointer, _ width: Int, _ height: Int, _ y: Int, _ newHeight: Int,
    into sums: UnsafeMutableBufferPointer<UInt32>
  ) {
    let (start, end) = (height * y, height * (y + 1))
    unsafe sums.update(repeating: 0)
    var row = start / newHeight
    while row * newHeight < end {
      let weight = UInt32(min(end, (row + 1) * newHeight) - max(start, row * newHeight))
      let base = 3 * width * row
      for index in 0..<(3 * width) { unsafe sums[index] &+= weight &* UInt32(pixels[base + index]) }
      row += 1
    }
  }

  private static func addColumns(
    of sums: UnsafeMutableBufferPointer<UInt32>, _ width: Int, _ height: Int,
    into result: UnsafeMutableRawBufferPointer, at base: Int, _ newWidth: Int
  ) {
    let area = UInt64(width) * UInt64(height)
    for x in 0..<newWidth {
      let (start, end) = (width * x, width * (x + 1))
      var (red, green, blue) = (area / 2, area / 2, area / 2)
      var column = start / newWidth
      while column * newWidth < end {
        let weight = UInt64(min(end, (column + 1) * newWidth) - max(start, column * newWidth))
        red &+= weight &* UInt64(unsafe sums[3 * column])
        green &+= weight &* UInt64(unsafe sums[3 * column + 1])
        blue &+= weight &* UInt64(unsafe sums[3 * column + 2])
        column += 1
      }
      // A weighted mean of bytes is a byte.
      unsafe result[base + 3 * x] = UInt8(truncatingIfNeeded: red / area)
      unsafe result[base + 3 * x + 1] = UInt8(truncatingIfNeeded: green / area)
      unsafe result[base + 3 * x + 2] = UInt8(truncatingIfNeeded: blue / area)
    }
  }
}
