// SPDX-License-Identifier: Apache-2.0
//
// What every kind of enclave does alike. The chip is swtpm.

import Enclaves
import Primitives
import Secrets
import Testing

@Suite("Every enclave")
struct EnclaveConformanceTests {
  private let person = Person()

  @Test("Keys of both uses do what they are for, by every way that they take", arguments: TestDevice.kinds)
  func use(_ kind: EnclaveKind) throws {
    let enclave = try TestDevice(kind)
    try enclave.enclave.checkAvailability()
    try enclave.enclave.checkReadiness()
    for use in EnclaveKeyUse.allCases {
      for requirement in AccessControl.Requirement.allCases {
        let key = try enclave.enclave.makeKey(use, requirement, for: person)
        #expect(key.kind == kind && key.use == use && key.access.requirement == requirement)
        #expect(key.access.protection == .whenPasscodeSetThisDeviceOnly)
        #expect(P256.isPublicKey(key.publicKey))
        #expect(EnclaveKind(handle: key.dataRepresentation) == kind)
        let loaded = try enclave.enclave.loadKey(key.dataRepresentation)
        #expect(loaded == key)
        for authorization in person.authorizations(requirement) {
          #expect(try enclave.enclave.works(loaded, authorization), "\(use) \(requirement)")
        }
        try enclave.enclave.deleteKey(key)
      }
    }
  }

  @Test("Two keys have nothing in common", arguments: TestDevice.kinds)
  func distinct(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let one = try device.enclave.makeKey(.agreement, .devicePasscode, for: person)
    let other = try device.enclave.makeKey(.agreement, .devicePasscode, for: person)
    #expect(one.publicKey != other.publicKey)
    let body = 77
    #expect(one.dataRepresentation[body...] != other.dataRepresentation[body...])
  }

  @Test("A key does nothing but what it is for", arguments: TestDevice.kinds)
  func wrongUse(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let agreeing = try device.enclave.makeKey(.agreement)
    let signing = try device.enclave.makeKey(.signing)
    #expect(throws: EnclaveError.invalidInput) { try device.enclave.signs(agreeing) }
    #expect(throws: EnclaveError.invalidInput) { try device.enclave.agrees(signing) }
  }

