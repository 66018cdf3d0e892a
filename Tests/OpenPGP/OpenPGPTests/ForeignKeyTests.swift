// SPDX-License-Identifier: Apache-2.0
//
// Secret keys that other implementations wrote: each must open, and what signs must sign for its public half.

import Primitives
import LibCrypto
import Secrets
import TestVectors
import Testing

@testable import OpenPGP

@Suite("Keys of other implementations")
struct ForeignKeyTests {
  struct Key: Sendable, CustomTestStringConvertible {
    let path: String
    /// Packets of secret keys in it.
    let count: Int
    var password: String?
    var testDescription: String { path }
  }

  private func secretKeys(_ path: String) throws -> [(key: SecretKey, isSubkey: Bool)] {
    try VectorFiles.packets("openpgp/" + path).compactMap { packet in
      switch packet {
      case .secretKey(let key): (key, false)
      case .secretSubkey(let key): (key, true)
      default: nil
      }
    }
  }

  /// The octets of a password, of a file of vectors when it is named so.
  private func password(_ key: Key) throws -> [UInt8] {
    guard let password = key.password else { return [] }
    guard password.hasSuffix(".txt") else { return Array(password.utf8) }
    return Array(try VectorFiles.contents("openpgp/" + password).prefix { $0 != 0x0A })
  }

  static let keys: [Key] = [
    Key(path: "made/keys/v4.sec", count: 2), Key(path: "made/keys/v4n.sec", count: 3),
    Key(path: "made/keys/v6.sec", count: 2), Key(path: "made/keys/v6x.sec", count: 3),
    Key(path: "made/keys/locked-cfb254-v4.sec", count: 2, password: "made/pw.txt"),
    Key(path: "made/keys/locked-cfb254-v6.sec", count: 2, password: "made/pw.txt"),
    Key(path: "made/keys/locked-cfb254-v6x.sec", count: 2, password: "made/pw.txt"),
    Key(path: "made/keys/locked-cfb255-v4.sec", count: 2, password: "made/pw.txt"),
    Key(path: "made/keys/locked-gcm253-v4.sec", count: 2, password: "made/pw.txt"),
    Key(path: "made/keys/locked-gcm253-v6x.sec", count: 2, password: "made/pw.txt"),
    Key(path: "made/keys/locked-ocb253-argon2-v6.sec", count: 2, password: "made/pw.txt"),
    Key(path: "made/keys/locked-ocb253-argon2-v6x.sec", count: 2, password: "made/pw.txt"),
    Key(path: "third-party/rpgp/carol.sec.asc", count: 2),
    Key(path: "third-party/sequoia/messages/encrypted/nistp384.sec.pgp", count: 2),
    Key(path: "third-party/sequoia/messages/encrypted/nistp521.sec.pgp", count: 2),
    Key(path: "third-party/sequoia/messages/encrypted/cv25519.unclamped.sec.pgp", count: 2),
    Key(path: "third-party/sequoia/keys/testy-private.pgp", count: 2),
    Key(
      path: "third-party/gocrypto/keys_test_data.009.ecdsaPrivateKey.sec.asc", count: 2, password: "password"),
    Key(path: "third-party/openpgpjs/ecc_nist.000.armoredKey.sec.asc", count: 2),
    Key(path: "third-party/openpgpjs/key.053.armoredKey.sec.asc", count: 2),
    Key(path: "third-party/gnupg/trust-pgp/alice.sec.asc", count: 1),
    Key(path: "third-party/rnp/test_key_edge_cases/alice-3-uids.pgp", count: 2, password: "password"),
    Key(path: "third-party/rnp/test_key_edge_cases/key-25519-non-tweaked-sec.asc", count: 2),
  ]

  @Test("A key opens with its password and signs for its public half", arguments: keys)
  func opens(_ vector: Key) throws {
    let password = try password(vector)
    let keys = try secretKeys(vector.path)
    #expect(keys.count == vector.count)
    for (key, isSubkey) in keys {
      if vector.password != nil {
        #expect(throws: OpenPGPError.keyIsLocked) { _ = try key.unlocked(password: nil, isSubkey: isSubkey) }
        #expect(throws: OpenPGPError.wrongPassword) {
          _ = try key.unlocked(password: (password + [0x21]).span.bytes, isSubkey: isSubkey)
        }
      }
      let unlocked = try key.unlocked(password: password.span.bytes, isSubkey: isSubkey)
      #expect(unlocked.publicKey == key.publicKey)
      guard key.publicKey.algorithm.signs, key.publicKey.material.hasUsablePrivateKeys else {
        continue
      }
      let digest = SystemRandom.publicBytes(count: 64)
      let signature = try unlocked.sign(digest: digest, hash: .sha512)
      #expect(try key.publicKey.isValid(signature, digest: digest, hash: .sha512))
    }
  }

  @Test("A session key for a scalar that was stored without its fixed bits is found all the same")
  func unclamped() throws {
    for path in [
      "third-party/sequoia/messages/encrypted/cv25519.unclamped.sec.pgp",
      "third-party/rnp/test_key_edge_cases/key-25519-non-tweaked-sec.asc",
    ] {
      let (key, isSubkey) = try #require(try secretKeys(path).last)
      let unlocked = try key.unlocked(password: nil, isSubkey: isSubkey)
      let sessionKey = KeyFixtures.sessionKey(.aes256)
      let packet = try key.publicKey.encrypt(sessionKey, version: 3, isAnonymous: false)
      #expect(bytes(try unlocked.decrypt(packet).bytes) == bytes(sessionKey.bytes))
    }
  }

  @Test("Argon2 under CFB is malformed, and a changed tag a wrong password")
  func refused() throws {
    let password = try password(Key(path: "", count: 0, password: "made/pw.txt"))
    for (key, isSubkey) in try secretKeys("made/keys/locked-cfb254-argon2-v4.sec") {
      #expect(throws: OpenPGPError.malformed(.secretKey)) {
        _ = try key.unlocked(password: password.span.bytes, isSubkey: isSubkey)
      }
    }
    let subkeys = try secretKeys("made/keys/locked-ocb253-argon2-badmac-v6x.sec").filter { $0.isSubkey }
    #expect(subkeys.count == 1)
    for (key, isSubkey) in subkeys {
      #expect(throws: OpenPGPError.wrongPassword) {
        _ = try key.unlocked(password: password.span.bytes, isSubkey: isSubkey)
      }
    }
    // Usage 255 in version 6 is not even a packet.
    #expect(try secretKeys("made/keys/locked-cfb255-v6.sec").isEmpty)
  }

  @Test("CAST5 protects keys of old times, where the legacy provider is installed")
  func cast5() throws {
    let keys = try secretKeys("third-party/rnp/keyrings/1/secring-cast5.gpg")
    #expect(keys.count >= 6)
    let password = Array("password".utf8)
    for (key, isSubkey) in keys {
      do throws(OpenPGPError) {
        _ = try key.unlocked(password: password.span.bytes, isSubkey: isSubkey)
      } catch {
        #expect(error == .unsupported(.symmetricAlgorithm(3)))
      }
    }
  }
}
