// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.13.2: a chunk's nonce ends in its number; behind the last chunk stands a tag over the
// number of all octets, so that none can be cut off.

internal import Primitives

/// Seals or opens the chunks of a message, on one thread.
final class SEIPDv2ChunkCipher {
  private var cipher: AEADCipher
  private let nonceStart: [UInt8]
  private let fields: [UInt8]

  init(_ cipher: consuming AEADCipher, nonceStart: [UInt8], fields: [UInt8]) {
    self.cipher = cipher
    self.nonceStart = nonceStart
    self.fields = fields
  }

  /// Encrypts all but the last 16 octets of `chunk`, and writes the tag there.
  func seal(_ chunk: inout MutableRawSpan, number: Int) { seal(&chunk, nonce(number), fields) }

  /// Decrypts all but the last 16 octets of `chunk`.
  /// - Throws: ``OpenPGPError/notAuthentic``.
  func open(_ chunk: inout MutableRawSpan, number: Int) throws(OpenPGPError) {
    try open(&chunk, nonce(number), fields)
  }

  /// Writes the tag of the whole message: of `chunkCount` chunks with `byteCount` octets in all.
  func sealEnd(_ tag: inout MutableRawSpan, chunkCount: Int, byteCount: Int) {
    seal(&tag, nonce(chunkCount), lastFields(byteCount))
  }

  /// Compares the tag of the whole message.
  /// - Throws: ``OpenPGPError/notAuthentic``.
  func openEnd(_ tag: inout MutableRawSpan, chunkCount: Int, byteCount: Int) throws(OpenPGPError) {
    try open(&tag, nonce(chunkCount), lastFields(byteCount))
  }

  private func seal(_ bytes: inout MutableRawSpan, _ nonce: [UInt8], _ fields: [UInt8]) {
    cipher.seal(&bytes, nonce: unsafe nonce.span.bytes, authenticating: unsafe fields.span.bytes)
  }

  private func open(
    _ bytes: inout MutableRawSpan, _ nonce: [UInt8], _ fields: [UInt8]
  ) throws(OpenPGPError) {
    try cipher.open(&bytes, nonce: unsafe nonce.span.bytes, authenticating: unsafe fields.span.bytes)
  }

  private func nonce(_ number: Int) -> [UInt8] {
    var nonce = nonceStart
    nonce.append(bigEndian: UInt64(number))
    return nonce
  }

  private func lastFields(_ byteCount: Int) -> [UInt8] {
    var fields = fields
    fields.append(bigEndian: UInt64(byteCount))
    return fields
  }
}
