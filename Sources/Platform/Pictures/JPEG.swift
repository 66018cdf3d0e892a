// SPDX-License-Identifier: Apache-2.0
//
// JPEG to pixels, through libjpeg-turbo. For the decoder process only: see `PictureWorker`. Only the pixels
// are read; the caller passes the orientation, which the Exif part has.

#if Pictures
  internal import CTurboJPEG
  package import Secrets

  /// Reads JPEG (ITU-T T.81) in grey or YCbCr, sequential or progressive.
  @safe
  package struct JPEGDecoder: ~Copyable {
    private let decoder: tjhandle
    private let jpeg: coffer_turbojpeg

    package init() throws(PictureError) { try unsafe self.init(coffer_turbojpeg_open()?.pointee) }

    /// - Parameter library: nil for one that is missing.
    init(_ library: coffer_turbojpeg?) throws(PictureError) {
      guard let jpeg = library else { throw .noLibrary }
      guard let decoder = unsafe jpeg.tjInitDecompress() else { throw .tooLarge }
      unsafe self.decoder = unsafe decoder
      self.jpeg = jpeg
    }

    deinit { _ = unsafe jpeg.tjDestroy(decoder) }

    /// Whether the bytes begin as every JPEG does: start of image, and another marker.
    static func recognises(_ file: RawSpan) -> Bool { PictureKind.isJPEG(file) }

    /// Width and height in pixels, from the header.
    package borrowing func size(of file: RawSpan) throws(PictureError) -> (width: Int, height: Int) {
      guard JPEGDecoder.recognises(file) else { throw .notAPicture }
      guard file.byteCount <= PictureLimits.fileByteCount else { throw .tooLarge }
      var (width, height, sampling, space) = (Int32(0), Int32(0), Int32(0), Int32(0))
      let result = unsafe file.withUnsafeBytes { file in
        unsafe jpeg.tjDecompressHeader3(
          decoder, file.baseAddress, UInt(file.count), &width, &height, &sampling, &space)
      }
      guard result == 0, width > 0, height > 0 else { throw .corrupt }
      guard Int(width) * Int(height) <= PictureLimits.photoPixelCount else { throw .tooLarge }
      guard UInt32(space) < TJCS_CMYK.rawValue else { throw .unknownFormat }
      return (Int(width), Int(height))
    }

    /// Decodes at the smallest scale whose longer side has at least `longestSide` pixels; at full size if
    /// there is no such scale, or `longestSide` is nil; at the largest scale that a ``Raster`` can hold if
    /// that is smaller.
    package borrowing func decode(
      _ file: RawSpan, atLeast longestSide: Int? = nil
    ) throws(PictureError) -> Raster {
      let (fullWidth, fullHeight) = try size(of: file)
      let eighths = JPEGDecoder.eighths(fullWidth, fullHeight, atLeast: longestSide)
      let (width, height) = (JPEGDecoder.scaled(fullWidth, eighths), JPEGDecoder.scaled(fullHeight, eighths))
      return try Raster(width: width, height: height) { pixels throws(PictureError) in
        try read(file, width, height, TJPF_RGB, into: &pixels)
      }
    }

    /// Decodes a picture in grey for ``CodeReader``, at full size.
    package borrowing func decodeGrey(_ file: RawSpan) throws(PictureError) -> GreyPicture {
      let (width, height) = try size(of: file)
      guard width * height <= PictureLimits.codePixelCount else { throw .tooLarge }
      var grey = SecretBytes(zeroed: width * height)
      try grey.withMutableBytes { pixels throws(PictureError) in
        try read(file, width, height, TJPF_GRAY, into: &pixels)
      }
      return GreyPicture(width: width, height: height, pixels: grey)
    }

    private borrowing func read(
      _ file: RawSpan, _ width: Int, _ height: Int, _ format: TJPF, into pixels: inout MutableRawSpan
    ) throws(PictureError) {
      let result = unsafe file.withUnsafeBytes { file in
        unsafe pixels.withUnsafeMutableBytes { pixels in
          unsafe jpeg.tjDecompress2(
            decoder, file.baseAddress, UInt(file.count), pixels.baseAddress, Int32(width), 0,
            Int32(height), Int32(format.rawValue), TJFLAG_LIMITSCANS)
        }
      }
      if result != 0 && !isHarmless() { throw .corrupt }
    }

    /// Some cameras write a few extra bytes before a marker, which does no harm. Every other warning means
    /// that pixels are missing.
    private borrowing func isHarmless() -> Bool {
      guard unsafe jpeg.tjGetErrorCode(decoder) == Int32(TJERR_WARNING.rawValue),
        let message = unsafe jpeg.tjGetErrorStr2(decoder)
      else { return false }
      return unsafe String(cString: message).contains("extraneous bytes before marker")
    }

    /// libjpeg-turbo scales by 1/8, 2/8, … 8/8 while it decodes, which is much faster than afterwards.
    /// Never more than a raster may have.
    static func eighths(_ width: Int, _ height: Int, atLeast wanted: Int?) -> Int {
      let most =
        (1...8).last { scaled(width, $0) * scaled(height, $0) <= PictureLimits.rasterPixelCount } ?? 1
      guard let wanted else { return most }
      return min(most, (1...8).first { scaled(max(width, height), $0) >= wanted } ?? 8)
    }

    /// TJSCALED of turbojpeg.h.
    private static func scaled(_ length: Int, _ eighths: Int) -> Int { (length * eighths + 7) / 8 }
  }

  /// Pixels to JPEG, through libjpeg-turbo.
  package enum JPEGEncoder {
    /// A sequential JPEG in YCbCr with colours at half the resolution, without any metadata.
    /// - Parameter quality: 1 to 100.
    package static func encode(
      _ raster: borrowing Raster, quality: Int
    ) throws(PictureError) -> SecretBytes {
      guard let jpeg = unsafe coffer_turbojpeg_open()?.pointee else { throw .noLibrary }
      guard let encoder = unsafe jpeg.tjInitCompress() else { throw .encodingFailed }
      defer { _ = unsafe jpeg.tjDestroy(encoder) }
      let (width, height) = (Int32(raster.width), Int32(raster.height))
      let sampling = Int32(TJSAMP_420.rawValue)
      var byteCount = jpeg.tjBufSize(width, height, sampling)
      var file = SecretBytes(zeroed: Int(byteCount))
      let result = raster.withPixels { pixels in
        unsafe pixels.withUnsafeBytes { pixels in
          file.withMutableBytes { file in
            unsafe file.withUnsafeMutableBytes { file in
              var start = unsafe file.baseAddress?.assumingMemoryBound(to: UInt8.self)
              return unsafe jpeg.tjCompress2(
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
