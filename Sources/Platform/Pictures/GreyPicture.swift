// SPDX-License-Identifier: Apache-2.0
//
// A picture in grey, in which codes are looked for. For the decoder process only: see `CodeReader`.

internal import Secrets

/// Rows of pixels, top row first, one byte each.
package struct GreyPicture: ~Copyable {
  let width: Int
  let height: Int
  let pixels: SecretBytes

  #if Pictures
    /// Reads a PNG or a JPEG at full size; transparent pixels are drawn on white.
    /// - Throws: ``PictureError``, with ``PictureError/tooLarge`` above ``PictureLimits/codePixelCount``.
    static func decode(_ file: RawSpan) throws(PictureError) -> GreyPicture {
      if PNGChunks.recognises(file) { return try PNGDecoder.decodeGrey(file) }
      return try JPEGDecoder().decodeGrey(file)
    }
  #endif

  /// The picture with each pixel three times as wide and high, since modules of one pixel are not found; nil for one
  /// that is too large to need that.
  borrowing func enlarged() throws(PictureError) -> GreyPicture? {
    guard width <= Self.smallSideLength, height <= Self.smallSideLength else { return nil }
    let (width, height, factor) = (width, height, Self.factor)
    var larger = SecretBytes(zeroed: width * factor * height * factor)
    pixels.withBytes { from in
      larger.withMutableBytes { to in
        for y in 0..<height * factor {
          for x in 0..<width * factor {
            to.storeBytes(
              of: from.byte(y / factor * width + x / factor), toByteOffset: y * width * factor + x,
              as: UInt8.self)
          }
        }
      }
    }
    return GreyPicture(width: width * factor, height: height * factor, pixels: larger)
  }

  /// The largest code with modules of two pixels.
  private static let smallSideLength = 2 * (177 + 2 * QRCode.quietZone)
  private static let factor = 3
}
