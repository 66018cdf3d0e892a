// SPDX-License-Identifier: Apache-2.0
//
// The worked examples of Specs/enclaves.md.

import Primitives
import Secrets
import SpecExamples
import Testing

@testable import Enclaves

@Suite("Specs/enclaves.md")
struct EnclaveSpecTests {
  private let page: SpecExample

  init() throws { page = try SpecExample(page: "enclaves.md") }

  @Test("The software handle with a passcode agrees as the page says")
  func passcode() throws {
    let enclave = SoftwareEnclave()
    let bytes = try page.bytes("software-passcode")
    let key = try enclave.loadKey(bytes)
    #expect(key.use == .agreement && key.dataRepresentation == bytes)
    #expect(key.access == AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: .devicePasscode))
    let passcode = typed(try page.text("passcode"))
    let peer = try page.bytes("peer")
    let agreed = try page.bytes("agreed")
    #expect(try enclave.exposedSecret(key, with: peer, .passcode(passcode)) == agreed)
  }

  @Test("The software handle with a random passcode agrees on the same, and is not opened as the other is")
  func randomPasscode() throws {
    let enclave = SoftwareEnclave()
    let bytes = try page.bytes("software-random")
    let key = try enclave.loadKey(bytes)
    #expect(key.dataRepresentation == bytes)
    let random = try page.bytes("random-passcode")
    let passcode = SharedSecretBytes(SecretBytes(copying: random.span.bytes))
    let peer = try page.bytes("peer")
    let agreed = try page.bytes("agreed")
    #expect(try enclave.exposedSecret(key, with: peer, .passcode(passcode)) == agreed)
    let typed = typed(try page.text("passcode"))
    #expect(enclave.refusal(key, .passcode(typed)) == .wrongPasscode)
    let other = try enclave.loadKey(page.bytes("software-passcode"))
    #expect(enclave.refusal(other, .passcode(passcode)) == .wrongPasscode)
  }

  @Test("The software handle without one signs")
  func none() throws {
    let enclave = SoftwareEnclave()
    let key = try enclave.loadKey(try page.bytes("software-none"))
    #expect(key.use == .signing && key.access == AccessControl(.afterFirstUnlockThisDeviceOnly))
    #expect(try enclave.signs(key))
  }

  #if TPM
    @Test("Name, policies and authorization value for a TPM are those of the page")
    func policies() throws {
      let verifier = try page.bytes("verifier")
      #expect(try TPMTemplate.name(TPMTemplate.verifier(verifier)) == page.bytes("verifier-name"))
      #expect(try TPMPolicy.digest(.biometryAny, verifier: verifier) == page.bytes("policy-signed"))
      #expect(
        try TPMPolicy.digest(.biometryAnyOrDevicePasscode, verifier: verifier)
          == page.bytes("policy-finger-or-passcode"))
      #expect(try TPMPolicy.digest(.devicePasscode, verifier: []) == [])
      let passcode = typed(try page.text("passcode"))
      #expect(try exposedAuthValue(passcode, salt: page.bytes("salt")) == page.bytes("authorization"))
    }

    @Test("Authorization value, public area and bytes of a counter are those of the page")
    func counter() throws {
      let bytes = try page.bytes("counter-authorization")
      let authorization = SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
      let rootName = try page.bytes("counter-root")
      let secret = try TPMCounterSecret(authorization, rootName: rootName)
      let value = secret.authValue.withBytes { $0.withUnsafeBytes { Array($0) } }
      #expect(try value == page.bytes("counter-value-of-authorization"))
      let index = TPMCounterIndex(handle: 0x018C_0FFE, mark: secret.mark)
      let area = try page.bytes("counter-public-area")
      #expect(try index.name() == [0x00, 0x0B] + SHA256.hash(area.span.bytes))
      let counter = ChipCounter(rootPlace: 2, rootName: rootName, index: index.handle, name: try index.name())
      #expect(try counter.dataRepresentation == page.bytes("counter"))
      #expect(try ChipCounter(dataRepresentation: page.bytes("counter")) == counter)
    }
  #endif
}

#if TPM
  private func exposedAuthValue(_ passcode: SharedSecretBytes, salt: [UInt8]) -> [UInt8] {
    TPMBody.authValue(passcode, salt: salt).withBytes { $0.withUnsafeBytes { Array($0) } }
  }
#endif

extension Enclave {
  fileprivate func exposedSecret(
    _ key: EnclaveKey, with peer: [UInt8], _ authorization: KeyAuthorization
  ) throws(EnclaveError) -> [UInt8] {
    try sharedSecret(key, with: peer, authorization: authorization).withBytes {
      $0.withUnsafeBytes { Array($0) }
    }
  }
}
