// SPDX-License-Identifier: Apache-2.0
//
// The keys of RFC 9580's appendix A, and what is encrypted to them and to passwords there.

import Extents
import Foundation
import Primitives
import Secrets
import TestVectors
import Testing

@testable import OpenPGP

@Suite("Keys of RFC 9580, appendix A")
struct AppendixKeyTests {
  /// The primary key and the subkey.
  private func secretKeys(_ path: String) throws -> (SecretKey, SecretKey) {
    var keys: (SecretKey?, SecretKey?)
    for packet in try VectorFiles.packets(path) {
      switch packet {
      case .secretKey(let key): keys.0 = key
      case .secretSubkey(let key): keys.1 = key
      default: break
      }
    }
    return (try #require(keys.0), try #require(keys.1))
  }

  private let unlockedPath = "openpgp/rfc9580/A.04.v6-secret.asc"

  @Test("A.4: the unlocked key signs, and its subkey is there")
  func unlocked() throws {
    let (primary, subkey) = try secretKeys(unlockedPath)
    #expect(
      primary.publicKey.fingerprint.hexadecimal
        == "CB186C4F0609A697E4D52DFA6C722B0C1F1E27C18A56708F6525EC27BAD9ACC9")
    let signer = try primary.unlocked(password: nil, isSubkey: false)
    let digest = SystemRandom.publicBytes(count: 32)
    let signature = try signer.sign(digest: digest, hash: .sha256)
    #expect(try primary.publicKey.isValid(signature, digest: digest, hash: .sha256))
    _ = try subkey.unlocked(password: nil, isSubkey: true)
  }

  @Test("A.5: the locked key opens with its password to the key of A.4")
  func locked() throws {
    let (plain, plainSubkey) = try secretKeys(unlockedPath)
    let (primary, subkey) = try secretKeys("openpgp/rfc9580/A.05.v6-secret-locked-argon2-ocb.asc")
    let password = Array("correct horse battery staple".utf8)
    let opened = try withTwoGibibytes { try primary.unlocked(password: password.span.bytes, isSubkey: false) }
    #expect(bytes(opened.material) == bytes(plain.protectedMaterial))
    let openedSubkey = try withTwoGibibytes {
      try subkey.unlocked(password: password.span.bytes, isSubkey: true)
    }
    #expect(bytes(openedSubkey.material) == bytes(plainSubkey.protectedMaterial))
  }

  @Test("A.8: the session key that the appendix prints comes out of its packet")
  func sessionKey() throws {
    let (_, subkey) = try secretKeys(unlockedPath)
    let key = try subkey.unlocked(password: nil, isSubkey: true)
    let packets = try VectorFiles.packets("openpgp/rfc9580/A.08.5.x25519-aead-ocb.asc")
    guard case .pkesk(let packet)? = packets.first else {
      Issue.record("no packet of a session key")
      return
    }
    let found = try key.decrypt(packet)
    #expect(bytes(found.bytes) == (try hexBytes("dd708f6fa1ed65114d68d2343e7c2f1d")))
    #expect(found.cipher == nil)
  }

  @Test(
    "A.12: Argon2 gives the session key of each size",
    // 2 GiB each.
    arguments: Shares("A.12, session keys", count: 3).of([
      ("A.12.1.skesk4-argon2-aes128.asc", "01fe16bbacfd1e7b78ef3b865187374f"),
      ("A.12.2.skesk4-argon2-aes192.asc", "27006dae68e509022ce45a14e569e91001c2955af8dfe194"),
      (
        "A.12.3.skesk4-argon2-aes256.asc",
        "bbeda55b9aae63dac45d4f49d89dacf4af37fefc13bab2f1f8e18fb74580d8b0"
      ),
    ]))
  func argon2(path: String, expected: String) throws {
    let packets = try VectorFiles.packets("openpgp/rfc9580/" + path)
    guard case .skesk(let packet)? = packets.first,
      case .version4(let encrypted) = packet.form
    else {
      Issue.record("no packet of a session key")
      return
    }
    let password = Array("password".utf8)
    let byteCount = try #require(packet.cipher.keyByteCount)
    let key = try withTwoGibibytes {
      try packet.stringToKey.deriveKey(password: password.span.bytes, byteCount: byteCount).withBytes {
        [UInt8](copying: $0)
      }
    }
    let iv = [UInt8](repeating: 0, count: 16)
    let found = try cfb(
      encrypted, packet.cipher, .decrypt, key: key, iv: iv,
      pieces: [encrypted.count])
    #expect(Array(found.dropFirst()) == (try hexBytes(expected)))
  }
}

/// Runs a derivation of 2 GiB, as the RFC's examples of Argon2 need; waits while other tests take the memory.
func withTwoGibibytes<Result>(_ body: () throws -> Result) throws -> Result {
  let end = ContinuousClock.now.advanced(by: Patience.duration)
  while true {
    do { return try body() } catch OpenPGPError.notEnoughMemory where ContinuousClock.now < end {
      usleep(100_000)
    }
  }
}
