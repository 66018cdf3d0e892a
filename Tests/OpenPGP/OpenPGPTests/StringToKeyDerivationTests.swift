// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 3.7.1: keys from passwords, against the standard's words done naively.

import Primitives
import Secrets
import TestVectors
import Testing

@testable import OpenPGP

@Suite("Keys from passwords")
struct StringToKeyDerivationTests {
  private func key(_ specifier: StringToKey, _ password: [UInt8], byteCount: Int) throws -> [UInt8] {
    let key = try specifier.deriveKey(password: password.span.bytes, byteCount: byteCount)
    return key.withBytes { [UInt8](copying: $0) }
  }

  /// The octets of the standard's description, one after the other.
  private func naive(
    _ hash: HashAlgorithm, _ unit: [UInt8], octetCount: Int, byteCount: Int
  ) -> [UInt8] {
    var output: [UInt8] = []
    var zeros = 0
    while output.count < byteCount {
      var input = [UInt8](repeating: 0, count: zeros)
      for index in 0..<max(octetCount, unit.count) { input.append(unit[index % unit.count]) }
      var context = HashContext(hash)
      context.update(input)
      output += context.finish()
      zeros += 1
    }
    return Array(output.prefix(byteCount))
  }

  @Test(
    "Simple, salted and iterated hashing give what the standard describes",
    arguments: [HashAlgorithm.md5, .sha1, .ripemd160, .sha256, .sha384, .sha512, .sha224, .sha3_256])
  func hashing(_ hash: HashAlgorithm) throws {
    let salt = SystemRandom.publicBytes(count: 8)
    let password = Array("a pass word".utf8)
    for byteCount in [16, 24, 32] {
      #expect(
        try key(.simple(hash), password, byteCount: byteCount)
          == naive(hash, password, octetCount: 0, byteCount: byteCount))
      #expect(
        try key(.salted(hash, salt: salt), password, byteCount: byteCount)
          == naive(hash, salt + password, octetCount: 0, byteCount: byteCount))
      for coded in [UInt8(0), 0x2B, 0x60] {
        let octetCount = StringToKey.octetCount(coded: coded)
        #expect(
          try key(.iterated(hash, salt: salt, codedCount: coded), password, byteCount: byteCount)
            == naive(hash, salt + password, octetCount: octetCount, byteCount: byteCount))
      }
    }
  }

  @Test("A password that is longer than the count is hashed whole, once")
  func longPassword() throws {
    let salt = SystemRandom.publicBytes(count: 8)
    let password = SystemRandom.publicBytes(count: 5_000)
    #expect(
      try key(.iterated(.sha256, salt: salt, codedCount: 0), password, byteCount: 32)
        == naive(.sha256, salt + password, octetCount: 1_024, byteCount: 32))
  }

  @Test("An empty password is a password")
  func emptyPassword() throws {
    let empty = try key(.simple(.sha256), [], byteCount: 32)
    // SHA-256 of nothing.
    #expect(
      empty == (try hexBytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")))
    let argon2 = StringToKey.argon2(
      salt: [UInt8](repeating: 3, count: 16), passes: 1, lanes: 1, memoryExponent: 4)
    #expect(try key(argon2, [], byteCount: 32) != empty)
  }

  @Test("Unknown specifiers and hashes are refused by their number")
  func unknown() {
    #expect(throws: OpenPGPError.unsupported(.stringToKey(101))) {
      _ = try key(.unknown(type: 101, []), [1], byteCount: 16)
    }
    #expect(throws: OpenPGPError.unsupported(.hashAlgorithm(99))) {
      _ = try key(.simple(HashAlgorithm(rawValue: 99)), [1], byteCount: 16)
    }
  }

  @Test(
    "Argon2 that asks for too much or for nonsense is refused before it runs",
    arguments: [
      (UInt8(1), UInt8(1), UInt8(23), OpenPGPError.overLimit(.argon2Memory)),
      (17, 1, 22, .overLimit(.argon2Memory)), (255, 1, 19, .overLimit(.argon2Memory)),
      (1, 1, 32, .malformed(.stringToKey)), (1, 1, 255, .malformed(.stringToKey)),
      (0, 1, 10, .malformed(.stringToKey)), (1, 0, 10, .malformed(.stringToKey)),
      (1, 4, 4, .malformed(.stringToKey)),
    ])
  func argon2Limits(passes: UInt8, lanes: UInt8, memoryExponent: UInt8, expected: OpenPGPError) {
    let specifier = StringToKey.argon2(
      salt: [UInt8](repeating: 3, count: 16), passes: passes, lanes: lanes, memoryExponent: memoryExponent)
    #expect(throws: expected) { _ = try key(specifier, [1], byteCount: 16) }
  }

  @Test(
    "Argon2 with many passes over little memory, and with many lanes, is what the reference computes",
    arguments: [
      (UInt8(255), UInt8(1), UInt8(4), "ff0e7ba939dd27e733656916b3a02583"),
      (1, 255, 11, "49fe3f1372267ca806c2446a8f4fb59a"), (65, 66, 10, "1d48e106a57ba6820bea69b3bdf66d64"),
    ])
  func argon2Extremes(passes: UInt8, lanes: UInt8, memoryExponent: UInt8, expected: String) throws {
    let specifier = StringToKey.argon2(
      salt: [UInt8](repeating: 3, count: 16), passes: passes, lanes: lanes, memoryExponent: memoryExponent)
    let found = try key(specifier, [1], byteCount: 16)
    let digits = found.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(digits == expected)
  }
}
