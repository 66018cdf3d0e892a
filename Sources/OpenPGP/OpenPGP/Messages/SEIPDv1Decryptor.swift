// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets

/// Decrypts the body of a message of version 1. Nothing that comes out is authentic before the end: see
/// ``MDCCheckedSource``.
final class SEIPDv1Decryptor: BatchWork {
  private let source: any ByteSource
  private var cipher: CFBCipher
  private let prefixByteCount: Int
  /// Octets that were read and are still to be decrypted: the last may be the modification detection code.
  private var held: [UInt8]

  /// The decrypted prefix, from the first batch on.
  private(set) var prefix: [UInt8] = []
  /// The decrypted modification detection code, with the last batch.
  private(set) var code: [UInt8] = []

  let isSerial = true

  /// - Parameter beginning: octets of the ciphertext that have been taken from `source` already.
  init(
    _ source: any ByteSource, beginning: [UInt8], _ algorithm: SymmetricAlgorithm, key: SharedSecretBytes
  ) throws(OpenPGPError) {
    self.source = source
    held = beginning
    prefixByteCount = try SEIPDv1Prefix.byteCount(algorithm)
    cipher = try key.withBytes { (key) throws(OpenPGPError) in
      try SEIPDv1Prefix.cipher(algorithm, .decrypt, key: key)
    }
  }

  func read(_ batch: Batch) throws(OpenPGPError) {
    held = try batch.fill(from: source, behind: held, keepingBack: SEIPDv1Prefix.mdcByteCount)
    guard batch.contentByteCount >= (batch.number == 0 ? prefixByteCount : 0) else { throw .notAuthentic }
  }

  func transform(_ batch: Batch, lane: Int) {
    let content = batch.contentByteCount
    let end = content + (batch.isLast ? SEIPDv1Prefix.mdcByteCount : 0)
    batch.bytes.withMutableBytes { bytes in bytes.withRange(0..<end) { cipher.process(&$0) } }
    batch.bytes.withBytes { bytes in
      if batch.number == 0 { prefix = [UInt8](copying: bytes.extracting(0..<prefixByteCount)) }
      if batch.isLast { code = [UInt8](copying: bytes.extracting(content..<end)) }
    }
    batch.setContent((batch.number == 0 ? prefixByteCount : 0)..<content)
  }
}
