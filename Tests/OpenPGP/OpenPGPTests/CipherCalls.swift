// SPDX-License-Identifier: Apache-2.0
//
// The ciphers of the engine on arrays, for tests whose keys are no secrets.

@testable import OpenPGP

func sealed(
  _ plaintext: [UInt8], _ cipher: SymmetricAlgorithm, _ algorithm: AEADAlgorithm, key: [UInt8],
  nonce: [UInt8], data: [UInt8]
) throws -> [UInt8] {
  var aead = try AEADCipher(
    cipher, algorithm, .seal, key: key.span.bytes, nonceByteCount: nonce.count)
  var buffer = plaintext + [UInt8](repeating: 0, count: 16)
  var span = buffer.mutableSpan
  var bytes = span.mutableBytes
  aead.seal(&bytes, nonce: nonce.span.bytes, authenticating: data.span.bytes)
  return buffer
}

/// What `open` leaves in its buffer, and the error.
func opened(
  _ sealed: [UInt8], _ cipher: SymmetricAlgorithm, _ algorithm: AEADAlgorithm, key: [UInt8],
  nonce: [UInt8], data: [UInt8]
) throws -> (buffer: [UInt8], error: OpenPGPError?) {
  var aead = try AEADCipher(
    cipher, algorithm, .open, key: key.span.bytes, nonceByteCount: nonce.count)
  var buffer = sealed
  var span = buffer.mutableSpan
  var bytes = span.mutableBytes
  do throws(OpenPGPError) {
    try aead.open(&bytes, nonce: nonce.span.bytes, authenticating: data.span.bytes)
    return (buffer, nil)
  } catch {
    return (buffer, error)
  }
}

/// CFB over the pieces of a stream.
func cfb(
  _ bytes: [UInt8], _ algorithm: SymmetricAlgorithm, _ direction: CFBCipher.Direction, key: [UInt8],
  iv: [UInt8], pieces: [Int]
) throws -> [UInt8] {
  var cipher = try CFBCipher(algorithm, direction, key: key.span.bytes, iv: iv.span.bytes)
  var output: [UInt8] = []
  var rest = bytes[...]
  for count in pieces {
    var piece = Array(rest.prefix(count))
    rest = rest.dropFirst(count)
    var span = piece.mutableSpan
    var raw = span.mutableBytes
    cipher.process(&raw)
    output += piece
  }
  return output
}
