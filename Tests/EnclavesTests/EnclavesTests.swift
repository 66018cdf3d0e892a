// SPDX-License-Identifier: Apache-2.0
import Enclaves
import Foundation
import Primitives
import Secrets
import SoftwareTPM
import Testing

@Test func smoke() throws {
  let chip = try SoftwareTPM()
  for enclave in [SoftwareEnclave(), TPMEnclave(tcti: chip.tcti)] as [any Enclave] {
    try enclave.checkReadiness()
    let pin = SharedSecret(SecretBytes(copying: Array("483920".utf8).span.bytes))
    let verifier = Verifier()
    for requirement in AccessControl.Requirement.allCases {
      let enrolment = KeyEnrolment(
        passcode: [.devicePasscode, .biometryAnyOrDevicePasscode].contains(requirement) ? pin : nil,
        biometryVerifier: [.biometryAny, .biometryAnyOrDevicePasscode].contains(requirement) ? verifier.publicKey : nil)
      var ways: [KeyAuthorization] = []
      if requirement == .none { ways.append(.none) }
      if enrolment.passcode != nil { ways.append(.passcode(pin)) }
      if enrolment.biometryVerifier != nil { ways.append(.biometry(verifier)) }
      let agreeing = try enclave.createKey(use: .agreement, access: AccessControl(.whenUnlockedThisDeviceOnly, requirement: requirement), enrolment: enrolment)
      let signing = try enclave.createKey(use: .signing, access: AccessControl(.whenUnlockedThisDeviceOnly, requirement: requirement), enrolment: enrolment)
      print(enclave.kind, requirement, agreeing.dataRepresentation.count)
      for way in ways {
        let peer = P256PrivateKey()
        let start = Date.now
        let ours = try enclave.sharedSecret(agreeing, with: peer.publicKey, authorization: way)
        print(Date.now.timeIntervalSince(start) * 1000, "ms")
        let theirs = try peer.sharedSecret(with: agreeing.publicKey)
        let same = ours.isEqual(to: theirs)
        #expect(same)
        let digest = SHA256.hash(Array("hello".utf8).span.bytes)
        let signature = try enclave.signature(signing, digest: digest, authorization: way)
        #expect(P256.isValidSignature(signature, digest: digest, publicKey: signing.publicKey))
      }
    }
  }
}

final class Verifier: BiometryVerifier {
  let key = P256PrivateKey()
  var publicKey: [UInt8] { key.publicKey }
  func sign(digest: [UInt8]) throws(EnclaveError) -> [UInt8] {
    do { return try key.signature(digest: digest) } catch { throw .biometryRefused }
  }
}
@Test func p256() throws {
  let key = P256PrivateKey()
  let scalar = key.scalar()
  scalar.withBytes { $0.withUnsafeBytes { print(Array($0)) } }
  let again = try P256PrivateKey(scalar: scalar, publicKey: key.publicKey)
  print(again.publicKey == key.publicKey)
}
