// SPDX-License-Identifier: Apache-2.0
//
// What the tests call takes spans; the tests have arrays.

import Pictures
import Secrets

extension Thumbnail {
  static func make(
    _ photo: [UInt8], longestSide: Int = longestSide, orientation: PictureOrientation = .upright
  ) throws -> SecretBytes {
    let span = photo.span
    return try make(span.bytes, longestSide: longestSide, orientation: orientation)
  }
}

#if Pictures
  extension PNGDecoder {
    static func decode(_ file: [UInt8]) throws -> Raster {
      let span = file.span
      return try decode(span.bytes)
    }
  }

  extension JPEGDecoder {
    func size(of file: [UInt8]) throws -> (width: Int, height: Int) {
      let span = file.span
      return try size(of: span.bytes)
    }

    func decode(_ file: [UInt8], atLeast longestSide: Int? = nil) throws -> Raster {
      let span = file.span
      return try decode(span.bytes, atLeast: longestSide)
    }
  }
#endif

extension DepthMap {
  static func read(_ file: [UInt8]) throws -> DepthMap {
    let span = file.span
    return try read(span.bytes)
  }
}

extension PictureWorker {
  func thumbnail(
    of photo: [UInt8], longestSide: Int = Thumbnail.longestSide, orientation: PictureOrientation = .upright
  ) throws -> SecretBytes {
    let span = photo.span
    return try thumbnail(of: span.bytes, longestSide: longestSide, orientation: orientation)
  }

  func raster(
    of photo: [UInt8], longestSide: Int, orientation: PictureOrientation = .upright
  ) throws -> Raster {
    let span = photo.span
    return try raster(of: span.bytes, longestSide: longestSide, orientation: orientation)
  }

  func depthRaster(
    of depth: [UInt8], longestSide: Int, meaning: DepthMap.Meaning = .distance
  ) throws -> Raster {
    let span = depth.span
    return try depthRaster(of: span.bytes, longestSide: longestSide, meaning: meaning)
  }

  func depthPNG(of depth: [UInt8]) throws -> SecretBytes {
    let span = depth.span
    return try depthPNG(of: span.bytes)
  }
}
