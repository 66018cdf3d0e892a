// SPDX-License-Identifier: Apache-2.0

#if Pictures
  internal import CTurboJPEG
  package import Secrets

  /// Pixels to JPEG, through libjpeg-turbo.
  package enum JPEGEncoder {
    /// A sequential JPEG in YCbCr with colours at half the resolution, without any metadata.
    /// - Parameter quality: 1 to 100.
    package static func encode(
      _ raster: borrowing Raster, quality: Int
    ) throws(PictureError) -> SecretBytes {
      guard let encoder = unsafe tjInitCompress() else { throw .encodingFailed }
      defer { unsafe tjDestroy(encoder) }
      let (width, height) = (Int32(raster.width), Int32(raster.height))
      let sampling = Int32(TJSAMP_420.rawValue)
      var byteCount = tjBufSize(width, height, sampling)
      var file = SecretBytes(zeroed: Int(byteCount))
      let result = raster.withPixels { pixels in
        unsafe pixels.withUnsafeBytes { pixels in
          file.withMutableBytes { file in
            unsafe file.withUnsafeMutableBytes { file in
              var start = unsafe file.baseAddress?.assumingMemoryBound(to: UInt8.self)
              return unsafe tjCompress2(
                encoder, pixels.baseAddress, width, 0, height, Int32(TJPF_RGB.rawValue), &start,
                &byteCount, sampling, Int32(quality), TJFLAG_NOREALLOC)
            }
          }
        }
      }
      guard result == 0 else { throw .encodingFailed }
      file.shorten(to: Int(byteCount))
      return file
    }
  }
#endif
