// SPDX-License-Identifier: Apache-2.0
//
// Everybody whom an open coffer knows, and the entries in the audit log for OpenPGP messages and signatures.

internal import Contacts
public import Correspondence
internal import Identities
internal import OpenPGP
internal import ProtectedData

extension Coffer {
  /// What was done with OpenPGP, for the audit log.
  public enum LetterDeed: Sendable {
    /// A message was written.
    case encrypted
    /// A message was opened.
    case decrypted
    /// A signature was made.
    case signed
  }

  /// Contacts and identities, judged now.
  /// - Throws: `ContactError.corrupt`; `IdentityError.corrupt`; `ProtectedDataError`; `CustodyError`.
  public func addressBook() throws -> AddressBook {
    let identities = try identities(try openIdentities())
    return AddressBook(
      contacts: try contacts().certificates(at: openPGPTime), identities: identities, at: openPGPTime)
  }

  /// Whether messages are encrypted to their sender too.
  /// - Throws: `ProtectedDataError.settingsUnavailable`: there is no default (PD-17).
  public func encryptsToSelf() throws -> Bool {
    let settings = try? protectedDomains().read(ProtectedSettings.self)
    return try SessionGrace(settings: settings, lastAuthentication: nil).encryptsToSelf()
  }

  /// Adds an entry to the audit log, after the deed.
  public func note(_ deed: LetterDeed) {
    switch deed {
    case .encrypted: audit(.openPGPEncrypted)
    case .decrypted: audit(.openPGPDecrypted)
    case .signed: audit(.openPGPSigned)
    }
  }
}
