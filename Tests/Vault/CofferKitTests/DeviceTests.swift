// SPDX-License-Identifier: Apache-2.0
//
// The registration of this machine, also after a crash in the middle of it.

import Enclaves
import Foundation
import InMemoryKeychains
import Keychains
import Primitives
import Secrets
import Storage
import TemporaryHomes
import Testing

@testable import CofferKit

/// A keychain whose writes fail after so many, as a crash leaves them.
private final class CrashingKeychain: Keychain, @unchecked Sendable {
  private let whole: InMemoryKeychain
  var writesLeft: Int

  init(_ whole: InMemoryKeychain, writesLeft: Int) {
    self.whole = whole
    self.writesLeft = writesLeft
  }

  func items() throws(KeychainError) -> [SealedItem] { try whole.items() }

  func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    guard writesLeft > 0 else { throw .saveFailed(-5) }
    writesLeft -= 1
    try whole.update(body)
  }
}

@Suite("The device")
struct DeviceTests {
  private let enclave = SoftwareEnclave()
  private let store = InMemoryKeychain()
  private let keys = ClassKeys(
    whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
    afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))

  private func service(writesLeft: Int = .max) -> KeychainService {
    KeychainService(keychain: CrashingKeychain(store, writesLeft: writesLeft), keys: keys)
  }

  @Test("A crash at any write of the registration leaves a machine that can be registered")
  func crashWhileRegistering() throws {
    try service().prepare()
    var writes = 0
    while (try? Device.register(service(writesLeft: writes), in: enclave)) == nil {
      #expect(try Device.load(service()) == nil)
      writes += 1
      try #require(writes < 100)
    }
    #expect(writes >= 4)
    let device = try #require(try Device.load(service()))
    #expect(device.state.attestationLevel == .unverified)
    #expect(
      try AttestationSigner(service(), machine: Machine(enclaves: [enclave])).keyID
        == device.state.attestationKeyId)
  }

  @Test("A crash at any write of forgetting leaves a machine that is whole or not registered")
  func crashWhileForgetting() throws {
    try service().prepare()
    let machine = Machine(enclaves: [enclave])
    for writes in 0..<4 {
      _ = try Device.register(service(), in: enclave)
      #expect(throws: KeychainError.self) { try Device.forget(service(writesLeft: writes), in: machine) }
      #expect(try (Device.load(service()) == nil) == (writes > 0))
      _ = try Device.register(service(), in: enclave)
      #expect(try Device.load(service()) != nil)
    }
    try Device.forget(service(), in: machine)
    #expect(try service().accounts() == [])
  }

  @Test("The registration says when it was made, also after it was read again")
  func date() throws {
    try service().prepare()
    let before = Date.now.addingTimeInterval(-1)
    let device = try Device.register(service(), in: enclave)
    let made = try #require(device.state.registeredAt)
    #expect(made > before && made <= .now)
    #expect(try Device.load(service())?.state == device.state)
  }

  @Test("A registration without its key is damage")
  func keyGone() throws {
    try service().prepare()
    _ = try Device.register(service(), in: enclave)
    try service().delete(forKey: Device.keyTag)
    #expect(throws: KeychainError.invalidData) { try Device.load(service()) }
  }
}
