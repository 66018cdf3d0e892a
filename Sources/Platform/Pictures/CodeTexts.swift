// SPDX-License-Identifier: Apache-2.0
//
// The texts of codes, from one process to the other: for each its bytes' number (4, least significant byte first), then
// the bytes. Each text is there once.

package import Secrets

/// A list of different texts that is being made.
package struct CodeTexts: ~Copyable {
  private var bytes = GrowingBytes(capacity: 4096)
  private var seen: Set<[UInt8]> = []

  package var isEmpty: Bool { seen.isEmpty }

  /// Adds a text, unless it is there; without what is above the limit.
  /// - Throws: ``PictureError/tooManyCodes``.
  mutating func append(_ text: RawSpan) throws(PictureError) {
    let kept = text.extracting(0..<min(text.byteCount, PictureLimits.codeByteCount))
    guard seen.insert(unsafe kept.withUnsafeBytes { unsafe Array($0) }).inserted else { return }
    guard seen.count <= PictureLimits.codeCount else { throw .tooManyCodes }
    for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: kept.byteCount >> shift)) }
    bytes.append(kept)
  }

  consuming func finished() -> SecretBytes { bytes.finished() }

  /// Bytes of the longest list.
  static let byteCountLimit = PictureLimits.codeCount * (4 + PictureLimits.codeByteCount)

  /// The texts of a list, which the other process may have made up.
  /// - Throws: ``PictureError/crashed`` for anything but a list that is written as above.
  package static func read(_ list: RawSpan) throws(PictureError) -> [SharedSecretBytes] {
    var texts: [SharedSecretBytes] = []
    var position = 0
    while position < list.byteCount {
      guard list.byteCount - position >= 4, texts.count < PictureLimits.codeCount else { throw .crashed }
      let count = (0..<4).reduce(0) { $0 | Int(list.byte(position + $1)) << (8 * $1) }
      position += 4
      guard count <= PictureLimits.codeByteCount, count <= list.byteCount - position else { throw .crashed }
      texts.append(SharedSecretBytes(SecretBytes(copying: list.extracting(position..<position + count))))
      position += count
    }
    return texts
  }
}
