// SPDX-License-Identifier: Apache-2.0
//
// The worked example of Specs/envelopes.md, read from the page: it pins the bytes.

import Enclaves
import Primitives
import ProtectedData
import Secrets
import SpecExamples
import Testing

@testable import KeyCustody

@Suite("The worked example of envelopes")
struct WorkedExampleTests {
  private let example: SpecExample
  private let enclave = SoftwareEnclave()

  init() throws { example = try SpecExample(page: "envelopes.md") }

  private func secret(_ name: String) throws -> SharedSecretBytes {
    let bytes = try example.bytes(name)
    return SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
  }

  private func open(_ name: String, _ authorization: CustodyAuthorization) throws -> [UInt8] {
    let bytes = try example.bytes(name)
    let envelope = try PrivateKeyEnvelope(bytes.span.bytes)
    #expect(envelope.storedBytes == bytes)
    #expect(envelope.fingerprint.bytes == (try example.bytes("fingerprint")))
    let secret = try envelope.open(
      in: enclave, authorization: authorization.key(for: envelope.mode), guard: authorization.openGuard)
    return secret.withBytes { [UInt8](copying: $0) }
  }

  @Test(
    "The envelope of mode standard opens with the owner key, and with the finger only if that is switched on")
  func standard() throws {
    let key = try example.bytes("private-key")
    let owner = CustodyAuthorization(owner: try secret("owner-key"))
    #expect(try open("envelope-standard", owner) == key)
    #expect(throws: CustodyError.passcodeRequired) { try open("envelope-standard", finger()) }
    #expect(try open("envelope-standard-with-finger", owner) == key)
    #expect(try open("envelope-standard-with-finger", finger()) == key)
  }

  @Test("The envelope of version 2 opens with the owner key and the guard, and with neither alone")
  func guarded() throws {
    let record = try example.bytes("guard-record")
    #expect(try GuardRecord(record.span.bytes).bytes().withBytes { [UInt8](copying: $0) } == record)
    let key = try secret("guard-secret").withBytes { HKDF.secret(from: $0, info: "coffer guard v1 envelope") }
    let opened = OpenGuard(digest: SHA256.hash(record.span.bytes), key: SharedSecretBytes(key))
    let owner = CustodyAuthorization(owner: try secret("owner-key"))
    #expect(try open("envelope-guarded", owner.with(guard: opened)) == example.bytes("private-key"))
    #expect(throws: CustodyError.guardRequired) { try open("envelope-guarded", owner) }
    let other = OpenGuard(digest: opened.digest, key: try secret("guard-secret"))
    #expect(throws: CustodyError.corrupt) { try open("envelope-guarded", owner.with(guard: other)) }
    #expect(throws: CustodyError.passcodeRequired) {
      try open("envelope-guarded", CustodyAuthorization(guard: opened))
    }
    let bytes = try example.bytes("manifest-guarded")
    let manifest = try CustodyManifest(bytes.span.bytes)
    #expect(manifest.bytes == bytes)
    #expect(manifest.guardDigest == opened.digest)
    let envelope = try example.bytes("envelope-guarded")
    #expect(manifest.names(try PrivateKeyEnvelope(envelope.span.bytes)))
  }

  @Test("The guard record of two security keys opens with the output of each, and with no other")
  func securityKeys() throws {
    let bytes = try example.bytes("key-guard-record")
    let record = try GuardRecord(bytes.span.bytes)
    #expect(record.bytes().withBytes { [UInt8](copying: $0) } == bytes)
    #expect(record.securityKeyWays.map(\.label) == ["red", "blau (T\u{FC}r)"])
    let expected = try secret("key-guard-secret").withBytes {
      HKDF.secret(from: $0, info: "coffer guard v1 envelope").withBytes { [UInt8](copying: $0) }
    }
    for (way, name) in zip(record.securityKeyWays, ["first-key-output", "second-key-output"]) {
      let opened = try record.open(try secret(name), of: way.credential)
      #expect(opened.key.withBytes { [UInt8](copying: $0) } == expected)
      #expect(opened.digest == SHA256.hash(bytes.span.bytes))
    }
    #expect(throws: CustodyError.corrupt) {
      _ = try record.open(try secret("second-key-output"), of: record.securityKeyWays[0].credential)
    }
  }

  @Test("The envelope of mode high security opens with the finger and not with the owner key")
  func highSecurity() throws {
    #expect(try open("envelope-high-security", finger()) == example.bytes("private-key"))
    let owner = CustodyAuthorization(owner: try secret("owner-key"))
    #expect(throws: CustodyError.fingerRequired) { try open("envelope-high-security", owner) }
  }

  @Test("The manifest names the envelope of its mode and no other")
  func manifest() throws {
    let bytes = try example.bytes("manifest")
    let manifest = try CustodyManifest(bytes.span.bytes)
    #expect(manifest.bytes == bytes)
    #expect(manifest.generation == 1)
    let standard = try example.bytes("envelope-standard")
    let highSecurity = try example.bytes("envelope-high-security")
    #expect(manifest.names(try PrivateKeyEnvelope(standard.span.bytes)))
    #expect(!manifest.names(try PrivateKeyEnvelope(highSecurity.span.bytes)))
  }

  @Test("A value of one kind is never read as one of another")
  func kinds() throws {
    for name in ["manifest", "finger-key", "owner-key", "private-key"] {
      let bytes = try example.bytes(name)
      #expect(throws: CustodyError.corrupt) { try PrivateKeyEnvelope(bytes.span.bytes) }
    }
    for name in ["envelope-standard", "finger-key"] {
      let bytes = try example.bytes(name)
      #expect(throws: CustodyError.corrupt) { try CustodyManifest(bytes.span.bytes) }
    }
  }

  private func finger() throws -> CustodyAuthorization {
    let key = try FingerKey(secret("finger-key"))
    return CustodyAuthorization(finger: try key.verifier(until: .now.advanced(by: .seconds(6_000))))
  }
}
