// SPDX-License-Identifier: Apache-2.0

package import Secrets

/// Decodes photos of either format. For the decoder process only: see ``PictureWorker``.
package enum PhotoDecoder {
  /// The photo, turned by `orientation`, and made to fit into a square of `longestSide` pixels; a smaller
  /// one keeps its size.
  package static func decode(
    _ photo: RawSpan, longestSide: Int, orientation: PictureOrientation
  ) throws(PictureError) -> Raster {
    guard longestSide > 0 else { throw .invalidSize }
    #if Pictures
      let raster =
        if PNGChunks.recognises(photo) {
          try PNGDecoder.decode(photo)
        } else {
          try JPEGDecoder().decode(photo, atLeast: longestSide)
        }
      return try raster.fitted(width: longestSide, height: longestSide).oriented(orientation)
    #else
      throw .notBuilt
    #endif
  }
}

/// Small pictures to be shown in lists.
public enum Thumbnail {
  /// Pixels of the longer side, by default.
  public static let longestSide = 320
  /// JPEG quality: below 80 edges begin to ring, above it only the file grows.
  static let quality = 80

  /// A JPEG of the photo in small, without any metadata. For the decoder process only: others ask
  /// ``PictureWorker``.
  package static func make(
    _ photo: RawSpan, longestSide: Int = longestSide, orientation: PictureOrientation = .upright
  ) throws(PictureError) -> SecretBytes {
    guard longestSide <= PictureLimits.thumbnailSideLength else { throw .tooLarge }
    #if Pictures
      let raster = try PhotoDecoder.decode(photo, longestSide: longestSide, orientation: orientation)
      return try JPEGEncoder.encode(raster, quality: quality)
    #else
      throw .notBuilt
    #endif
  }
}
