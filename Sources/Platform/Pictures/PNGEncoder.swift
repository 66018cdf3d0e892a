// SPDX-License-Identifier: Apache-2.0

#if Pictures
  internal import CPNG
  package import Secrets

  /// Pixels to PNG, through libpng's simplified interface.
  package enum PNGEncoder {
    /// A PNG with eight bits a channel, in sRGB.
    package static func encode(_ raster: borrowing Raster) throws(PictureError) -> SecretBytes {
      var image = unsafe png_image()
      unsafe image.version = UInt32(PNG_IMAGE_VERSION)
      unsafe image.width = UInt32(raster.width)
      unsafe image.height = UInt32(raster.height)
      unsafe image.format = UInt32(PNG_FORMAT_FLAG_COLOR)
      defer { unsafe png_image_free(&image) }
      let pixelByteCount = 3 * raster.width * raster.height + raster.height
      // What cannot be deflated is stored in blocks, with a few bytes each; 12 bytes a chunk of 8 KiB.
      var byteCount = pixelByteCount + pixelByteCount / 256 + 4096
      var file = SecretBytes(zeroed: byteCount)
      let isWritten = raster.withPixels { pixels in
        unsafe pixels.withUnsafeBytes { pixels in
          file.withMutableBytes { file in
            unsafe file.withUnsafeMutableBytes { file in
              unsafe png_image_write_to_memory(
                &image, file.baseAddress, &byteCount, 0, pixels.baseAddress, 0, nil) != 0
            }
          }
        }
      }
      guard isWritten else { throw .encodingFailed }
      file.shorten(to: byteCount)
      return file
    }
  }
#endif
