// SPDX-License-Identifier: Apache-2.0
//
// Parts of a capture as whole values, for callers that keep ciphertexts themselves.

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
    var reader = DataReader(content)
    _ = try cipher.seal(
      part, byteCount: content.count, from: { reader.read(into: &$0) },
      to: { piece in unsafe piece.withUnsafeBytes { unsafe sealed.append(contentsOf: $0) } })
    return sealed
  }

  /// Opens a part.
  /// - Throws: `CaptureError.corrupt` when these are not the bytes that were sealed as that part of that
  ///   capture.
  public mutating func decrypt(_ sealed: Data, as part: CapturePart) throws -> Data {
    guard let byteCount = PartCipher.byteCount(sealed: sealed.count) else { throw CaptureError.corrupt(part) }
    var content = Data(capacity: byteCount)
    var reader = DataReader(sealed)
    _ = try cipher.open(
      part, byteCount: byteCount, from: { reader.read(into: &$0) },
      to: { piece in
        unsafe piece.withUnsafeBytes { unsafe content.append(contentsOf: $0) }
        return true
      })
    return content
  }
}
