// SPDX-License-Identifier: Apache-2.0
//
// QR codes in pictures. The pictures come from anywhere, and libzbar, which finds codes, has had memory errors (such as
// CVE-2023-40889). So both the picture and the codes in it are decoded as photos are: by the same program, started
// again, which holds nothing and has given up every right. Only that process opens the library, before the sandbox
// closes; the process that asks never maps it.

public import Secrets

/// Asks another process for the texts of the QR codes in a picture.
///
/// Every call starts one process, waits for it, and blocks until then.
public struct CodeReader: Sendable {
  /// The first and only argument of the process that finds codes. A program that uses this type must call ``run()``
  /// when it is started with it, before it does anything else.
  public static let argument = "code-worker"
  /// The library that finds codes.
  package static let library = "libzbar.so.0"

  package var worker: PictureWorker

  /// - Parameters:
  ///   - executable: the path of a program that calls ``run()``; this program itself, unless told.
  ///   - deadlineSeconds: after which the search is stopped.
  public init(executable: String = "/proc/self/exe", deadlineSeconds: Int = 10) {
    worker = PictureWorker(executable: executable, deadlineSeconds: deadlineSeconds)
    worker.arguments = [CodeReader.argument]
  }

  /// Whether a file begins as a picture that can be read: PNG or JPEG.
  public static func recognises(_ file: RawSpan) -> Bool {
    PNGChunks.recognises(file) || PictureKind.isJPEG(file)
  }

  /// The different texts of the QR codes in a PNG or JPEG, as the codes have them: any bytes. They are in locked memory,
  /// because one may be a private key by mistake.
  ///
  /// A text of more than ``PictureLimits/codeByteCount`` bytes, which no single code has, is cut off there.
  /// - Throws: ``PictureError``, with ``PictureError/tooLarge`` above ``PictureLimits/codePixelCount``,
  ///   ``PictureError/tooManyCodes`` and ``PictureError/noCodeLibrary``.
  public func texts(in picture: RawSpan) throws(PictureError) -> [SharedSecretBytes] {
    let answer = try worker.ask(
      PictureRequest(.codes, longestSide: 0), picture, most: CodeTexts.byteCountLimit)
    return try answer.content.withBytes { content throws(PictureError) in try CodeTexts.read(content) }
  }

  /// The whole life of a process that was started with ``argument``: opens the library, gives up every right, reads one
  /// request and one picture from standard input, writes one answer to standard output, and ends.
  ///
  /// Call it before anything is opened or read. When the rights cannot be given up, it reads nothing.
  public static func run() -> Never { run(library: library) }

  /// The same with another library, for tests.
  package static func run(library: String) -> Never {
    let scanner = CodeScanner(library: library)
    PictureWorker.serve { request, picture throws(PictureError) in
      guard request.kind == .codes else { throw .crashed }
      let texts = try CodeScanner.texts(in: picture, scanner)
      texts.withBytes { PictureWorker.write($0) }
    }
  }
}
