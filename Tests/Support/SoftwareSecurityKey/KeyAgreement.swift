// SPDX-License-Identifier: Apache-2.0
//
// The PIN/UV auth protocols one and two of an authenticator (CTAP 2.1, sections 6.5.6 and 6.5.7).

import COpenSSL
import Primitives
import Secrets

/// What platform and authenticator agreed on: a key for codes, and one for AES-256-CBC.
struct AgreedKeys {
  let version: Int
  let mac: SharedSecretBytes
  let cipher: SharedSecretBytes

  /// Nil for an unknown version, or a key that is not a point.
  init?(version: Int, own: borrowing P256PrivateKey, peer: CBOR) {
    guard let x = peer[-2]?.bytes, let y = peer[-3]?.bytes,
      let agreed = try? own.sharedSecret(with: [4] + x + y)
    else { return nil }
    self.version = version
    switch version {
    case 1:
      let hash = agreed.withBytes { SHA256.hash($0) }
      let key = SharedSecretBytes(SecretBytes(copying: hash.rawSpan))
      (mac, cipher) = (key, key)
    case 2:
      mac = Self.derived(agreed, "CTAP2 HMAC key")
      cipher = Self.derived(agreed, "CTAP2 AES key")
    default: return nil
    }
  }

  private static func derived(_ agreed: borrowing SecretBytes, _ purpose: StaticString) -> SharedSecretBytes {
    var hkdf = HKDF()
    let salt = [UInt8](repeating: 0, count: 32)
    return SharedSecretBytes(
      SecretBytes(byteCount: 32) { output in
        agreed.withBytes { agreed in
          purpose.withRawSpan { hkdf.derive(ikm: agreed, salt: salt.rawSpan, info: $0, into: &output) }
        }
      })
  }

  /// The code that goes with a message; protocol one cuts it to 16 bytes.
  static func code(_ version: Int, _ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    Array(HMACSHA256.code(of: message.rawSpan, key: key.rawSpan).prefix(version == 1 ? 16 : 32))
  }

  func code(of message: [UInt8]) -> [UInt8] {
    mac.withBytes { key in
      Array(HMACSHA256.code(of: message.rawSpan, key: key).prefix(version == 1 ? 16 : 32))
    }
  }

  func encrypt(_ plain: borrowing SecretBytes) -> [UInt8] {
    let vector =
      version == 1 ? [UInt8](repeating: 0, count: 16) : SystemRandom.publicBytes(count: 16)
    let body = plain.withBytes { Self.run(true, cipher, vector, $0) }
    return (version == 1 ? [] : vector) + body.withBytes { [UInt8](copying: $0) }
  }

  func decrypt(_ sealed: [UInt8]) -> SecretBytes {
    let vector = version == 1 ? [UInt8](repeating: 0, count: 16) : Array(sealed.prefix(16))
    let body = version == 1 ? sealed : Array(sealed.dropFirst(16))
    return Self.run(false, cipher, vector, body.rawSpan)
  }

  private static func run(
    _ encrypts: Bool, _ key: SharedSecretBytes, _ vector: [UInt8], _ input: RawSpan
  ) -> SecretBytes {
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    key.withBytes { key in
      key.withUnsafeBytes { key in
        _ = EVP_CipherInit_ex(
          context, EVP_aes_256_cbc(), nil, key.bindMemory(to: UInt8.self).baseAddress, vector,
          encrypts ? 1 : 0)
      }
    }
    EVP_CIPHER_CTX_set_padding(context, 0)
    return SecretBytes(byteCount: input.byteCount) { output in
      output.withUnsafeMutableBytes { output in
        input.withUnsafeBytes { input in
          var count: Int32 = 0
          _ = EVP_CipherUpdate(
            context, output.bindMemory(to: UInt8.self).baseAddress, &count,
            input.bindMemory(to: UInt8.self).baseAddress, Int32(input.count))
        }
      }
    }
  }
}
