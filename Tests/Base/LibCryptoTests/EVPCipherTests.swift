// SPDX-License-Identifier: Apache-2.0

import LibCrypto
import Secrets
import Testing

@Suite("Ciphers of libcrypto")
struct EVPCipherTests {
  private static let modes: [AEADContext.Mode] = [.eax, .ocb, .gcm]

  private func context(
    _ mode: AEADContext.Mode, _ direction: AEADContext.Direction, _ key: [UInt8], nonceByteCount: Int = 12
  ) -> AEADContext? {
    AEADContext(.aes128, mode, direction, key: key.rawSpan, nonceByteCount: nonceByteCount)
  }

  private func sealed(
    _ plaintext: [UInt8], _ mode: AEADContext.Mode, _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]
  ) -> [UInt8]? {
    guard var context = context(mode, .seal, key, nonceByteCount: nonce.count) else { return nil }
    var buffer = plaintext + [UInt8](repeating: 0, count: 16)
    buffer.withMutableRawSpan { context.seal(&$0, nonce: nonce.rawSpan, authenticating: data.rawSpan) }
    return buffer
  }

  /// The plaintext, or nil with an erased buffer.
  private func opened(
    _ buffer: [UInt8], _ mode: AEADContext.Mode, _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]
  ) -> (isAuthentic: Bool, buffer: [UInt8])? {
    guard var context = context(mode, .open, key, nonceByteCount: nonce.count) else { return nil }
    var buffer = buffer
    let isAuthentic = buffer.withMutableRawSpan {
      context.open(&$0, nonce: nonce.rawSpan, authenticating: data.rawSpan)
    }
    return (isAuthentic, buffer)
  }

  /// The EAX paper, appendix G: two of its vectors.
  @Test("EAX is that of its paper")
  func eax() {
    #expect(
      sealed(
        hex("f7fb"), .eax, hex("91945d3f4dcbee0bf45ef52255f095a4"), hex("becaf043b0a23d843194ba972c66debd"),
        hex("fa3bfd4806eb53fa")) == hex("19dd5c4c9331049d0bdab0277408f67967e5"))
    #expect(
      sealed(
        hex("1bda122bce8a8dbaf1877d962b8592dd2d56"), .eax, hex("5fff20cafab119ca2fc73549e20f5b0d"),
        hex("dde59b97d722156d4d9aff2bc7559826"), hex("54b9f04e6a09189a"))
        == hex("2ec47b2c4954a489afc7ba4897edcdae8cc33b60450599bd02c96382902aef7f832a"))
  }

  /// RFC 7253, appendix A: the vector with 24 octets of each.
  @Test("OCB is that of RFC 7253, with a last block that is not whole")
  func ocb() {
    let bytes = Array(UInt8(0)..<24)
    #expect(
      sealed(bytes, .ocb, Array(UInt8(0)..<16), hex("BBAA9988776655443322110A"), bytes)?.count == 40)
    #expect(
      sealed(Array(UInt8(0)..<8), .ocb, Array(UInt8(0)..<16), hex("BBAA99887766554433221101"), Array(0..<8))
        == hex("6820B3657B6F615A5725BDA0D3B4EB3A257C9AF1F8F03009"))
  }

  @Test("What was sealed opens, and is erased when a bit of it is another", arguments: modes)
  func roundTrip(mode: AEADContext.Mode) throws {
    let (key, nonce) = ([UInt8](repeating: 5, count: 16), [UInt8](repeating: 6, count: 12))
    for count in [0, 1, 15, 16, 17, 300] {
      let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let message = try #require(sealed(plaintext, mode, key, nonce, [1, 2]))
      let right = try #require(opened(message, mode, key, nonce, [1, 2]))
      #expect(right.isAuthentic && Array(right.buffer.dropLast(16)) == plaintext)
      for place in [0, message.count / 2, message.count - 1] {
        var changed = message
        changed[place] ^= 0x80
        let wrong = try #require(opened(changed, mode, key, nonce, [1, 2]))
        #expect(!wrong.isAuthentic && wrong.buffer.allSatisfy { $0 == 0 })
      }
      #expect(try #require(opened(message, mode, key, nonce, [1])).isAuthentic == false)
      #expect(try #require(opened(message, mode, key, nonce, [])).isAuthentic == false)
    }
    #expect(try #require(opened([1, 2, 3], mode, key, nonce, [])).isAuthentic == false)
  }

  @Test("One context serves message after message, also after one that was refused", arguments: modes)
  func reuse(mode: AEADContext.Mode) {
    let key = [UInt8](repeating: 5, count: 16)
    var opener = context(mode, .open, key)!
    for number in UInt8(0)..<6 {
      let nonce = [UInt8](repeating: number, count: 12)
      var message = sealed([number, 2, 3], mode, key, nonce, [9])!
      if number % 2 == 1 { message[0] ^= 1 }
      let isAuthentic = message.withMutableRawSpan {
        opener.open(&$0, nonce: nonce.rawSpan, authenticating: [9].rawSpan)
      }
      #expect(isAuthentic == (number % 2 == 0))
      #expect(message.prefix(3) == (number % 2 == 0 ? [number, 2, 3] : [0, 0, 0]))
    }
  }

  /// NIST SP 800-38A, F.3.13 and F.3.14: CFB128-AES128.
  @Test(
    "CFB is that of SP 800-38A, in pieces of any size",
    arguments: [[32], [1, 31], [16, 16], [17, 15], [5, 0, 27]])
  func cfb(pieces: [Int]) throws {
    let (key, iv) = (hex("2b7e151628aed2a6abf7158809cf4f3c"), Array(UInt8(0)..<16))
    let plaintext = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    let ciphertext = hex("3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b")
    func run(_ direction: CFBStream.Direction, _ bytes: [UInt8]) -> [UInt8] {
      var stream = CFBStream(.aes128, direction, key: key.rawSpan, iv: iv.rawSpan)!
      var (output, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes[...])
      for count in pieces {
        var piece = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        piece.withMutableRawSpan { stream.process(&$0) }
        output += piece
      }
      return output
    }
    #expect(run(.encrypt, plaintext) == ciphertext)
    #expect(run(.decrypt, ciphertext) == plaintext)
  }

  /// RFC 3394, section 4.1.
  @Test("Key wrap is that of RFC 3394, and refuses what was changed or cannot have been wrapped")
  func keyWrap() throws {
    let (wrapping, key) = (Array(UInt8(0)..<16), hex("00112233445566778899AABBCCDDEEFF"))
    let expected = hex("1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5")
    #expect(KeyWrap.wrap(key.rawSpan, with: .aes128, key: wrapping.rawSpan) == expected)
    let unwrapped = try KeyWrap.unwrap(expected.rawSpan, with: .aes128, key: wrapping.rawSpan)
    let isSame = unwrapped.withBytes { constantTimeEqual($0, key.rawSpan) }
    #expect(isSame)
    for wrong in [
      [UInt8](), Array(expected.prefix(16)), Array(expected.prefix(23)), [0] + expected.dropFirst(),
    ] {
      #expect(throws: LibCryptoError.refused) {
        _ = try KeyWrap.unwrap(wrong.rawSpan, with: .aes128, key: wrapping.rawSpan).count
      }
    }
  }

  @Test("A mode that libcrypto does not have of a cipher is nil")
  func missing() {
    let found = [
      BlockCipher(.tripleDES, .ocb) != nil, BlockCipher(.camellia128, .gcm) != nil,
      BlockCipher(.aes128, .ocb) != nil, BlockCipher(.camellia256, .counter) != nil,
    ]
    #expect(found == [false, false, true, true])
    let key = [UInt8](repeating: 0, count: 16)
    let made = [
      AEADContext(.camellia128, .gcm, .seal, key: key.rawSpan, nonceByteCount: 12) != nil,
      AEADContext(.camellia128, .eax, .seal, key: key.rawSpan, nonceByteCount: 16) != nil,
    ]
    #expect(made == [false, true])
  }

  @Test("OCB has no nonce of 16 bytes")
  func nonceLength() {
    let key = [UInt8](repeating: 0, count: 16)
    func isMade(_ nonceByteCount: Int) -> Bool {
      guard let cipher = BlockCipher(.aes128, .ocb) else { return false }
      return CipherContext(cipher, encrypts: true, key: key.rawSpan, nonceByteCount: nonceByteCount) != nil
    }
    #expect(isMade(15) && !isMade(16))
  }
}
