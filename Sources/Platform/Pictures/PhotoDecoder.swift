// SPDX-License-Identifier: Apache-2.0

/// Photos to pixels, whichever of the two formats they are in. For the process that decodes only: see
/// ``PictureWorker``.
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
