// SPDX-License-Identifier: Apache-2.0
//
// After a key was made and used, the memory of the process holds no half of the passcode, of what is derived from
// it, or of what was agreed, and neither coordinate of the shared point: not in our cells, not in the
// buffers of the TPM library, not on the stack. The PIN is long here, so that half of it is not found by chance.

import COpenSSL
import MemorySearch
import Primitives
import Secrets
import Testing

@testable import Enclaves

@Suite("What enclaves leave in memory")
struct EnclaveLeftoverTests {
  private struct Needles {
    var pin: Needle
    var secret: Needle
    /// The other coordinate of the shared point, from which the secret can be computed.
    var ordinate: Needle
    /// What is derived from the passcode: what the chip compares, or the key of the scalar in software.
    var derived: Needle
  }

  private static let derivations: [PasscodeDerivation] = [.argon2id, .hkdf]

  @Test("No half of a secret can be found once it is gone")
  func nothingIsLeft() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for kind in TestDevice.kinds {
          for derivation in EnclaveLeftoverTests.derivations {
            try EnclaveLeftoverTests().expectGone(kind, derivation)
          }
        }
      }
    }
  }

  private func expectGone(_ kind: EnclaveKind, _ derivation: PasscodeDerivation) throws {
    let device = try TestDevice(kind)
    for requirement in [AccessControl.Requirement.devicePasscode, .biometryAnyOrDevicePasscode] {
      let (needles, alive) = try use(device.enclave, requirement, derivation, isRefused: false)
      #expect(alive >= 2, "\(kind): the search did not see the PIN while it was there")
      try expectGone(needles, "\(kind), \(derivation), \(requirement)")
    }
  }

  @Test("Nor after a wrong passcode")
  func refused() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for kind in TestDevice.kinds {
          for derivation in EnclaveLeftoverTests.derivations {
            try EnclaveLeftoverTests().expectGoneRefused(kind, derivation)
          }
        }
      }
    }
  }

  private func expectGoneRefused(_ kind: EnclaveKind, _ derivation: PasscodeDerivation) throws {
    let device = try TestDevice(kind)
    let (needles, _) = try use(device.enclave, .devicePasscode, derivation, isRefused: true)
    try expectGone(needles, "refused, \(kind), \(derivation)")
  }

  #if TPM
    /// What was done last: later conversations with the chip reuse the memory of earlier ones.
    enum LastUse: CaseIterable {
      case made, takenUp, refused, read, countedUp, gone
    }

    @Test(
      "Of a counter's authorization nothing can be found, whatever was done with it last",
      .enabled(if: TestDevice.kinds.contains(.tpm), "swtpm is installed by scripts/packages"))
    func counter() async {
      await #expect(processExitsWith: .success) {
        recordingErrors {
          for last in LastUse.allCases { try EnclaveLeftoverTests().expectGone(after: last) }
        }
      }
    }

    private func expectGone(after last: LastUse) throws {
      let device = try TestDevice(.tpm)
      let (needles, alive) = try useCounter(device, last)
      #expect(alive >= 2, "\(last): the search did not see the authorization while it was there")
      for (index, needle) in needles.enumerated() {
        try ProcessMemory.expectGone(needle, "\(last), \(index)")
      }
    }

    /// Uses a counter, away from the stack frames that search later.
    @inline(never)
    private func useCounter(
      _ device: TestDevice, _ last: LastUse
    ) throws -> (needles: [Needle], alive: Int) {
      let enclave = try #require(device.enclave as? any CounterEnclave)
      let authorization = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
      let other = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
      // The chip has one storage root; its Name is in every counter.
      let earlier = try enclave.createCounter(authorization: other)
      let needles = [
        authorization.withBytes { Needle($0) },
        try derived(authorization, rootName: earlier.counter.rootName),
      ]
      let alive = try ProcessMemory.places(of: needles[0]).count
      if last == .made {
        _ = try enclave.createCounter(authorization: authorization)
        return (needles, alive)
      }
      if last == .refused {
        try device.fillCounters()
        #expect(throws: EnclaveError.counterRefused) {
          try enclave.createCounter(authorization: authorization)
        }
        return (needles, alive)
      }
      let made = try enclave.createCounter(authorization: authorization)
      if last == .takenUp {
        #expect(try enclave.createCounter(authorization: authorization).counter == made.counter)
      } else if last == .read {
        #expect(try enclave.counterValue(made.counter, authorization: authorization) == made.value)
      } else if last == .countedUp {
        #expect(try enclave.incrementCounter(made.counter, authorization: authorization) == made.value + 1)
      } else {
        try device.forge(made.counter)
        #expect(throws: EnclaveError.counterGone) {
          try enclave.incrementCounter(made.counter, authorization: authorization)
        }
      }
      return (needles, alive)
    }

    private func derived(_ authorization: SharedSecretBytes, rootName: [UInt8]) throws -> Needle {
      try TPMCounterSecret(authorization, rootName: rootName).authValue.withBytes { Needle($0) }
    }
  #endif

  private func expectGone(_ needles: Needles, _ use: String) throws {
    try ProcessMemory.expectGone(needles.pin, "PIN, \(use)")
    try ProcessMemory.expectGone(needles.secret, "secret, \(use)")
    try ProcessMemory.expectGone(needles.ordinate, "ordinate, \(use)")
    try ProcessMemory.expectGone(needles.derived, "derived, \(use)")
  }

  /// Makes and uses a key, away from the stack frames that search later.
  @inline(never)
  private func use(
    _ enclave: any Enclave, _ requirement: AccessControl.Requirement, _ derivation: PasscodeDerivation,
    isRefused: Bool
  ) throws -> (Needles, alive: Int) {
    let pin = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
    let finger = Finger()
    let enrolment = KeyEnrolment(
      passcode: derivation == .hkdf ? .random(pin) : .typed(pin),
      biometryVerifier: requirement.asksForFinger ? finger.publicKey : nil)
    let key = try enclave.createKey(
      use: .agreement, access: AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: requirement),
      enrolment: enrolment)
    let peer = P256PrivateKey()
    let secret = try peer.sharedSecret(with: key.publicKey)
    var needles = Needles(
      pin: pin.withBytes { Needle($0) }, secret: secret.withBytes { Needle($0) },
      ordinate: ordinate(of: peer.scalar(), times: key.publicKey), derived: try derived(pin, key, derivation))
    let alive = try ProcessMemory.places(of: needles.pin).count
    if isRefused {
      let other = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
      needles.pin = other.withBytes { Needle($0) }
      needles.derived = try derived(other, key, derivation)
      #expect(enclave.refusal(key, .passcode(other)) == .wrongPasscode)
    } else {
      let agreed = try enclave.sharedSecret(key, with: peer.publicKey, authorization: .passcode(pin))
      let isSame = agreed.isEqual(to: secret)
      #expect(isSame)
    }
    return (needles, alive)
  }

  private func derived(
    _ passcode: SharedSecretBytes, _ key: EnclaveKey, _ derivation: PasscodeDerivation
  ) throws -> Needle {
    #if TPM
      if key.kind == .tpm {
        let salt = try TPMBody(try EnclaveHandle(key.dataRepresentation)).salt
        return TPMBody.authValue(passcode, salt: salt).withBytes { Needle($0) }
      }
    #endif
    let salt = Array(key.dataRepresentation[77..<109])
    return try derivation.key(passcode, salt: salt).withBytes { Needle($0) }
  }

  /// The y coordinate of the shared point, which libcrypto computes in memory that it clears.
  private func ordinate(of scalar: borrowing SecretBytes, times publicKey: [UInt8]) -> Needle {
    let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
    let (point, product) = (EC_POINT_new(group), EC_POINT_new(group))
    let (number, x, y) = (BN_secure_new(), BN_secure_new(), BN_secure_new())
    let context = BN_CTX_secure_new()
    defer {
      for number in [number, x, y] { BN_clear_free(number) }
      for point in [point, product] { EC_POINT_clear_free(point) }
      EC_GROUP_free(group)
      BN_CTX_free(context)
    }
    EC_POINT_oct2point(group, point, publicKey, publicKey.count, context)
    scalar.withBytes { bytes in
      bytes.withUnsafeBytes { bytes in
        _ = BN_bin2bn(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), number)
      }
    }
    EC_POINT_mul(group, product, nil, point, number, context)
    EC_POINT_get_affine_coordinates(group, product, x, y, context)
    let bytes = SecretBytes(byteCount: 32) { bytes in
      bytes.withUnsafeMutableBytes { bytes in
        _ = BN_bn2binpad(y, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), 32)
      }
    }
    return bytes.withBytes { Needle($0) }
  }
}
