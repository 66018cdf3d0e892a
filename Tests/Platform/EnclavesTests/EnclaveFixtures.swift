// SPDX-License-Identifier: Apache-2.0
//
// What the suites of this room share: an enclave to test, somebody who types PINs, something that answers for
// fingers, and calls whose results the macros of the tests can hold.

import Enclaves
import Primitives
import Secrets
import SoftwareTPM

/// An enclave, with the chip that it needs.
struct TestDevice {
  let enclave: any Enclave
  #if TPM
    private let chip: SoftwareTPM?
  #endif

  /// The kinds that can be tested here.
  static var kinds: [EnclaveKind] {
    #if TPM
      return SoftwareTPM.isInstalled ? [.software, .tpm] : [.software]
    #else
      return [.software]
    #endif
  }

  init(_ kind: EnclaveKind) throws {
    #if TPM
      if kind == .tpm {
        let chip = try SoftwareTPM()
        self.chip = chip
        enclave = TPMEnclave(tcti: chip.tcti)
        return
      }
      chip = nil
    #endif
    enclave = SoftwareEnclave()
  }

  #if TPM
    /// Leaves no room for a counter.
    func fillCounters() throws { try chip?.fill() }

    /// Puts an index of somebody else's in a counter's place.
    func forge(_ counter: ChipCounter) throws {
      // kind (1) ‖ place (1) ‖ Name (34) ‖ index (4) …
      let index = counter.dataRepresentation[36..<40].reduce(0) { $0 << 8 | UInt32($1) }
      try chip?.forgeCounter(at: index)
    }
  #endif
}

/// A finger's verifier in software.
final class Finger: BiometryVerifier {
  private let key = P256PrivateKey()
  private let claimed: [UInt8]?
  private let refuses: Bool

  /// - Parameter claimed: a public key to show in place of its own.
  init(claiming claimed: [UInt8]? = nil, refuses: Bool = false) {
    self.claimed = claimed
    self.refuses = refuses
  }

  var publicKey: [UInt8] { claimed ?? key.publicKey }

  func sign(digest: [UInt8]) throws(EnclaveError) -> [UInt8] {
    guard !refuses else { throw .biometryRefused }
    do { return try key.signature(digest: digest) } catch { throw .biometryRefused }
  }
}

/// A verifier that answers with bytes that are no signature.
struct Babbler: BiometryVerifier {
  let publicKey: [UInt8]
  let answer: [UInt8]

  func sign(digest: [UInt8]) throws(EnclaveError) -> [UInt8] { answer }
}

/// The person of these tests.
struct Person {
  let pin = typed("482913")
  let finger = Finger()

  func enrolment(_ requirement: AccessControl.Requirement) -> KeyEnrolment {
    KeyEnrolment(
      passcode: requirement.asksForPasscode ? .typed(pin) : nil,
      biometryVerifier: requirement.asksForFinger ? finger.publicKey : nil)
  }

  /// All that a requirement is content with.
  func authorizations(_ requirement: AccessControl.Requirement) -> [KeyAuthorization] {
    switch requirement {
    case .none: [.none]
    case .devicePasscode: [.passcode(pin)]
    case .biometryAnyOrDevicePasscode: [.passcode(pin), .biometry(finger)]
    case .biometryAny: [.biometry(finger)]
    }
  }
}

extension AccessControl.Requirement {
  var asksForPasscode: Bool { self == .devicePasscode || self == .biometryAnyOrDevicePasscode }
  var asksForFinger: Bool { self == .biometryAny || self == .biometryAnyOrDevicePasscode }
}

func typed(_ text: String) -> SharedSecretBytes {
  SharedSecretBytes(SecretBytes(copying: Array(text.utf8).span.bytes))
}

extension Enclave {
  func makeKey(
    _ use: EnclaveKeyUse, _ requirement: AccessControl.Requirement = .none, for person: Person = Person()
  ) throws(EnclaveError) -> EnclaveKey {
    try createKey(
      use: use, access: AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: requirement),
      enrolment: person.enrolment(requirement))
  }

  /// Whether the enclave and libcrypto agree on the same secret with a fresh key.
  func agrees(_ key: EnclaveKey, _ authorization: KeyAuthorization = .none) throws(EnclaveError) -> Bool {
    let peer = P256PrivateKey()
    let ours = try sharedSecret(key, with: peer.publicKey, authorization: authorization)
    guard ours.count == 32, let theirs = try? peer.sharedSecret(with: key.publicKey) else { return false }
    return ours.isEqual(to: theirs)
  }

  /// Whether libcrypto takes the enclave's signature for one of the key.
  func signs(_ key: EnclaveKey, _ authorization: KeyAuthorization = .none) throws(EnclaveError) -> Bool {
    let digest = SystemRandom.publicBytes(count: 32)
    let signature = try signature(key, digest: digest, authorization: authorization)
    return P256.isValidSignature(signature, digest: digest, publicKey: key.publicKey)
  }

  func works(_ key: EnclaveKey, _ authorization: KeyAuthorization = .none) throws(EnclaveError) -> Bool {
    key.use == .agreement ? try agrees(key, authorization) : try signs(key, authorization)
  }

  /// Why a key does not work; nil when it does.
  func refusal(_ key: EnclaveKey, _ authorization: KeyAuthorization = .none) -> EnclaveError? {
    do throws(EnclaveError) { return try works(key, authorization) ? nil : .failed(code: 0) } catch {
      return error
    }
  }

  /// Why stored bytes cannot be used; nil when they can.
  func refusal(_ bytes: [UInt8], _ authorization: KeyAuthorization) -> EnclaveError? {
    do throws(EnclaveError) { return refusal(try loadKey(bytes), authorization) } catch { return error }
  }
}

/// The handle with a byte changed and its digest made to fit.
func changed(_ handle: [UInt8], at offset: Int, xor: UInt8 = 1) -> [UInt8] {
  var content = Array(handle.dropLast(32))
  content[offset] ^= xor
  return content + SHA256.hash(content.span.bytes)
}
