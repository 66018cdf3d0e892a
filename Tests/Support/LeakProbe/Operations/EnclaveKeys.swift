// SPDX-License-Identifier: Apache-2.0
//
// Keys of enclaves: agreement and signatures, in software and in a chip, and what is sealed to such a key.

import Enclaves
import Primitives
import Secrets

extension Operation {
  static let enclaveKeys = [
    Operation("agree with a software key") { try $0.agree(in: SoftwareEnclave()) },
    Operation("agree with a chip's key", needs: .chip) { try $0.agree(in: $0.chip()) },
    Operation("a wrong passcode for a software key") { try $0.refuse(in: SoftwareEnclave()) },
    Operation("a wrong passcode for a chip's key", needs: .chip) { try $0.refuse(in: $0.chip()) },
    Operation("sign with a software key") { try $0.sign(in: SoftwareEnclave()) },
    Operation("sign with a chip's key", needs: .chip) { try $0.sign(in: $0.chip()) },
    Operation("seal to a software key and open") { try $0.seal(in: SoftwareEnclave(), isDamaged: false) },
    Operation("seal to a chip's key and open", needs: .chip) { try $0.seal(in: $0.chip(), isDamaged: false) },
    Operation("open what was sealed and damaged") { try $0.seal(in: SoftwareEnclave(), isDamaged: true) },
    Operation("make, count up, read and delete a chip's counter", needs: .chip) {
      try $0.count(in: $0.chip())
    },
    Operation("agree with a key in this process") { _ in
      let one = P256PrivateKey()
      let other = P256PrivateKey()
      SecretReport.tell("private key", one.scalar())
      let secret = try one.sharedSecret(with: other.publicKey)
      SecretReport.tell("agreed secret", secret)
      let again = try P256PrivateKey(scalar: one.scalar(), publicKey: one.publicKey)
      try expect(try other.sharedSecret(with: again.publicKey).isEqual(to: secret), "both agree")
    },
  ]
}

extension Workspace {
  private static let access = AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: .devicePasscode)

  private func key(
    in enclave: any Enclave, _ pin: SharedSecretBytes, for use: EnclaveKeyUse
  ) throws -> EnclaveKey {
    try enclave.createKey(use: use, access: Self.access, enrolment: KeyEnrolment(passcode: .typed(pin)))
  }

  @inline(never)
  fileprivate func agree(in enclave: any Enclave) throws {
    let pin = pin()
    let key = try key(in: enclave, pin, for: .agreement)
    let peer = P256PrivateKey()
    SecretReport.tell("peer's private key", peer.scalar())
    let expected = try peer.sharedSecret(with: key.publicKey)
    SecretReport.tell("agreed secret", expected)
    let agreed = try enclave.sharedSecret(key, with: peer.publicKey, authorization: .passcode(pin))
    try expect(agreed.isEqual(to: expected), "both agree")
  }

  @inline(never)
  fileprivate func refuse(in enclave: any Enclave) throws {
    let key = try key(in: enclave, pin(), for: .agreement)
    let peer = P256PrivateKey()
    SecretReport.tell("peer's private key", peer.scalar())
    SecretReport.tell("agreed secret", try peer.sharedSecret(with: key.publicKey))
    let other = pin("wrong PIN")
    try expectThrow("a wrong passcode") {
      _ = try enclave.sharedSecret(key, with: peer.publicKey, authorization: .passcode(other))
    }
  }

  @inline(never)
  fileprivate func sign(in enclave: any Enclave) throws {
    let pin = pin()
    let key = try key(in: enclave, pin, for: .signing)
    let digest = SystemRandom.publicBytes(count: SHA256.byteCount)
    let signature = try enclave.signature(key, digest: digest, authorization: .passcode(pin))
    try expect(
      P256.isValidSignature(signature, digest: digest, publicKey: key.publicKey), "the signature is good")
  }

  @inline(never)
  fileprivate func count(in enclave: any Enclave) throws {
    guard let enclave = enclave as? any CounterEnclave else { throw Unexpected("the chip has no counters") }
    let authorization = SharedSecretBytes(bytes("authorization", count: 32))
    let made = try enclave.createCounter(authorization: authorization)
    // kind (1) ‖ place (1) ‖ Name of the storage root (34) …
    let rootName = Array(made.counter.dataRepresentation[2..<36])
    SecretReport.tell("authorization value", authorizationValue(authorization, rootName: rootName))
    let value = try enclave.incrementCounter(made.counter, authorization: authorization)
    let again = try enclave.counterValue(made.counter, authorization: authorization)
    try expect(value == made.value + 1 && again == value, "the counter goes up by one")
    try enclave.deleteCounter(made.counter)
  }

  /// What the chip compares (Specs/enclaves.md, "Counters").
  private func authorizationValue(_ authorization: SharedSecretBytes, rootName: [UInt8]) -> SecretBytes {
    var hkdf = HKDF()
    let info: StaticString = "coffer counter v1 authorization"
    return SecretBytes(byteCount: 32) { output in
      authorization.withBytes { authorization in
        info.withRawSpan {
          hkdf.derive(ikm: authorization, salt: rootName.span.bytes, info: $0, into: &output)
        }
      }
      output.withUnsafeMutableBytes { $0[31] |= 1 }
    }
  }

  @inline(never)
  fileprivate func seal(in enclave: any Enclave, isDamaged: Bool) throws {
    let pin = pin()
    let key = try key(in: enclave, pin, for: .agreement)
    let sealing = EnclaveSealing(label: Array("leak probe v1".utf8)) { ephemeralKey, salt in
      let head = ephemeralKey + salt
      return SecretBytes(copying: head.span.bytes)
    }
    let plaintext = bytes("plaintext", count: 57)
    var sealed = try plaintext.withBytes { try sealing.seal($0, to: key) }
    if isDamaged { sealed.ciphertext[sealed.ciphertext.count - 1] ^= 1 }
    if isDamaged {
      try expectThrow("a damaged value") {
        _ = try sealing.open(sealed, key, in: enclave, authorization: .passcode(pin))
      }
    } else {
      let opened = try sealing.open(sealed, key, in: enclave, authorization: .passcode(pin))
      try expect(opened.isEqual(to: plaintext), "what was sealed comes back")
    }
  }
}
