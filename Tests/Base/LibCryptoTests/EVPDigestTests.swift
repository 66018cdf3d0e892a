// SPDX-License-Identifier: Apache-2.0

import LibCrypto
import Secrets
import Testing

@Suite("Digests, codes and derivations")
struct EVPDigestTests {
  private func digest(_ function: Digest, _ pieces: [[UInt8]]) -> [UInt8] {
    var context = DigestContext(function)
    for piece in pieces { context.update(piece.rawSpan) }
    return context.finish()
  }

  private func code(_ mac: inout MAC, _ message: [UInt8]) -> [UInt8] {
    mac.update(message.rawSpan)
    var code = [UInt8](repeating: 0, count: mac.byteCount)
    code.withMutableRawSpan { mac.finish(into: &$0) }
    return code
  }

  @Test("The digest of 'abc' is that of FIPS 180-4, in pieces of any size")
  func abc() {
    let expected = hex("ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad")
    #expect(digest(.sha256, [Array("abc".utf8)]) == expected)
    #expect(digest(.sha256, [[], Array("a".utf8), [], Array("bc".utf8)]) == expected)
    #expect(digest(.sha512, [Array("abc".utf8)]).prefix(4) == hex("ddaf35a1")[...])
  }

  @Test("Each function says how long its digest is")
  func lengths() throws {
    #expect(Digest.sha256.byteCount == 32 && Digest.sha512.byteCount == 64)
    let optional = [(Digest.sha1, 20), (.sha224, 28), (.sha384, 48), (.sha3_256, 32), (.sha3_512, 64)]
    for (function, count) in optional { #expect(try #require(function).byteCount == count) }
    for function in [Digest.md5, .ripemd160] {
      #expect(function.map { digest($0, []).count == $0.byteCount } ?? true)
    }
  }

  @Test("A copy takes in further bytes of its own")
  func duplicate() {
    var one = DigestContext(.sha256)
    one.update(Array("a".utf8).rawSpan)
    var other = one.duplicate()
    other.update(Array("bc".utf8).rawSpan)
    #expect(one.finish() == digest(.sha256, [Array("a".utf8)]))
    #expect(other.finish() == digest(.sha256, [Array("abc".utf8)]))
  }

  /// RFC 4231, case 2; an empty key, which must not be the key of the message before.
  @Test("HMAC is that of RFC 4231, and its context is used again")
  func hmac() {
    let message = Array("what do ya want for nothing?".utf8)
    let expected = hex("5bdcc146 bf60754e 6a042426 089575c7 5a003f08 9d273983 9dec58b9 64ec3843")
    var mac = MAC(hmac: .sha256)
    for _ in 0..<2 {
      mac.start(key: Array("Jefe".utf8).rawSpan)
      #expect(code(&mac, message) == expected)
    }
    mac.start(key: RawSpan())
    #expect(code(&mac, []) == hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
  }

  /// NIST SP 800-38B, appendix D.1, examples 1 and 2.
  @Test("CMAC is that of SP 800-38B, for one message after another")
  func cmac() throws {
    let key = hex("2b7e151628aed2a6abf7158809cf4f3c")
    let cipher = BlockCipher(.aes128, .cbc)!
    var mac = MAC(cmac: cipher, key: key.rawSpan)!
    #expect(mac.byteCount == 16)
    for _ in 0..<2 {
      mac.restart()
      #expect(code(&mac, []) == hex("bb1d6929e95937287fa37d129b756746"))
      mac.restart()
      #expect(
        code(&mac, hex("6bc1bee22e409f96e93d7e117393172a")) == hex("070a16b46b4d4144f79bdd9dd04a287c"))
    }
  }

  @Test("The library says its name")
  func version() { #expect(OpenSSL.version.hasPrefix("OpenSSL 3")) }
}
