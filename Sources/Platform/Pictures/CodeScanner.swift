// SPDX-License-Identifier: Apache-2.0
//
// Finding QR codes, through libzbar. For the process that finds codes only: see `CodeReader`.

package import Secrets

#if Pictures
  internal import CZbar
#endif

/// The library, opened for one process.
@safe
package final class CodeScanner {
  #if Pictures
    private let zbar: OpaquePointer
  #endif

  /// Nil when the library is missing, is another one, or this build has none.
  package init?(library: String) {
    #if Pictures
      guard let zbar = unsafe coffer_zbar_open(library) else { return nil }
      unsafe self.zbar = unsafe zbar
    #else
      return nil
    #endif
  }

  /// The list of the different texts in a picture, as ``CodeTexts`` writes it.
  package static func texts(
    in picture: RawSpan, _ scanner: CodeScanner?
  ) throws(PictureError) -> SecretBytes {
    #if Pictures
      guard let scanner else { throw .noCodeLibrary }
      let grey = try GreyPicture.decode(picture)
      var texts = try scanner.texts(in: grey)
      if texts.isEmpty, let larger = try grey.enlarged() { texts = try scanner.texts(in: larger) }
      return texts.finished()
    #else
      throw .notBuilt
    #endif
  }

  #if Pictures
    private func texts(in grey: borrowing GreyPicture) throws(PictureError) -> CodeTexts {
      let (width, height) = (UInt32(grey.width), UInt32(grey.height))
      return try grey.pixels.withBytes { pixels throws(PictureError) in
        try unsafe pixels.withUnsafeBytes { pixels throws(PictureError) in
          guard unsafe coffer_zbar_scan(zbar, pixels.baseAddress, width, height) == 0 else { throw .tooLarge }
          var texts = CodeTexts()
          var count = 0
          while let text = unsafe coffer_zbar_next(zbar, &count) {
            try texts.append(unsafe RawSpan(_unsafeStart: text, byteCount: count))
          }
          return texts
        }
      }
    }
  #endif
}
