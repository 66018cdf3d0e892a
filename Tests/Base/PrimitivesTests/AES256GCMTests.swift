// SPDX-License-Identifier: Apache-2.0
//
// What the vectors do not show of AES-256-GCM: reuse of a context, associated data, failures.

import Primitives
import Testing

@Suite("AES-256-GCM")
struct AES256GCMTests {
  private let key = SystemRandom.publicBytes(count: 32)
  private let nonce = SystemRandom.publicBytes(count: 12)

  @Test("One context seals and opens message after message, also after a failure")
  func reuse() throws {
    var cipher = AES256GCM()
    for index in 0..<100 {
      let key = SystemRandom.publicBytes(count: 32)
      let nonce = SystemRandom.publicBytes(count: 12)
      let aad = SystemRandom.publicBytes(count: index % 5)
      let plaintext = SystemRandom.publicBytes(count: index * 7)
      var combined = [UInt8](repeating: 0, count: plaintext.count + 16)
      try write(to: &combined) { output throws(CryptoError) in
        try cipher.seal(
          plaintext.span.bytes, key: key.span.bytes, nonce: nonce.span.bytes,
          authenticating: aad.span.bytes, into: &output)
      }
      #expect(combined == (try sealed(plaintext, key: key, nonce: nonce, aad: aad)))

      var changed = combined
      changed[0] ^= 1
      var output = [UInt8](repeating: untouched, count: plaintext.count)
      #expect(throws: CryptoError.authenticationFailed) {
        try write(to: &output) { output throws(CryptoError) in
          try cipher.open(
            changed.span.bytes, key: key.span.bytes, nonce: nonce.span.bytes,
            authenticating: aad.span.bytes, into: &output)
        }
      }
      #expect(output.allSatisfy { $0 == 0 })
      try write(to: &output) { output throws(CryptoError) in
        try cipher.open(
          combined.span.bytes, key: key.span.bytes, nonce: nonce.span.bytes,
          authenticating: aad.span.bytes, into: &output)
      }
      #expect(output == plaintext)
    }
  }

  @Test("Other associated data, none, or more of it does not open")
  func associatedData() throws {
    let combined = try sealed([1, 2, 3], key: key, nonce: nonce, aad: [7, 8])
    for aad: [UInt8] in [[], [7], [7, 9], [7, 8, 0]] {
      #expect(
        opened(combined, key: key, nonce: nonce, aad: aad)
          == Opened(error: .authenticationFailed, output: [0, 0, 0]))
    }
    #expect(opened(combined, key: key, nonce: nonce, aad: [7, 8]).output == [1, 2, 3])
  }

  @Test("Less than a tag is decryptionFailed", arguments: 0..<16)
  func shorterThanATag(_ count: Int) {
    let short = [UInt8](repeating: 0, count: count)
    #expect(opened(short, key: key, nonce: nonce).error == .decryptionFailed)
  }

  @Test("A key or nonce of another length is the caller's error and stops the process")
  func wrongLengths() async {
    await #expect(processExitsWith: .failure) {
      _ = try sealed(
        [], key: [UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 12))
    }
    await #expect(processExitsWith: .failure) {
      _ = try sealed(
        [], key: [UInt8](repeating: 0, count: 32), nonce: [UInt8](repeating: 0, count: 11))
    }
  }

  @Test("A MAC says the same with another key in between, and takes an empty key")
  func macReuse() {
    var hmac = HMACSHA256()
    func code(_ key: [UInt8]) -> [UInt8] {
      let message: [UInt8] = [1, 2, 3]
      return filled(32) { hmac.authenticate(message.span.bytes, key: key.span.bytes, into: &$0) }
    }
    let (first, other, again) = (code([4]), code([5]), code([4]))
    let (empty, zeros) = (code([]), code([UInt8](repeating: 0, count: 32)))
    #expect(first == again && first != other)
    #expect(empty == zeros, "an absent key counts as zeros (RFC 5869, section 2.2)")
  }

  @Test(
    "PBKDF2 refuses lengths and rounds that cannot be",
    arguments: [
      (rounds: 0, count: 32), (-1, 32), (Int(Int32.max) + 1, 32), (1, 0),
    ])
  func pbkdf2Bounds(_ rounds: Int, _ count: Int) {
    let (password, salt): ([UInt8], [UInt8]) = ([1], [2])
    #expect(throws: CryptoError.invalidKey) {
      try filled(count) { output throws(CryptoError) in
        try PBKDF2.hmacSHA256(
          password: password.span.bytes, salt: salt.span.bytes, rounds: rounds, into: &output)
      }
    }
  }
}
