// SPDX-License-Identifier: Apache-2.0
//
// Keys that ask for a passcode that no person types: 32 random bytes, which software does not stretch.

import Enclaves
import Primitives
import Secrets
import Testing

@Suite("A random passcode")
struct RandomPasscodeTests {
  private let passcode = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
  private let finger = Finger()
  private static let requirements = [
    AccessControl.Requirement.devicePasscode, .biometryAnyOrDevicePasscode,
  ]
  /// Of a software handle: head (77) ‖ salt (32) ‖ derivation (1).
  private static let derivationOffset = 109

  @Test("It opens keys of both uses, as they were made and as they were stored", arguments: TestDevice.kinds)
  func use(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    for use in EnclaveKeyUse.allCases {
      for requirement in Self.requirements {
        let key = try makeKey(device.enclave, use, requirement)
        let loaded = try device.enclave.loadKey(key.dataRepresentation)
        #expect(loaded == key)
        #expect(try device.enclave.works(key, .passcode(passcode)), "\(use) \(requirement)")
        #expect(try device.enclave.works(loaded, .passcode(passcode)), "\(use) \(requirement)")
        #expect(device.enclave.refusal(key) == .authorizationRequired)
        if requirement.asksForFinger { #expect(try device.enclave.works(key, .biometry(finger))) }
      }
    }
  }

  @Test("Another one, or something typed, is a wrong passcode", arguments: TestDevice.kinds)
  func wrong(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let key = try makeKey(device.enclave, .agreement, .devicePasscode)
    let other = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
    #expect(device.enclave.refusal(key, .passcode(other)) == .wrongPasscode)
    #expect(device.enclave.refusal(key, .passcode(typed("482913"))) == .wrongPasscode)
    #expect(device.enclave.refusal(key, .passcode(passcode)) == nil)
  }

  @Test("Another one is wrong where a finger would do too", arguments: TestDevice.kinds)
  func wrongBesideFinger(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let key = try makeKey(device.enclave, .signing, .biometryAnyOrDevicePasscode)
    let other = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
    #expect(device.enclave.refusal(key, .passcode(other)) == .wrongPasscode)
    #expect(device.enclave.refusal(key, .passcode(passcode)) == nil)
  }

  @Test("It has 32 bytes", arguments: TestDevice.kinds)
  func length(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    for count in [0, 6, 31, 33, 64] {
      let short = SharedSecretBytes(SecretBytes(zeroed: count))
      #expect(throws: EnclaveError.invalidInput, "\(count) bytes") {
        try device.enclave.createKey(
          use: .signing, access: AccessControl(.whenUnlockedThisDeviceOnly, requirement: .devicePasscode),
          enrolment: KeyEnrolment(passcode: .random(short)))
      }
    }
  }

  @Test("A key that asks for no passcode takes none", arguments: TestDevice.kinds)
  func surplus(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    #expect(throws: EnclaveError.invalidInput) {
      try device.enclave.createKey(
        use: .signing, access: AccessControl(.whenUnlockedThisDeviceOnly),
        enrolment: KeyEnrolment(passcode: .random(passcode)))
    }
  }

  @Test("A software handle says how its passcode is derived")
  func derivation() throws {
    let enclave = SoftwareEnclave()
    for requirement in AccessControl.Requirement.allCases {
      let key = try enclave.makeKey(.signing, requirement)
      let expected: UInt8 = requirement.asksForPasscode ? 1 : 0
      #expect(key.dataRepresentation[Self.derivationOffset] == expected)
    }
    for requirement in Self.requirements {
      #expect(try makeKey(enclave, .signing, requirement).dataRepresentation[Self.derivationOffset] == 2)
    }
  }

  @Test("A derivation that was changed opens nothing, with any passcode")
  func tampered() throws {
    let enclave = SoftwareEnclave()
    // The same 32 bytes as both, so that the length alone tells nothing.
    for enrolled in [KeyEnrolment.Passcode.typed(passcode), .random(passcode)] {
      for requirement in Self.requirements {
        let bytes = try makeKey(enclave, .agreement, requirement, enrolled).dataRepresentation
        let own = bytes[Self.derivationOffset]
        #expect(enclave.refusal(bytes, .passcode(passcode)) == nil)
        let exchanged = changed(bytes, at: Self.derivationOffset, xor: 3)
        #expect(enclave.refusal(exchanged, .passcode(passcode)) == .wrongPasscode)
        #expect(enclave.refusal(exchanged, .passcode(typed("482913"))) == .wrongPasscode)
        for value in [0, 3, 4, 255] as [UInt8] {
          let unknown = changed(bytes, at: Self.derivationOffset, xor: own ^ value)
          #expect(throws: EnclaveError.corrupt, "\(value)") { try enclave.loadKey(unknown) }
        }
      }
    }
    for requirement in [AccessControl.Requirement.none, .biometryAny] {
      let bytes = try enclave.makeKey(.signing, requirement).dataRepresentation
      for value in [1, 2, 3, 255] as [UInt8] {
        #expect(throws: EnclaveError.corrupt, "\(value)") {
          try enclave.loadKey(changed(bytes, at: Self.derivationOffset, xor: value))
        }
      }
    }
  }

  @Test("A byte of a software handle that somebody changed, digest and all, opens nothing")
  func everyByte() throws {
    let enclave = SoftwareEnclave()
    let bytes = try makeKey(enclave, .agreement, .devicePasscode).dataRepresentation
    for offset in 0..<bytes.count - 32 {
      let changed = changed(bytes, at: offset, xor: 1 << UInt8.random(in: 0..<8))
      #expect(enclave.refusal(changed, .passcode(passcode)) != nil, "byte \(offset)")
    }
  }

  @Test("Two hundred keys in software are made and used")
  func many() throws {
    let enclave = SoftwareEnclave()
    var keys: [EnclaveKey] = []
    let making = try ContinuousClock().measure {
      for _ in 0..<200 { keys.append(try makeKey(enclave, .agreement, .devicePasscode)) }
    }
    var working = 0
    let using = try ContinuousClock().measure {
      for key in keys where try enclave.agrees(key, .passcode(passcode)) { working += 1 }
    }
    #expect(working == 200)
    #expect(Set(keys.map(\.publicKey)).count == 200)
    print("200 software keys with a random passcode: made in \(making), used in \(using)")
  }

  private func makeKey(
    _ enclave: any Enclave, _ use: EnclaveKeyUse, _ requirement: AccessControl.Requirement,
    _ enrolled: KeyEnrolment.Passcode? = nil
  ) throws(EnclaveError) -> EnclaveKey {
    try enclave.createKey(
      use: use, access: AccessControl(.whenUnlockedThisDeviceOnly, requirement: requirement),
      enrolment: KeyEnrolment(
        passcode: enrolled ?? .random(passcode),
        biometryVerifier: requirement.asksForFinger ? finger.publicKey : nil))
  }
}
