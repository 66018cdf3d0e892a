// SPDX-License-Identifier: Apache-2.0
//
// Enclave keys by name, in the keychain. How a key behaves is for EnclavesTests.

import Enclaves
import Foundation
import InMemoryKeychains
import Primitives
import Secrets
import Testing

@testable import Keychains

@Suite("Enclave keys in the keychain")
struct EnclaveKeyItemTests {
  private let store = InMemoryKeychain()
  private let keys = ClassKeys.generate()
  private let service: KeychainService
  private let enclave = SoftwareEnclave()

  init() throws {
    service = KeychainService(keychain: store, keys: keys)
    try service.prepare()
  }

  @Test("A key is made once, found by its name, signs, and is gone when it is deleted")
  func life() throws {
    let key = try service.createSecureEnclaveKey(tag: "signs", in: enclave, use: .signing)
    #expect(try service.loadSecureEnclaveKey(tag: "signs", in: enclave) == key)
    #expect(throws: KeychainError.duplicateItem) {
      try service.createSecureEnclaveKey(tag: "signs", in: enclave, use: .signing)
    }
    let digest = SHA256.hash(Array("digest".utf8).span.bytes)
    let signature = try enclave.signature(key, digest: digest, authorization: .none)
    #expect(P256.isValidSignature(signature, digest: digest, publicKey: key.publicKey))
    try service.deleteSecureEnclaveKey(tag: "signs", in: enclave)
    #expect(try service.loadSecureEnclaveKey(tag: "signs", in: enclave) == nil)
    try service.deleteSecureEnclaveKey(tag: "signs", in: enclave)
  }

  @Test("The handle is an item of the class that the access control names")
  func accessibility() throws {
    let cases: [(AccessControl.Protection, AccessibilityClass)] = [
      (.whenUnlockedThisDeviceOnly, .whenUnlockedThisDeviceOnly),
      (.afterFirstUnlockThisDeviceOnly, .afterFirstUnlockThisDeviceOnly),
      (.whenPasscodeSetThisDeviceOnly, .whenUnlockedThisDeviceOnly),
    ]
    for (protection, expected) in cases {
      let tag = "key \(protection.rawValue)"
      _ = try service.createSecureEnclaveKey(
        tag: tag, in: enclave, use: .agreement, access: AccessControl(protection))
      #expect(try store.items().first { $0.account == tag }?.accessibility == expected)
    }
    let locked = KeychainService(keychain: store, keys: keys.locked())
    #expect(throws: KeychainError.locked) { try locked.loadSecureEnclaveKey(tag: "key 1", in: enclave) }
    #expect(try locked.loadSecureEnclaveKey(tag: "key 2", in: enclave) != nil)
  }

  @Test("A handle that is not what was stored is invalid, not missing")
  func damaged() throws {
    let key = try service.createSecureEnclaveKey(tag: "key", in: enclave, use: .signing)
    var handle = key.dataRepresentation
    handle[handle.count / 2] ^= 1
    try service.save(Data(handle), forKey: "key")
    #expect(throws: KeychainError.invalidData) { try service.loadSecureEnclaveKey(tag: "key", in: enclave) }
  }

  #if TPM
    @Test("Without hardware the answer is that there is none, and nothing is stored")
    func noHardware() throws {
      let absent = TPMEnclave(tcti: "swtpm:path=/nonexistent/tpm")
      #expect(throws: KeychainError.secureEnclaveUnavailable) {
        try service.createSecureEnclaveKey(tag: "key", in: absent, use: .signing)
      }
      #expect(try service.accounts().isEmpty)
    }
  #endif
}

@Suite("Rules for PINs")
struct PINPolicyTests {
  @Test(
    "What is guessed first is refused",
    arguments: [
      ("48291", PINPolicy.Problem.tooShort), ("111111", .pattern), ("123456", .pattern), ("987654", .pattern),
      (String(repeating: "40", count: 33), .tooLong), ("482913", nil), ("pass-4", nil),
    ] as [(String, PINPolicy.Problem?)])
  func rules(pin: String, problem: PINPolicy.Problem?) {
    #expect(PINPolicy.problem(with: Array(pin.utf8).span.bytes) == problem)
  }
}
