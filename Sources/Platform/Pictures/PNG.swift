// SPDX-License-Identifier: Apache-2.0
//
// PNG to pixels and to depths, through libpng's simplified interface. For the decoder process only: see
// `PictureWorker`.

#if Pictures
  internal import CPNG
  package import Secrets

  /// Reads PNG of every kind.
  package enum PNGDecoder {
    /// Decodes a photo at full size; transparent pixels are drawn on white.
    package static func decode(_ file: RawSpan) throws(PictureError) -> Raster {
      let chunks = try PNGChunks(file, pixelLimit: PictureLimits.rasterPixelCount)
      return try Raster(width: chunks.width, height: chunks.height) { pixels throws(PictureError) in
        try read(chunks, .colour, into: &pixels)
      }
    }

    /// Decodes a picture in grey for ``CodeReader``; transparent pixels are drawn on white.
    static func decodeGrey(_ file: RawSpan) throws(PictureError) -> GreyPicture {
      let chunks = try PNGChunks(file, pixelLimit: PictureLimits.codePixelCount)
      var grey = SecretBytes(zeroed: chunks.width * chunks.height)
      try grey.withMutableBytes { bytes throws(PictureError) in try read(chunks, .brightness, into: &bytes) }
      return GreyPicture(width: chunks.width, height: chunks.height, pixels: grey)
    }

    /// Grey values as they were written: 0 to 65,535 when there are 16 bits, else 0 to 255.
    /// - Throws: ``PictureError/unknownFormat`` when it is not grey, and as ``decode(_:)``.
    static func depths(_ file: RawSpan) throws(PictureError) -> (DepthMap) {
      let chunks = try PNGChunks(file, pixelLimit: PictureLimits.depthPixelCount)
      guard chunks.colourType == 0 else { throw .unknownFormat }
      let is16Bit = chunks.bitDepth == 16
      var grey = SecretBytes(zeroed: chunks.width * chunks.height * (is16Bit ? 2 : 1))
      try grey.withMutableBytes { bytes throws(PictureError) in
        try read(chunks, is16Bit ? .grey16 : .grey8, into: &bytes)
      }
      let (width, height) = (chunks.width, chunks.height)
      return try grey.withBytes { grey throws(PictureError) in
        try DepthMap(width: width, height: height) { index in
          is16Bit
            ? Float(unsafe grey.unsafeLoad(fromByteOffset: 2 * index, as: UInt16.self))
            : Float(grey.byte(index))
        }
      }
    }

    /// The layout of the decoded pixels.
    private enum Layout {
      case colour, brightness, grey8, grey16

      /// PNG_FORMAT_RGB, PNG_FORMAT_GRAY, PNG_FORMAT_LINEAR_Y.
      var format: UInt32 {
        switch self {
        case .colour: UInt32(PNG_FORMAT_FLAG_COLOR)
        case .brightness, .grey8: 0
        case .grey16: UInt32(PNG_FORMAT_FLAG_LINEAR)
        }
      }

      /// Photos with 16 bits are in sRGB as those with 8 bits are; depths are numbers, to be left alone.
      var flags: UInt32 {
        self == .colour || self == .brightness ? UInt32(PNG_IMAGE_FLAG_16BIT_sRGB) : 0
      }
    }

    private static func read(
      _ chunks: borrowing PNGChunks, _ layout: Layout, into pixels: inout MutableRawSpan
    ) throws(PictureError) {
      guard let png = unsafe coffer_png_open()?.pointee else { throw .noLibrary }
      var image = unsafe png_image()
      unsafe image.version = UInt32(PNG_IMAGE_VERSION)
      defer { unsafe png.png_image_free(&image) }
      var white = png_color(red: 255, green: 255, blue: 255)
      let isRead = chunks.file.withBytes { file in
        unsafe file.withUnsafeBytes { file in
          guard unsafe png.png_image_begin_read_from_memory(&image, file.baseAddress, file.count) != 0,
            unsafe image.width == chunks.width && image.height == chunks.height
          else { return false }
          unsafe image.format = layout.format
          unsafe image.flags |= layout.flags
          return unsafe pixels.withUnsafeMutableBytes { pixels in
            unsafe png.png_image_finish_read(&image, &white, pixels.baseAddress, 0, nil) != 0
          }
        }
      }
      // libpng continues after some damage with a warning.
      guard isRead, unsafe image.warning_or_error == 0 else { throw .corrupt }
    }
  }

  /// Pixels to PNG, through libpng's simplified interface.
  package enum PNGEncoder {
    /// A PNG with eight bits a channel, in sRGB.
    package static func encode(_ raster: borrowing Raster) throws(PictureError) -> SecretBytes {
      guard let png = unsafe coffer_png_open()?.pointee else { throw .noLibrary }
      var image = unsafe png_image()
      unsafe image.version = UInt32(PNG_IMAGE_VERSION)
      unsafe image.width = UInt32(raster.width)
      unsafe image.height = UInt32(raster.height)
      unsafe image.format = UInt32(PNG_FORMAT_FLAG_COLOR)
      defer { unsafe png.png_image_free(&image) }
      let pixelByteCount = 3 * raster.width * raster.height + raster.height
      // Data that cannot be deflated is stored in blocks, with a few bytes each; 12 bytes a chunk of 8 KiB.
      var byteCount = pixelByteCount + pixelByteCount / 256 + 4096
      var file = SecretBytes(zeroed: byteCount)
      let isWritten = raster.withPixels { pixels in
        unsafe pixels.withUnsafeBytes { pixels in
          file.withMutableBytes { file in
            unsafe file.withUnsafeMutableBytes { file in
              unsafe png.png_image_write_to_memory(
                &image, file.baseAddress, &byteCount, 0, pixels.baseAddress, 0, nil) != 0
            }
          }
        }
      }
      guard isWritten else { throw .encodingFailed }
      file.shorten(to: byteCount)
      return file
    }

    /// A PNG in grey, from rows of one byte a pixel, which are no secret.
    /// - Parameter library: nil for one that is missing.
    static func encode(
      grey: [UInt8], width: Int, height: Int, _ library: coffer_png? = unsafe coffer_png_open()?.pointee
    ) throws(PictureError) -> [UInt8] {
      precondition(grey.count == width * height, "one byte a pixel")
      guard let png = library else { throw .noLibrary }
      var image = unsafe png_image()
      unsafe image.version = UInt32(PNG_IMAGE_VERSION)
      unsafe image.width = UInt32(width)
      unsafe image.height = UInt32(height)
      // PNG_FORMAT_GRAY
      unsafe image.format = 0
      defer { unsafe png.png_image_free(&image) }
      // As above.
      var byteCount = grey.count + height + (grey.count + height) / 256 + 4096
      var file = [UInt8](repeating: 0, count: byteCount)
      guard unsafe png.png_image_write_to_memory(&image, &file, &byteCount, 0, grey, 0, nil) != 0 else {
        throw .encodingFailed
      }
      return Array(file[..<byteCount])
    }
  }
#endif
