// SPDX-License-Identifier: Apache-2.0
//
// Protected data: unlocked, read, changed, locked again, made anew.

import CofferKit
import Foundation
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets

extension Operation {
  static let protectedData = [
    Operation("unlock protected data and lock them again") { workspace in
      try workspace.withProtectedData { coffer, domains in
        try expect(domains.relockAll(), "they are locked again")
        try coffer.unlockProtectedData()
      }
    },
    Operation("change protected settings") { workspace in
      try workspace.withProtectedData { _, domains in
        try domains.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 90 }
        try expect(try domains.read(ProtectedSettings.self).gracePeriodSeconds == 90, "they are changed")
      }
    },
    Operation("add a contact") { workspace in
      try workspace.withProtectedData { _, domains in try workspace.addContact(domains) }
    },
    Operation("a change of protected data that throws") { workspace in
      try workspace.withProtectedData { _, domains in
        try expectThrow("a change") {
          try domains.update(ProtectedSettings.self) { _ in throw Unexpected("enough") }
        }
      }
    },
    Operation("a relock that fails") { workspace in
      try workspace.withProtectedData { _, domains in
        struct Failing: RelockParticipant {
          func relock() throws { throw Unexpected("no") }
        }
        domains.register(Failing())
        try expectThrow("a relock") { try domains.relock() }
      }
    },
    Operation("reset a domain, and all") { workspace in
      try workspace.withProtectedData { coffer, _ in
        try coffer.reset(.protectedSettings)
        try coffer.resetProtectedData()
        try coffer.unlockProtectedData()
      }
    },
    Operation("protected data bound to a chip", needs: .chip) { workspace in
      try workspace.withProtectedData { _, domains in
        try domains.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 90 }
      }
    },
  ]
}

extension Workspace {
  /// Makes a coffer, unlocks its protected data, and lends both.
  @inline(never)
  fileprivate func withProtectedData(_ body: (Coffer, ProtectedDomains) throws -> Void) throws {
    let passphrase = try passphrase()
    try makeCoffer(passphrase)
    try withCoffer(passphrase) { coffer in
      try expect(try coffer.unlockProtectedData().outcome == .opened, "every domain opens")
      try body(coffer, coffer.protectedDomains())
    }
    // Once more: a reset made keys.
    try tellKeys(SlotCredential(passphrase))
  }

  /// A contact whose certificate is random, and whose only array is overwritten once it is stored.
  @inline(never)
  fileprivate func addContact(_ domains: ProtectedDomains) throws {
    let secret = bytes("certificate", count: 48)
    var certificate = [UInt8](repeating: 0, count: secret.count)
    secret.withBytes { bytes in
      for offset in certificate.indices {
        certificate[offset] = bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      }
    }
    var contacts = [
      Contact(
        id: UUID(), displayName: "",
        keys: [
          Contact.Key(
            fingerprint: Fingerprint(version: 4, bytes: [UInt8](repeating: 1, count: 20)),
            certificate: certificate, state: .inUse, firstSeen: 0)
        ])
    ]
    certificate = []
    try domains.update(ContactsSnapshot.self) { $0.contacts = contacts }
    for offset in 0..<secret.count { contacts[0].keys[0].certificate[offset] = 0 }
  }
}

extension ProtectedDomains {
  fileprivate func relockAll() throws -> Bool {
    try relock()
    do {
      _ = try read(ProtectedSettings.self)
      return false
    } catch { return true }
  }
}
