// SPDX-License-Identifier: Apache-2.0
//
// The primitives on arrays, for tests: each call here gives a span of an array to the function under
// test. Outputs start as 0xAA, so that what was not written can be told from what was erased.

import Primitives

let untouched: UInt8 = 0xAA

func filled<E: Error>(
  _ count: Int, by body: (inout MutableRawSpan) throws(E) -> Void
) throws(E) -> [UInt8] {
  var bytes = [UInt8](repeating: untouched, count: count)
  try write(to: &bytes, body)
  return bytes
}

func write<E: Error>(
  to bytes: inout [UInt8], _ body: (inout MutableRawSpan) throws(E) -> Void
) throws(E) {
  var span = bytes.mutableSpan
  var raw = span.mutableBytes
  try body(&raw)
}

/// Seals into a buffer of its own.
func sealed(
  _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], aad: [UInt8] = []
) throws(CryptoError) -> [UInt8] {
  var cipher = AES256GCM()
  return try filled(plaintext.count + AES256GCM.tagByteCount) { output throws(CryptoError) in
    try cipher.seal(
      plaintext.span.bytes, key: key.span.bytes, nonce: nonce.span.bytes,
      authenticating: aad.span.bytes, into: &output)
  }
}

/// Seals where the plaintext is.
func sealedInPlace(
  _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], aad: [UInt8] = []
) throws(CryptoError) -> [UInt8] {
  var cipher = AES256GCM()
  var buffer = plaintext + [UInt8](repeating: untouched, count: AES256GCM.tagByteCount)
  try write(to: &buffer) { buffer throws(CryptoError) in
    try cipher.sealInPlace(
      &buffer, key: key.span.bytes, nonce: nonce.span.bytes, authenticating: aad.span.bytes)
  }
  return buffer
}

/// What opening gave: the error, if any, and what the output held afterwards.
struct Opened: Equatable {
  let error: CryptoError?
  let output: [UInt8]
}

func opened(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8], aad: [UInt8] = []) -> Opened {
  var cipher = AES256GCM()
  let count = max(0, sealed.count - AES256GCM.tagByteCount)
  var output = [UInt8](repeating: untouched, count: count)
  do {
    try write(to: &output) { output throws(CryptoError) in
      try cipher.open(
        sealed.span.bytes, key: key.span.bytes, nonce: nonce.span.bytes,
        authenticating: aad.span.bytes, into: &output)
    }
    return Opened(error: nil, output: output)
  } catch {
    return Opened(error: error, output: output)
  }
}
