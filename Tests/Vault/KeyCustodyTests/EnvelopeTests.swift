// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Primitives
import ProtectedData
import Secrets
import Testing

@testable import KeyCustody

@Suite("Private-key envelopes")
struct EnvelopeTests {
  private let finger: FingerKey
  private let enclave = SoftwareEnclave()
  private let secret = Array("a private key of some length, told from any other by these words".utf8)

  init() throws { finger = try FingerKey(FingerKey.generate()) }

  private func seal() throws -> PrivateKeyEnvelope {
    let key = try enclave.createKey(
      use: .agreement, access: AuthenticationMode.highSecurityWithFinger.access,
      enrolment: KeyEnrolment(biometryVerifier: finger.publicKey))
    return try PrivateKeyEnvelope.seal(
      secret.span.bytes, .transferableSecretKeyV4, CustodyFixture.fingerprint(1), to: key)
  }

  private func open(_ bytes: [UInt8]) throws -> [UInt8] {
    let verifier = try finger.verifier(until: .now.advanced(by: .seconds(6_000)))
    let envelope = try PrivateKeyEnvelope(bytes.span.bytes)
    let secret = try envelope.open(in: enclave, authorization: .biometry(verifier))
    return secret.withBytes { [UInt8](copying: $0) }
  }

  @Test("An envelope is read as it was written, and opens")
  func roundTrip() throws {
    let envelope = try seal()
    let again = try PrivateKeyEnvelope(envelope.storedBytes.span.bytes)
    #expect(again == envelope)
    #expect(again.storedBytes == envelope.storedBytes)
    #expect(again.mode == .highSecurityWithFinger)
    #expect(try open(envelope.storedBytes) == secret)
    #expect(try seal().sealed.ephemeralKey != envelope.sealed.ephemeralKey)
  }

  @Test("Every flipped byte is refused: no place gives another key, or this one")
  func flips() throws {
    let bytes = try seal().storedBytes
    for offset in bytes.indices {
      for mask: UInt8 in [0x01, 0x80] {
        var changed = bytes
        changed[offset] ^= mask
        #expect(throws: CustodyError.self, "byte \(offset)") { try open(changed) }
      }
    }
  }

  @Test("A shorter or longer envelope is corrupt")
  func lengths() throws {
    let bytes = try seal().storedBytes
    for count in bytes.indices {
      let shorter = Array(bytes[..<count])
      #expect(throws: CustodyError.corrupt) { try PrivateKeyEnvelope(shorter.span.bytes) }
    }
    let longer = bytes + [0]
    #expect(throws: CustodyError.corrupt) { try PrivateKeyEnvelope(longer.span.bytes) }
  }

  @Test("An envelope under another fingerprint does not open: the fingerprint is bound")
  func otherFingerprint() throws {
    var bytes = try seal().storedBytes
    bytes[10] ^= 0xFF
    #expect(throws: CustodyError.corrupt) { try open(bytes) }
  }

  @Test("Keys of another use, protection or requirement are no envelope's")
  func otherAccess() throws {
    let accesses: [(EnclaveKeyUse, AccessControl)] = [
      (.signing, AuthenticationMode.highSecurityWithFinger.access),
      (.agreement, AccessControl(.afterFirstUnlockThisDeviceOnly, requirement: .biometryAny)),
      (.agreement, AccessControl(.whenUnlockedThisDeviceOnly)),
    ]
    for (use, access) in accesses {
      let enrolment =
        access.requirement == .none ? KeyEnrolment() : KeyEnrolment(biometryVerifier: finger.publicKey)
      let key = try enclave.createKey(use: use, access: access, enrolment: enrolment)
      #expect(throws: CustodyError.invalidInput) {
        try PrivateKeyEnvelope.seal(
          secret.span.bytes, .transferableSecretKeyV4, CustodyFixture.fingerprint(1), to: key)
      }
    }
  }

  @Test("A manifest is read as it was written, and anything else is corrupt")
  func manifest() throws {
    var manifest = CustodyManifest()
    manifest.generation = 0x0102_0304_0506_0708
    manifest.mode = .highSecurityWithFinger
    manifest.digests[CustodyFixture.fingerprint(2)] = [UInt8](repeating: 2, count: 32)
    manifest.digests[CustodyFixture.fingerprint(1, .transferableSecretKeyV6)] = [UInt8](
      repeating: 1, count: 32)
    let bytes = manifest.bytes
    #expect(
      Array(bytes.prefix(19)) == Array("COFPKMF1".utf8) + [1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 2])
    #expect(try CustodyManifest(bytes.span.bytes) == manifest)
    for count in bytes.indices {
      let shorter = Array(bytes[..<count])
      #expect(throws: CustodyError.corrupt) { try CustodyManifest(shorter.span.bytes) }
    }
    // magic, mode, count, a fingerprint's length; and entries out of their order
    for offset in [0, 16, 18, 19] {
      var changed = bytes
      changed[offset] ^= 0x40
      #expect(throws: CustodyError.corrupt) { try CustodyManifest(changed.span.bytes) }
    }
    let entries = (bytes[19..<84], bytes[84...])
    let exchanged = Array(bytes[..<19] + entries.1 + entries.0)
    #expect(throws: CustodyError.corrupt) { try CustodyManifest(exchanged.span.bytes) }
  }
}
