// SPDX-License-Identifier: Apache-2.0
//
// The decoder process. It must call only what its sandbox allows: memory, reading, writing, exiting.

internal import CSystem
internal import Glibc
internal import Secrets

#if Pictures
  internal import CPNG
  internal import CTurboJPEG
#endif

extension PictureWorker {
  /// The whole life of a process that was started with ``argument``: opens the decoders' libraries, gives up every right, reads one request
  /// and one file from standard input, writes one answer to standard output, and ends.
  ///
  /// Call it before anything is opened or read. When the rights cannot be given up, it reads nothing.
  public static func run() -> Never { serve(answer) }

  /// The same with another way to answer. It must write the answer, or throw.
  static func serve(_ answer: (PictureRequest, RawSpan) throws(PictureError) -> Void) -> Never {
    #if Pictures
      // The sandbox lets nothing be opened. Without a library, the request for it is answered with that.
      _ = unsafe (coffer_turbojpeg_open(), coffer_png_open())
    #endif
    guard coffer_enter_decoder_sandbox() == 0 else { end(with: .noSandbox) }
    var header = [UInt8](repeating: 0, count: PictureRequest.byteCount)
    var span = header.mutableSpan
    var space = unsafe span.mutableBytes
    guard readAll(&space), let (request, byteCount) = PictureRequest.read(header.rawSpan),
      byteCount > 0, byteCount <= PictureLimits.fileByteCount
    else { end(with: .crashed) }
    var file = SecretBytes(zeroed: byteCount)
    guard file.withMutableBytes({ readAll(&$0) }) else { end(with: .crashed) }
    do {
      try file.withBytes { file throws(PictureError) in try answer(request, file) }
    } catch {
      end(with: error)
    }
    // Not exit(3): handlers that other code has registered must not run in this process.
    _exit(0)
  }

  private static func answer(_ request: PictureRequest, _ file: RawSpan) throws(PictureError) {
    switch request.kind {
    case .thumbnail:
      let thumbnail = try Thumbnail.make(
        file, longestSide: request.longestSide, orientation: request.orientation)
      thumbnail.withBytes { write($0) }
    case .raster:
      let raster = try PhotoDecoder.decode(
        file, longestSide: request.longestSide, orientation: request.orientation)
      write(raster)
    case .depthRaster:
      let side = request.longestSide
      let raster = try DepthMap.read(file).falseColours(request.meaning).fitted(width: side, height: side)
      write(raster)
    case .depthPNG:
      #if Pictures
        let raster = try DepthMap.read(file).falseColours(request.meaning)
        try PNGEncoder.encode(raster).withBytes { write($0) }
      #else
        throw PictureError.notBuilt
      #endif
    // That process has opened the library for it, this one has not.
    case .codes: throw .noCodeLibrary
    }
  }

  private static func write(_ raster: borrowing Raster) {
    let (width, height) = (raster.width, raster.height)
    raster.withPixels { write($0, width: width, height: height) }
  }

  static func write(_ content: RawSpan, width: Int = 0, height: Int = 0) {
    let header = PictureAnswer.Header(width: width, height: height, contentByteCount: content.byteCount)
    writeAll(header.bytes().rawSpan)
    writeAll(content)
  }

  private static func end(with error: PictureError) -> Never {
    writeAll(PictureAnswer.Header(width: 0, height: 0, contentByteCount: 0).bytes(error).rawSpan)
    _exit(1)
  }

  private static func readAll(_ bytes: inout MutableRawSpan) -> Bool {
    unsafe bytes.withUnsafeMutableBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = unsafe read(STDIN_FILENO, bytes.baseAddress! + done, bytes.count - done)
        if count > 0 { done += count } else if count == 0 || errno != EINTR { return false }
      }
      return true
    }
  }

  private static func writeAll(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes {
      if unsafe coffer_write_all(STDOUT_FILENO, $0.baseAddress, $0.count) != 0 { _exit(1) }
    }
  }
}
