// SPDX-License-Identifier: Apache-2.0
//
// The rows of the self-test about the crypto service.

internal import Foundation
internal import Primitives

/// Tries the crypto service out.
struct CryptoSelfTest {
  private let disturb: (SelfTest.Check, inout [UInt8]) -> Void

  init(disturbing disturb: @escaping (SelfTest.Check, inout [UInt8]) -> Void) { self.disturb = disturb }

  /// - Throws: when something comes out otherwise than it should.
  func perform(_ check: SelfTest.Check) throws {
    switch check {
    case .digests: try digests()
    case .sealedData: try sealedData()
    case .keysAndRandomness: try keysAndRandomness()
    default: throw SelfTestMismatch()
    }
  }

  /// FIPS 180-4's examples, and one file read in pieces and in memory.
  private func digests() throws {
    var short = Array("abc".utf8)
    disturb(.digests, &short)
    try SelfTestMismatch.unless(
      CryptoService.sha256(Data(short)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    try SelfTestMismatch.unless(
      CryptoService.sha256(Data(repeating: UInt8(ascii: "a"), count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    guard let program = Bundle.main.executableURL else { throw SelfTestMismatch() }
    let whole = CryptoService.sha256Data(try Data(contentsOf: program, options: .alwaysMapped))
    try SelfTestMismatch.unless(
      try CryptoService.sha256Stream(url: program) == Hexadecimal.text([UInt8](whole)))
    try refused(.fileNotFound, "File not found") {
      _ = try CryptoService.sha256Stream(url: program.appending(path: "nothing"))
    }
  }

  /// Five megabytes come back; changed ones, cut ones and those of another key do not.
  private func sealedData() throws {
    let data = CryptoService.randomData(count: 5_000_000)
    let key = CryptoService.generateKey()
    let sealed = try CryptoService.encrypt(data, using: key)
    var handed = [UInt8](sealed)
    disturb(.sealedData, &handed)
    try SelfTestMismatch.unless(try CryptoService.decrypt(Data(handed), using: key) == data)
    try SelfTestMismatch.unless(try CryptoService.encrypt(data, using: key) != sealed)
    var bit: [UInt8] = [1]
    disturb(.sealedData, &bit)
    var changed = sealed
    changed[changed.count / 2] ^= bit[0]
    let authentication = "Authentication failed - data may be corrupted or tampered"
    try refused(.authenticationFailed, authentication) {
      _ = try CryptoService.decrypt(changed, using: key)
    }
    try refused(.authenticationFailed, authentication) {
      let other = CryptoService.generateKey()
      _ = try CryptoService.decrypt(sealed, using: other)
    }
    try refused(.decryptionFailed, "Failed to decrypt data") {
      _ = try CryptoService.decrypt(sealed.prefix(27), using: key)
    }
  }

  /// A key comes back from its bytes; keys and random bytes are not the same twice.
  private func keysAndRandomness() throws {
    let key = CryptoService.generateKey()
    var bytes = [UInt8](CryptoService.keyToData(key))
    disturb(.keysAndRandomness, &bytes)
    let same = try CryptoService.keyFromData(Data(bytes))
    let text = Data("sealed under one, opened under the other".utf8)
    let opened = try CryptoService.decrypt(CryptoService.encrypt(text, using: key), using: same)
    try SelfTestMismatch.unless(opened == text)
    try refused(.invalidKey, "Invalid encryption key") {
      _ = try CryptoService.keyFromData(Data(count: 31))
    }
    let random = (1...256).map { _ in CryptoService.randomData(count: 32) }
    try SelfTestMismatch.unless(Set(random).count == random.count && random.allSatisfy { $0.count == 32 })
  }

  private func refused(_ expected: CryptoError, _ words: String, _ body: () throws -> Void) throws {
    var found: CryptoError?
    do { try body() } catch let error as CryptoError { found = error }
    try SelfTestMismatch.unless(found == expected && found?.errorDescription == words)
  }
}
