// SPDX-License-Identifier: Apache-2.0
//
// Everybody whose public part is here: contacts and the user's own identities, at one time. A WHO means one of them.

public import Contacts
public import Identities
public import OpenPGP
internal import ProtectedData

/// Somebody that a message can go to, or that a signature can be by.
public enum Correspondent: Sendable {
  /// Somebody else, with the keys that are stored.
  case contact(ContactCertificates)
  /// The user.
  case identity(Identity)
  /// Somebody whose certificate was named for this once.
  case stranger(Certificate)
}

/// Why a WHO means nobody.
@nonexhaustive
public enum CorrespondenceError: Error, Sendable {
  /// Nobody is called that.
  case unknown(who: String)
  /// Several are.
  case ambiguous(who: String, [Correspondent])
  /// Eight hexadecimal digits, which can be forged.
  case tooFewDigits
  /// There is no identity to sign or to encrypt with.
  case noIdentity
  /// The identity that should sign has lost its private part.
  case noPrivatePart
}

/// The contacts and identities of a coffer at a time.
public struct AddressBook: Sendable {
  /// Contacts, in the order in which they came.
  public let contacts: [ContactCertificates]
  /// The user's own keys, the default one first.
  public let identities: [Identity]
  /// When everything is judged.
  public let time: Timestamp

  /// What is stored, judged at `time`.
  public init(contacts: [ContactCertificates], identities: [Identity], at time: Timestamp) {
    self.contacts = contacts
    self.identities = identities
    self.time = time
  }

  /// The certificates of everybody, with the keys that contacts have had, or may have.
  private var certificates: [Certificate] {
    identities.map(\.certificate) + contacts.flatMap(\.certificates)
  }

  /// The one whom `who` means: a fingerprint or key ID, an address, a name, beginnings of its words, or `me`.
  /// A contact with the key of an identity is that identity.
  /// - Throws: ``CorrespondenceError/unknown(who:)``, ``CorrespondenceError/ambiguous(who:_:)``,
  ///   ``CorrespondenceError/tooFewDigits``.
  public func find(_ who: String) throws(CorrespondenceError) -> Correspondent {
    let own = Set(identities.map(\.certificate.fingerprint))
    let others = contacts.filter { contact in
      guard let inUse = contact.certificateInUse else { return true }
      return !own.contains(inUse.fingerprint)
    }
    let everybody = identities.map { Correspondent.identity($0) } + others.map { .contact($0) }
    let found: [Correspondent]
    do { found = try ContactQuery(who).fitting(everybody) { $0.whoNames } } catch { throw .tooFewDigits }
    guard found.count < 2 else { throw .ambiguous(who: who, found) }
    if let one = found.first { return one }
    if who.lowercased() == "me", let own = identities.first { return .identity(own) }
    throw .unknown(who: who)
  }

  /// The one whose key in use replaces this key, as both keys say; nil for nobody here.
  public func successor(of certificate: Certificate) -> Correspondent? {
    func statement(_ certificate: Certificate) -> ReplacementStatement {
      ValidCertificate(certificate, at: time, now: time, policy: .standard).replacementStatement
    }
    let replaced = statement(certificate)
    guard case .successor(let target) = replaced.replacement else { return nil }
    let everybody = identities.map { Correspondent.identity($0) } + contacts.map { .contact($0) }
    return everybody.first { other in
      guard let new = other.certificate, new.fingerprint == target.fingerprint else { return false }
      return replaced.relation(toSuccessor: statement(new)) == .confirmed
    }
  }

  /// Certificates of a file, with what everybody here has revoked of them who may.
  public func known(_ parts: PublicParts) -> PublicParts { parts.knowing(certificates) }

  /// Certificates for one command, merged with the stored copies of the same keys; nothing is stored.
  public func merging(_ parts: PublicParts) -> [Correspondent] {
    known(parts).certificates.map { certificate in
      if let own = identities.first(where: { $0.certificate.fingerprint == certificate.fingerprint }) {
        return Correspondent.identity(own).merging(certificate)
      }
      for contact in contacts {
        guard let stored = contact.certificateInUse, stored.fingerprint == certificate.fingerprint else {
          continue
        }
        return Correspondent.contact(contact).merging(certificate)
      }
      return .stranger(certificate)
    }
  }
}

extension Correspondent {
  /// The certificate that new messages go to; nil while a contact has none in use.
  public var certificate: Certificate? {
    switch self {
    case .contact(let contact): contact.certificateInUse
    case .identity(let identity): identity.certificate
    case .stranger(let certificate): certificate
    }
  }

  /// The same with another copy of the certificate, which may have a revocation or a subkey that this one lacks.
  func merging(_ copy: Certificate) -> Correspondent {
    switch self {
    case .contact(let contact):
      let merged = contact.certificates.map { $0.fingerprint == copy.fingerprint ? $0.merging(copy) : $0 }
      return .contact(ContactCertificates(entry: contact.entry, certificates: merged))
    case .identity(let identity): return .identity(identity.merging(copy))
    case .stranger(let certificate): return .stranger(certificate.merging(copy))
    }
  }

  /// What to call them. A stranger's name is what the certificate says: make it safe before you show it.
  public var name: String {
    switch self {
    case .contact(let contact): contact.entry.name
    case .identity(let identity): identity.userIDs.first?.text ?? identity.fingerprint
    case .stranger(let certificate):
      certificate.userIDs.first.map { String(decoding: $0.packet.bytes, as: UTF8.self) }
        ?? FingerprintText.plain(certificate.fingerprint)
    }
  }

  /// Whether the user has compared the fingerprint of the key in use, or it is the user's own.
  public var isVerified: Bool {
    switch self {
    case .contact(let contact):
      contact.entry.verification.map { $0.fingerprint == contact.certificateInUse?.fingerprint } ?? false
    case .identity: true
    case .stranger: false
    }
  }

  /// The addresses that the key in use claims now.
  public var addresses: [String] {
    switch self {
    case .contact(let contact): contact.entry.keyInUse?.summary.addresses ?? []
    case .identity(let identity): identity.userIDs.compactMap(\.address)
    case .stranger(let certificate): certificate.userIDs.compactMap(\.packet.address)
    }
  }

  fileprivate var whoNames: WhoNames {
    switch self {
    case .contact(let contact): contact.entry.whoNames
    case .identity(let identity): identity.whoNames
    case .stranger(let certificate):
      WhoNames(fingerprints: [certificate.fingerprint], addresses: addresses, names: [])
    }
  }
}
