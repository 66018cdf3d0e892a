// SPDX-License-Identifier: Apache-2.0
//
// Parts of a capture as whole values, so that tests can compare and change them.

import Foundation
import Primitives
import Secrets

@testable import Captures

/// Seals and opens whole parts of one capture (Specs/captures.md, "Parts").
struct WholeParts: ~Copyable {
  private var cipher: PartCipher

  /// - Parameters:
  ///   - captureKey: the store's capture key; the capture gets a key of its own, derived from it.
  ///   - id: names the capture; never used again for another one.
  init(captureKey: borrowing SymmetricKey, id: CaptureID) {
    let key = captureKey.withBytes { SecretBytes(copying: $0) }
    cipher = PartCipher(key: CaptureKeys(key).parts(id), id: id, longest: PartCipher.chunkByteCount)
  }

  /// Seals a part.
  mutating func encrypt(_ content: Data, as part: CapturePart) throws -> Data {
    var sealed = Data(capacity: PartCipher.sealedByteCount(content.count))
    var reader = DataReader(content)
    _ = try cipher.seal(
      part, byteCount: content.count, from: { reader.read(into: &$0) },
      to: { piece in piece.withUnsafeBytes { sealed.append(contentsOf: $0) } })
    return sealed
  }

  /// Opens a part.
  /// - Throws: `CaptureError.corrupt` when these are not the bytes that were sealed as that part of that
  ///   capture.
  mutating func decrypt(_ sealed: Data, as part: CapturePart) throws -> Data {
    guard let byteCount = Self.byteCount(sealed: sealed.count) else { throw CaptureError.corrupt(part) }
    var content = Data(capacity: byteCount)
    var reader = DataReader(sealed)
    _ = try cipher.open(
      part, byteCount: byteCount, from: { reader.read(into: &$0) },
      to: { piece in
        piece.withUnsafeBytes { content.append(contentsOf: $0) }
        return true
      })
    return content
  }

  /// Bytes of the part whose sealed form has `count` bytes; nil when none has.
  private static func byteCount(sealed count: Int) -> Int? {
    let sealedChunk = PartCipher.chunkByteCount + PartCipher.overheadByteCount
    let chunks = max(1, (count + sealedChunk - 1) / sealedChunk)
    let byteCount = count - chunks * PartCipher.overheadByteCount
    return byteCount >= 0 && PartCipher.sealedByteCount(byteCount) == count ? byteCount : nil
  }
}