  @Test(
    "Bytes that are not a point or a digest are refused before anything is asked", arguments: TestDevice.kinds
  )
  func badInput(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let agreeing = try device.enclave.makeKey(.agreement)
    let signing = try device.enclave.makeKey(.signing)
    var off = agreeing.publicKey
    off[64] ^= 1
    for point in [[], [0], off, Array(off.dropLast()), [4] + [UInt8](repeating: 0, count: 64)] {
      #expect(throws: EnclaveError.invalidInput) {
        _ = try device.enclave.sharedSecret(agreeing, with: point, authorization: .none).count
      }
    }
    for count in [0, 31, 33, 64] {
      #expect(throws: EnclaveError.invalidInput) {
        try device.enclave.signature(
          signing, digest: [UInt8](repeating: 1, count: count), authorization: .none)
      }
    }
  }

  @Test("Keys can be made only with what they will ask for", arguments: TestDevice.kinds)
  func enrolment(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    for requirement in AccessControl.Requirement.allCases {
      for wrong in AccessControl.Requirement.allCases where wrong != requirement {
        #expect(throws: EnclaveError.invalidInput, "\(requirement) with what is for \(wrong)") {
          try device.enclave.createKey(
            use: .signing, access: AccessControl(.whenUnlockedThisDeviceOnly, requirement: requirement),
            enrolment: person.enrolment(wrong))
        }
      }
    }
    #expect(throws: EnclaveError.invalidInput) {
      try device.enclave.createKey(
        use: .signing, access: AccessControl(.whenUnlockedThisDeviceOnly, requirement: .biometryAny),
        enrolment: KeyEnrolment(biometryVerifier: [4] + [UInt8](repeating: 7, count: 64)))
    }
  }

  @Test("A wrong PIN is named as one, and the right one works after it", arguments: TestDevice.kinds)
  func wrongPIN(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    for requirement in [AccessControl.Requirement.devicePasscode, .biometryAnyOrDevicePasscode] {
      let key = try device.enclave.makeKey(.agreement, requirement, for: person)
      #expect(device.enclave.refusal(key, .passcode(typed("482914"))) == .wrongPasscode)
      #expect(device.enclave.refusal(key, .passcode(person.pin)) == nil)
    }
  }

  @Test("Nothing, or something else than was asked for, opens nothing", arguments: TestDevice.kinds)
  func missingAuthorization(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let all: [(KeyAuthorization, Set<AccessControl.Requirement>)] = [
      (.none, [.none]),
      (.passcode(person.pin), [.devicePasscode, .biometryAnyOrDevicePasscode]),
      (.biometry(person.finger), [.biometryAny, .biometryAnyOrDevicePasscode]),
    ]
    for requirement in AccessControl.Requirement.allCases {
      let key = try device.enclave.makeKey(.signing, requirement, for: person)
      for (authorization, takers) in all where !takers.contains(requirement) {
        #expect(device.enclave.refusal(key, authorization) == .authorizationRequired, "\(requirement)")
      }
    }
  }

  @Test("Only the verifier that was enrolled answers for a finger", arguments: TestDevice.kinds)
  func wrongFinger(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    for requirement in [AccessControl.Requirement.biometryAny, .biometryAnyOrDevicePasscode] {
      let key = try device.enclave.makeKey(.signing, requirement, for: person)
      for stranger in [
        Finger(), Finger(claiming: person.finger.publicKey),
        Finger(claiming: person.finger.publicKey, refuses: true),
      ] {
        #expect(device.enclave.refusal(key, .biometry(stranger)) == .biometryRefused, "\(requirement)")
      }
      let zeros: [UInt8] = [0x30, 6, 2, 1, 0, 2, 1, 0]
      for answer in [[], [0x30], [0x30, 0], [0x30, 0xFF], zeros, [UInt8](repeating: 0x30, count: 500)] {
        let babbler = Babbler(publicKey: person.finger.publicKey, answer: answer)
        #expect(device.enclave.refusal(key, .biometry(babbler)) == .biometryRefused, "\(answer)")
      }
      #expect(device.enclave.refusal(key, .biometry(person.finger)) == nil)
    }
  }

  @Test("A handle is that of one kind of enclave alone", arguments: TestDevice.kinds)
  func wrongKind(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let key = try device.enclave.makeKey(.signing)
    for other in EnclaveKind.allCases where other != kind {
      let bytes = changed(key.dataRepresentation, at: 8, xor: kind.rawValue ^ other.rawValue)
      #expect(EnclaveKind(handle: bytes) == other)
      #expect(throws: EnclaveError.wrongKind) { try device.enclave.loadKey(bytes) }
    }
    if kind != .software {
      let foreign = try SoftwareEnclave().makeKey(.signing)
      #expect(device.enclave.refusal(foreign) == .wrongKind)
    }
  }

  @Test("Bytes that are not a handle are corrupt, whatever they are", arguments: TestDevice.kinds)
  func notAHandle(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let handle = try device.enclave.makeKey(.signing).dataRepresentation
    for count in 0..<handle.count - 32 {
      #expect(throws: EnclaveError.corrupt) { try device.enclave.loadKey(Array(handle.prefix(count))) }
      // Cut, and its digest made to fit.
      let cut = Array(handle.prefix(count))
      #expect(throws: EnclaveError.corrupt) {
        try device.enclave.loadKey(cut + SHA256.hash(cut.span.bytes))
      }
    }
    let longer = handle.dropLast(32) + [0]
    #expect(throws: EnclaveError.corrupt) {
      try device.enclave.loadKey(longer + SHA256.hash(longer.span.bytes))
    }
    for _ in 0..<200 {
      let bytes = SystemRandom.publicBytes(count: Int.random(in: 0...600))
      #expect(throws: EnclaveError.corrupt) { try device.enclave.loadKey(bytes) }
      #expect(EnclaveKind(handle: bytes) == nil)
    }
    #expect(throws: EnclaveError.corrupt) {
      try device.enclave.loadKey([UInt8](repeating: 0, count: 100_000))
    }
  }

  @Test("A byte that changed by accident is seen", arguments: TestDevice.kinds)
  func accident(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    let handle = try device.enclave.makeKey(.signing, .biometryAny, for: person).dataRepresentation
    for offset in handle.indices {
      var bytes = handle
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8)
      #expect(throws: EnclaveError.corrupt) { try device.enclave.loadKey(bytes) }
    }
  }

  @Test("A byte that somebody changed, digest and all, opens nothing", arguments: TestDevice.kinds)
  func tampering(_ kind: EnclaveKind) throws {
    let device = try TestDevice(kind)
    for requirement in AccessControl.Requirement.allCases {
      let key = try device.enclave.makeKey(.signing, requirement, for: person)
      // Each try of a PIN costs a derivation, and the chip's patience.
      let step = requirement.asksForPasscode ? 37 : 1
      let authorization = try #require(person.authorizations(requirement).first)
      let salt = kind == .tpm ? 112..<144 : 77..<109
      for offset in stride(from: 0, to: key.dataRepresentation.count - 32, by: step) {
        // What nothing is derived from, and what only the keychain reads: Specs/enclaves.md, "Security".
        let isFree = offset == 10 && !(kind == .software && requirement.asksForPasscode)
        guard !isFree, requirement.asksForPasscode || !salt.contains(offset) else { continue }
        let bytes = changed(key.dataRepresentation, at: offset, xor: 1 << UInt8.random(in: 0..<8))
        #expect(device.enclave.refusal(bytes, authorization) != nil, "\(requirement) at \(offset)")
      }
    }
  }

  @Test("The public key, the use and the requirement are those of the key in the handle")
  func head() throws {
    for kind in TestDevice.kinds where kind != .software {
      let device = try TestDevice(kind)
      let handle = try device.enclave.makeKey(.agreement, for: person).dataRepresentation
      let other = P256PrivateKey().publicKey
      var content = Array(handle.dropLast(32))
      content.replaceSubrange(12..<77, with: other)
      #expect(throws: EnclaveError.corrupt) {
        try device.enclave.loadKey(content + SHA256.hash(content.span.bytes))
      }
      // agreement = 1, signing = 2; none = 0, passcode = 1
      for (offset, change) in [(9, 3), (11, 1)] as [(Int, UInt8)] {
        #expect(throws: EnclaveError.corrupt) {
          try device.enclave.loadKey(changed(handle, at: offset, xor: change))
        }
      }
    }
  }
}
