// SPDX-License-Identifier: Apache-2.0
//
// Decoders are written in C, photos come from anywhere, and the process that shows them may hold keys. So
// each photo is decoded in a process of its own: the same program, started again, which holds nothing, gives
// up every right before it reads the first byte (`coffer_enter_decoder_sandbox`), and ends after one answer.
// A photo that takes over the process gets only its own pixels, and may answer with others; it can do no
// more. Therefore this process never decodes the answer either.

public import Secrets

/// Asks another process for pictures of a photo or a depth map.
///
/// Every call starts one process, waits for it, and blocks until then. A value may be used from several
/// threads at once.
public struct PictureWorker: Sendable {
  /// The first and only argument of the decoder process. A program that uses this type must call ``run()``
  /// when it is started with it, before it does anything else.
  public static let argument = "picture-worker"

  /// The program to start.
  public let executable: String
  /// Decoding that takes longer is stopped.
  public let deadlineSeconds: Int
  /// Another argument, for tests.
  package var arguments = [PictureWorker.argument]

  /// - Parameters:
  ///   - executable: the path of a program that calls ``run()``; this program itself, unless told.
  ///   - deadlineSeconds: after which decoding is stopped.
  public init(executable: String = "/proc/self/exe", deadlineSeconds: Int = 10) {
    self.executable = executable
    self.deadlineSeconds = deadlineSeconds
  }

  /// A JPEG of the photo, with at most `longestSide` pixels a side and without metadata.
  /// - Throws: ``PictureError``.
  public func thumbnail(
    of photo: RawSpan, longestSide: Int = Thumbnail.longestSide,
    orientation: PictureOrientation = .upright
  ) throws(PictureError) -> SecretBytes {
    guard longestSide > 0 else { throw .invalidSize }
    guard longestSide <= PictureLimits.thumbnailSideLength else { throw .tooLarge }
    let request = PictureRequest(.thumbnail, longestSide: longestSide, orientation: orientation)
    let answer = try ask(request, photo, most: PictureLimits.thumbnailByteCount)
    guard answer.content.count > 0 else { throw .crashed }
    return answer.consumeContent()
  }

  /// The photo's pixels, with at most `longestSide` a side.
  /// - Throws: ``PictureError``.
  public func raster(
    of photo: RawSpan, longestSide: Int, orientation: PictureOrientation = .upright
  ) throws(PictureError) -> Raster {
    try pixels(of: photo, PictureRequest(.raster, longestSide: longestSide, orientation: orientation))
  }

  /// A depth map in false colours, with at most `longestSide` pixels a side.
  /// - Throws: ``PictureError``.
  public func depthRaster(
    of depth: RawSpan, longestSide: Int, meaning: DepthMap.Meaning = .distance
  ) throws(PictureError) -> Raster {
    try pixels(of: depth, PictureRequest(.depthRaster, longestSide: longestSide, meaning: meaning))
  }

  /// A depth map in false colours and in its own size, as a PNG.
  /// - Throws: ``PictureError``.
  public func depthPNG(
    of depth: RawSpan, meaning: DepthMap.Meaning = .distance
  ) throws(PictureError) -> SecretBytes {
    let request = PictureRequest(.depthPNG, longestSide: PictureLimits.sideLength, meaning: meaning)
    let answer = try ask(request, depth, most: 4 * PictureLimits.depthPixelCount)
    guard answer.content.count > 0 else { throw .crashed }
    return answer.consumeContent()
  }

  private func pixels(of file: RawSpan, _ request: PictureRequest) throws(PictureError) -> Raster {
    let side = request.longestSide
    guard side > 0 else { throw .invalidSize }
    guard side <= PictureLimits.sideLength else { throw .tooLarge }
    let most = 3 * min(side * side, PictureLimits.rasterPixelCount)
    let answer = try ask(request, file, most: most)
    // The answer is checked: the other process may have been taken over.
    guard answer.width > 0, answer.height > 0, answer.width <= side, answer.height <= side,
      answer.content.count == 3 * answer.width * answer.height
    else { throw .crashed }
    return Raster(width: answer.width, height: answer.height, pixels: answer.consumeContent())
  }

  /// - Parameter most: bytes of content that the answer may have.
  func ask(
    _ request: PictureRequest, _ file: RawSpan, most: Int
  ) throws(PictureError) -> PictureAnswer {
    guard file.byteCount > 0 else { throw .notAPicture }
    guard file.byteCount <= PictureLimits.fileByteCount else { throw .tooLarge }
    let process = try DecoderProcess(
      executable, arguments: arguments, deadline: .seconds(deadlineSeconds))
    do {
      var header = request.bytes(fileByteCount: file.byteCount)
      try process.send(header.rawSpan, file)
      header = [UInt8](repeating: 0, count: PictureAnswer.headerByteCount)
      var span = header.mutableSpan
      var space = unsafe span.mutableBytes
      try process.receive(&space)
      let answer = try PictureAnswer.Header(header.rawSpan, most: most)
      var content = SecretBytes(zeroed: answer.contentByteCount)
      try content.withMutableBytes { bytes throws(PictureError) in try process.receive(&bytes) }
      return PictureAnswer(width: answer.width, height: answer.height, content: content)
    } catch PictureError.crashed {
      throw process.causeOfDeath()
    }
  }
}
