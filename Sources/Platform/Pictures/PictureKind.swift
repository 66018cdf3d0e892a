// SPDX-License-Identifier: Apache-2.0
//
// What a file begins like. Nothing but the first bytes is looked at, so this may run anywhere.

/// The kinds of pictures, told by their first bytes.
public enum PictureKind {
  /// Whether the bytes begin as every JPEG does: start of image, and another marker.
  static func isJPEG(_ file: RawSpan) -> Bool {
    file.byteCount >= 4 && file.byte(0) == 0xFF && file.byte(1) == 0xD8 && file.byte(2) == 0xFF
  }

  /// Whether the bytes begin as a picture or page of a kind that is not read here: GIF, WebP, HEIF (which phones make),
  /// BMP, TIFF, SVG, PDF, PostScript.
  public static func isForeign(_ file: RawSpan) -> Bool {
    func has(_ mark: StaticString, at offset: Int) -> Bool {
      mark.withUTF8Buffer { mark in
        guard file.byteCount >= offset + mark.count else { return false }
        return mark.indices.allSatisfy { unsafe mark[$0] == file.byte(offset + $0) }
      }
    }
    return has("GIF8", at: 0) || has("RIFF", at: 0) && has("WEBP", at: 8) || has("ftyp", at: 4)
      || has("BM", at: 0) && file.byteCount >= 14 && file.bigEndian32(6) == 0 || has("II*\u{0}", at: 0)
      || has("MM\u{0}*", at: 0) || has("<?xml", at: 0) || has("<svg", at: 0) || has("%PDF", at: 0)
      || has("%!PS", at: 0)
  }
}
