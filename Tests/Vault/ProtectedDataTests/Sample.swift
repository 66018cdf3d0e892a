// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenPGP
import Testing

@testable import ProtectedData

/// A value of every domain that is not the one it begins with.
enum Sample {
  static let control = PrivateKeyControl(
    authMode: .highSecurityWithFinger,
    recoveryJournal: RecoveryJournal(
      kind: .modifyExpiry, phase: .flipped, targetMode: .standard, targetGeneration: 1 << 40,
      fingerprints: [fingerprint(4, count: 20), fingerprint(6, count: 32)]))
  static let metadata = KeyMetadata(
    identities: [
      PGPKeyIdentity(
        profile: .a, fingerprint: fingerprint(4, count: 20), backedUpAt: 1_759_536_001,
        created: 1_759_536_000, expires: .max, userIDs: ["Alice <alice@example.org>", "Älice", ""],
        revocationCertificate: [1, 2, 3], certificate: [4, 5]),
      PGPKeyIdentity(
        profile: .b, fingerprint: fingerprint(6, count: 32), hasPrimaryKey: false, isImported: true,
        backedUpAt: nil,
        created: 0, expires: nil, userIDs: [], revocationCertificate: [], certificate: []),
    ],
    staged: [
      PGPKeyIdentity(
        profile: .other, fingerprint: fingerprint(4, count: 20), backedUpAt: nil, created: 7, expires: 8,
        userIDs: ["Alice"], revocationCertificate: [1], certificate: [4, 5, 6])
    ])
  static let settings = ProtectedSettings(
    gracePeriodSeconds: 3600, showsNextSteps: false, colourTheme: .dark, encryptToSelf: false,
    hasCompletedTutorial: true)
  static let contacts = ContactsSnapshot(contacts: [
    Contact(
      id: UUID(), displayName: "Bob",
      keys: [
        Contact.Key(
          fingerprint: fingerprint(1, count: 20), certificate: [7, 8, 9], state: .former,
          firstSeen: 1_759_536_060),
        Contact.Key(
          fingerprint: fingerprint(2, count: 32), certificate: [], state: .inUse, firstSeen: .max),
        Contact.Key(fingerprint: fingerprint(3, count: 20), certificate: [1], state: .waiting, firstSeen: 0),
      ],
      verification: Contact.Verification(
        date: 1_759_536_061, manner: .wholeFingerprint, fingerprint: fingerprint(2, count: 32)),
      failedVerification: 9),
    contact(certificate: []),
  ])

  /// A contact without a name, and with one key of its own.
  static func contact(certificate: [UInt8]) -> Contact {
    let id = UUID()
    let random = withUnsafeBytes(of: id.uuid) { Array($0) }
    let fingerprint = Fingerprint(bytes: random + [0, 0, 0, 0])!
    return Contact(
      id: id, displayName: "",
      keys: [Contact.Key(fingerprint: fingerprint, certificate: certificate, state: .inUse, firstSeen: 0)])
  }

  /// The same byte, `count` times.
  static func fingerprint(_ byte: UInt8, count: Int) -> Fingerprint {
    Fingerprint(bytes: [UInt8](repeating: byte, count: count))!
  }

  static func store(_ domains: ProtectedDomains) throws {
    try domains.update(PrivateKeyControl.self) { $0 = control }
    try domains.update(KeyMetadata.self) { $0 = metadata }
    try domains.update(ProtectedSettings.self) { $0 = settings }
    try domains.update(ContactsSnapshot.self) { $0 = contacts }
  }

  static func expectStored(_ domains: ProtectedDomains, sourceLocation: SourceLocation = #_sourceLocation)
    throws
  {
    #expect(try domains.read() == control, sourceLocation: sourceLocation)
    #expect(try domains.read() == metadata, sourceLocation: sourceLocation)
    #expect(try domains.read() == settings, sourceLocation: sourceLocation)
    #expect(try domains.read() == contacts, sourceLocation: sourceLocation)
    #expect(try domains.read() == FrameworkSentinel.initial, sourceLocation: sourceLocation)
  }
}

/// Expects that a domain holds this.
func expectStored<Payload: ProtectedPayload>(
  _ value: Payload, in domains: ProtectedDomains, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let stored: Payload = try domains.read()
  #expect(stored == value, sourceLocation: sourceLocation)
}
