// SPDX-License-Identifier: Apache-2.0
//
// Parts of a capture as whole values, for callers that keep ciphertexts themselves (CA-01, CA-02).

public import Foundation
public import Primitives
internal import Secrets

/// Seals and opens whole parts of one capture. The sealed form is that of Specs/captures.md, «Parts».
public struct CaptureEncryption: ~Copyable {
  private var cipher: PartCipher

  /// - Parameters:
  ///   - captureKey: the store's capture key; the capture gets a key of its own, derived from it.
  ///   - id: names the capture; never used again for another one.
  public init(captureKey: borrowing SymmetricKey, id: CaptureID) {
    let key = captureKey.withBytes { SecretBytes(copying: $0) }
    cipher = PartCipher(key: CaptureKeys(key).parts(id), id: id, longest: PartCipher.chunkByteCount)
  }

  /// Seals a part.
  public mutating func encrypt(_ content: Data, as part: CapturePart) throws -> Data {
    var sealed = Data(capacity: PartCipher.sealedByteCount(content.count))
    var offset = 0
    _ = try cipher.seal(
      part, byteCount: content.count,
      from: { buffer in
        let count = min(buffer.byteCount, content.count - offset)
        buffer.copy(content.bytes.extracting(offset..<offset + count), to: 0)
        offset += count
        return count
      }, to: { piece in unsafe piece.withUnsafeBytes { unsafe sealed.append(contentsOf: $0) } })
    return sealed
  }

  /// Opens a part.
  /// - Throws: `CaptureError.corrupt` when these are not the bytes that were sealed as that part of that
  ///   capture.
  public mutating func decrypt(_ sealed: Data, as part: CapturePart) throws -> Data {
    guard let byteCount = PartCipher.byteCount(sealed: sealed.count) else { throw CaptureError.corrupt(part) }
    var content = Data(capacity: byteCount)
    var offset = 0
    _ = try cipher.open(
      part, byteCount: byteCount,
      from: { buffer in
        let count = min(buffer.byteCount, sealed.count - offset)
        buffer.copy(sealed.bytes.extracting(offset..<offset + count), to: 0)
        offset += count
        return count
      },
      to: { piece in
        unsafe piece.withUnsafeBytes { unsafe content.append(contentsOf: $0) }
        return true
      })
    return content
  }
}
