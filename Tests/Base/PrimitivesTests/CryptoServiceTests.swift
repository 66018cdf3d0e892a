// SPDX-License-Identifier: Apache-2.0
//
// The crypto service: what it promises, the texts of its errors, and the edges.

import Foundation
import Primitives
import TestVectors
import Testing

@Suite("Crypto service")
struct CryptoServiceTests: ~Copyable {
  private let key = CryptoService.generateKey()
  private let message = Data("The quick brown fox jumps over the lazy dog".utf8)

  private func failure<R>(_ body: () throws(CryptoError) -> R) -> CryptoError? {
    do {
      _ = try body()
      return nil
    } catch {
      return error
    }
  }

  // MARK: Hashes

  @Test("sha256_EmptyString: the digest of nothing is the published one")
  func sha256_EmptyString() {
    #expect(
      CryptoService.sha256(Data())
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test("sha256_ABC: the digest of «abc» is the published one")
  func sha256_ABC() {
    #expect(
      CryptoService.sha256(Data("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test("sha256_QuickBrownFox: the digest of the pangram is the published one")
  func sha256_QuickBrownFox() {
    #expect(
      CryptoService.sha256(message)
        == "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592")
  }

  @Test("sha256Data_ReturnsRawBytes: 32 bytes, the same as the hexadecimal text")
  func sha256Data_ReturnsRawBytes() throws {
    let digest = CryptoService.sha256Data(message)
    #expect(digest.count == 32)
    #expect(Array(digest) == (try hexBytes(CryptoService.sha256(message))))
  }

  // MARK: Encryption

  @Test(
    "encryptDecrypt_RoundTrip: every length comes back as it was",
    arguments: [
      0, 1, 15, 16, 17, 31, 32, 1_000, 65_537, 20_000_000,
    ])
  func encryptDecrypt_RoundTrip(_ count: Int) throws {
    let data = CryptoService.randomData(count: count)
    let combined = try CryptoService.encrypt(data, using: key)
    #expect(combined.count == 12 + count + 16)
    #expect(try CryptoService.decrypt(combined, using: key) == data)
  }

  @Test("The output is nonce, ciphertext and tag, as AES-256-GCM without associated data has them")
  func combinedFormat() throws {
    let combined = Array(try CryptoService.encrypt(message, using: key))
    let raw = Array(CryptoService.keyToData(key))
    let expected = try sealed(Array(message), key: raw, nonce: Array(combined.prefix(12)))
    #expect(Array(combined.dropFirst(12)) == expected)
  }

  @Test("A slice of a larger value is taken at its own place")
  func slices() throws {
    let padded = Data(repeating: 1, count: 100) + message + Data(repeating: 2, count: 100)
    let slice = padded.dropFirst(100).prefix(message.count)
    #expect(CryptoService.sha256(slice) == CryptoService.sha256(message))
    let combined = Data([9, 9, 9]) + (try CryptoService.encrypt(slice, using: key)) + Data([9])
    let opened = try CryptoService.decrypt(combined.dropFirst(3).dropLast(), using: key)
    #expect(opened == message)
  }

  @Test("decrypt_WrongKey_Fails: another key is authenticationFailed")
  func decrypt_WrongKey_Fails() throws {
    let combined = try CryptoService.encrypt(message, using: key)
    let other = CryptoService.generateKey()
    #expect(throws: CryptoError.authenticationFailed) {
      try CryptoService.decrypt(combined, using: other)
    }
  }

  @Test("decrypt_TamperedData_Fails: a changed last byte is authenticationFailed")
  func decrypt_TamperedData_Fails() throws {
    var combined = try CryptoService.encrypt(message, using: key)
    combined[combined.count - 1] ^= 0xFF
    let error = failure { () throws(CryptoError) in try CryptoService.decrypt(combined, using: key)
    }
    #expect(error == .authenticationFailed)
  }

  @Test("A changed bit anywhere in nonce, ciphertext or tag is authenticationFailed")
  func everyByteIsAuthenticated() throws {
    let combined = try CryptoService.encrypt(message, using: key)
    for index in combined.indices {
      var changed = combined
      changed[index] ^= 1 << (index & 7)
      let error = failure { () throws(CryptoError) in try CryptoService.decrypt(changed, using: key)
      }
      #expect(error == .authenticationFailed, "byte \(index)")
    }
  }

  @Test("Input cut short is decryptionFailed below 28 bytes and authenticationFailed from there")
  func truncated() throws {
    let combined = try CryptoService.encrypt(message, using: key)
    for count in 0..<combined.count {
      let error = failure { () throws(CryptoError) in
        try CryptoService.decrypt(combined.prefix(count), using: key)
      }
      #expect(error == (count < 28 ? .decryptionFailed : .authenticationFailed), "\(count) bytes")
    }
  }

  @Test("10,000 encryptions under one key have 10,000 nonces")
  func nonces() throws {
    var nonces: Set<Data> = []
    for _ in 0..<10_000 {
      nonces.insert(try CryptoService.encrypt(Data(), using: key).prefix(12))
    }
    #expect(nonces.count == 10_000)
  }

  // MARK: Keys

  @Test("generateKey_ReturnsValidKey: 32 bytes, different every time")
  func generateKey_ReturnsValidKey() throws {
    let keys = (0..<1_000).map { _ in CryptoService.keyToData(CryptoService.generateKey()) }
    #expect(keys.allSatisfy { $0.count == 32 })
    #expect(Set(keys).count == keys.count)
    #expect(!keys.contains(Data(count: 32)))
  }

  @Test("keySerializationRoundTrip: the key that comes back opens what the first one sealed")
  func keySerializationRoundTrip() throws {
    let data = CryptoService.keyToData(key)
    let restored = try CryptoService.keyFromData(data)
    #expect(CryptoService.keyToData(restored) == data)
    let isSame = restored.isEqual(to: key)
    #expect(isSame)
    let combined = try CryptoService.encrypt(message, using: key)
    #expect(try CryptoService.decrypt(combined, using: restored) == message)
    let duplicateIsSame = restored.duplicate().isEqual(to: key)
    #expect(duplicateIsSame)
    let otherIsSame = CryptoService.generateKey().isEqual(to: key)
    #expect(!otherIsSame)
  }

  @Test(
    "keyFromData_InvalidSize_Throws: every length but 32 is invalidKey",
    arguments: [
      0, 1, 16, 24, 31, 33, 64,
    ])
  func keyFromData_InvalidSize_Throws(_ count: Int) {
    let data = Data(count: count)
    let isRefused: Bool
    do {
      _ = try CryptoService.keyFromData(data)
      isRefused = false
    } catch {
      isRefused = error == .invalidKey
    }
    #expect(isRefused)
  }

  // MARK: Randomness

  @Test(
    "randomData_GeneratesCorrectLength: as many bytes as asked for",
    arguments: [
      0, 1, 12, 16, 32, 255, 257, 1_000_000,
    ])
  func randomData_GeneratesCorrectLength(_ count: Int) {
    #expect(CryptoService.randomData(count: count).count == count)
  }

  @Test("randomData_IsNotPredictable: no repetition, and every bit as often one as zero")
  func randomData_IsNotPredictable() {
    let samples = (0..<1_000).map { _ in CryptoService.randomData(count: 16) }
    #expect(Set(samples).count == samples.count)
    // 128,000 bits: seven standard deviations are 1,252 from the middle.
    let ones = samples.joined().reduce(0) { $0 + $1.nonzeroBitCount }
    #expect(abs(ones - 64_000) < 1_252)
  }

  @Test("A negative count of random bytes stops the process")
  func negativeCountOfRandomData() async {
    await #expect(processExitsWith: .failure) { _ = CryptoService.randomData(count: -1) }
  }

  // MARK: Errors

  @Test(
    "Every error has its fixed text",
    arguments: [
      (CryptoError.encryptionFailed, "Failed to encrypt data"),
      (.decryptionFailed, "Failed to decrypt data"),
      (.authenticationFailed, "Authentication failed - data may be corrupted or tampered"),
      (.invalidKey, "Invalid encryption key"),
      (.fileNotFound, "File not found"),
      (.fileReadError, "Failed to read file"),
    ])
  func texts(_ error: CryptoError, _ text: String) {
    #expect(error.errorDescription == text)
    #expect(error.localizedDescription == text)
  }
}
