// SPDX-License-Identifier: Apache-2.0
//
// The block that RSA decrypts to: every deviation from its form is refused in the same way.

import Primitives
import Testing

@testable import OpenPGP

@Suite("Blocks of RSA")
struct PKCS1EncodingTests {
  /// A block of 256 octets with a session key for AES-128 in version 3.
  private func block(
    cipher: UInt8 = 7, keyByteCount: Int = 16, byteCount: Int = 256, hasCipher: Bool = true
  ) -> [UInt8] {
    let key = (0..<keyByteCount).map { UInt8($0 + 200) }
    let sum = key.reduce(0) { $0 + Int($1) }
    let message = (hasCipher ? [cipher] : []) + key + [UInt8(sum >> 8), UInt8(sum & 255)]
    let padding = [UInt8](repeating: 0xA5, count: byteCount - message.count - 3)
    return [0, 2] + padding + [0] + message
  }

  private func key(_ block: [UInt8], version: UInt8) -> (cipher: SymmetricAlgorithm?, bytes: [UInt8])? {
    PKCS1Encoding.sessionKey(block.span.bytes, version: version).map { ($0.cipher, bytes($0.bytes)) }
  }

  @Test(
    "A key of every cipher in the registry is found",
    arguments: [UInt8(1), 2, 3, 4, 7, 8, 9, 10, 11, 12, 13])
  func everyCipher(_ number: UInt8) throws {
    let cipher = SymmetricAlgorithm(rawValue: number)
    let count = try #require(cipher.keyByteCount)
    let found = try #require(key(block(cipher: number, keyByteCount: count), version: 3))
    #expect(found.cipher == cipher)
    #expect(found.bytes == (0..<count).map { UInt8($0 + 200) })
  }

  @Test("Version 6 has the key alone", arguments: [16, 24, 32])
  func version6(_ count: Int) throws {
    let found = try #require(key(block(keyByteCount: count, hasCipher: false), version: 6))
    #expect(found.cipher == nil)
    #expect(found.bytes == (0..<count).map { UInt8($0 + 200) })
    #expect(key(block(keyByteCount: count, hasCipher: false), version: 3) == nil)
  }

  @Test("Every other form is refused")
  func otherForms() {
    let good = block()
    #expect(key(good, version: 3) != nil)
    #expect(key(good, version: 6) == nil)
    var variants: [(String, [UInt8])] = []
    func vary(_ name: String, _ change: (inout [UInt8]) -> Void) {
      var copy = good
      change(&copy)
      variants.append((name, copy))
    }
    vary("first octet") { $0[0] = 1 }
    vary("second octet") { $0[1] = 1 }
    vary("a zero in the first eight octets of padding") { $0[9] = 0 }
    vary("a zero in later padding") { $0[100] = 0 }
    vary("no separator") { $0[256 - 20] = 1 }
    vary("checksum") { $0[255] ^= 1 }
    vary("key") { $0[250] ^= 1 }
    vary("cipher without a length") { $0[256 - 19] = 0 }
    vary("cipher of another length") { $0[256 - 19] = 9 }
    vary("unknown cipher") { $0[256 - 19] = 77 }
    variants.append(("short", Array(good.suffix(40))))
    variants.append(("empty", []))
    for (name, variant) in variants { #expect(key(variant, version: 3) == nil, "\(name)") }
  }

  @Test("Eight octets of padding are enough, seven are not")
  func shortPadding() {
    #expect(key(block(keyByteCount: 32, byteCount: 35 + 11).replacingCipher(9), version: 3) != nil)
    #expect(key(block(keyByteCount: 32, byteCount: 35 + 10).replacingCipher(9), version: 3) == nil)
  }
}

extension [UInt8] {
  /// The block with another cipher for a key of 32 octets.
  fileprivate func replacingCipher(_ number: UInt8) -> [UInt8] {
    var copy = self
    copy[count - 35] = number
    return copy
  }
}
