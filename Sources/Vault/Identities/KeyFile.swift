// SPDX-License-Identifier: Apache-2.0
//
// Private keys in a file of another program, or in a backup. What can be known without a passphrase is told first;
// nothing is written before a key is sealed.

public import KeyCustody
internal import OpenPGP
internal import ProtectedData
public import Secrets

/// The private keys of a file, still locked.
public struct KeyFile: Sendable {
  /// Bytes of a file: a ring of a hundred large keys has less.
  public static let byteCountLimit = 8 << 20

  /// One private key.
  public struct Key: Sendable {
    /// Lower-case hexadecimal.
    public let fingerprint: String
    /// 4 or 6.
    public let version: Int
    /// The first one speaks for the key.
    public let userIDs: [UserIDText]
    /// Seconds since 1970, UTC.
    public let created: Int64
    /// Seconds since 1970, UTC; nil for never.
    public let expires: Int64?
    /// Such as `RSA 4096`.
    public let algorithm: String
    /// What could be done with it now.
    public let state: Identity.State
    /// Whether a passphrase is needed.
    public let isProtected: Bool
    /// Whether the primary key is in the file, and not only the parts for daily use.
    public let hasPrimaryKey: Bool
    /// How many of its parts are on a card or elsewhere.
    public let absentPartCount: Int
    /// Whether any part of it is in the file.
    public let hasAnyPart: Bool
    let key: TransferableSecretKey
  }

  /// In their order; the same one once.
  public let keys: [Key]

  /// Reads all private keys of a file.
  /// - Parameters:
  ///   - bytes: armored or not.
  ///   - now: seconds since 1970, UTC.
  /// - Throws: ``IdentityError/publicPartsOnly``, ``IdentityError/notAPrivateKey``.
  public init(_ bytes: SharedSecretBytes, at now: Int64) throws(IdentityError) {
    do throws(OpenPGPError) {
      let source = MemorySource(bytes)
      let packets: any ByteSource =
        try ArmorReader.isArmored(source) ? ArmorReader(source, .allBlocks) : source
      keys = try TransferableSecretKey.readAll(packets).map { Key($0, at: Timestamp(now)) }
    } catch .malformed(.certificateAsSecretKey) {
      throw .publicPartsOnly
    } catch {
      throw .notAPrivateKey
    }
  }
}

extension KeyFile.Key {
  fileprivate init(_ key: TransferableSecretKey, at now: Timestamp) {
    var key = key
    key.certificate = key.certificate.reducedToHolderStatements()
    let certificate = key.certificate
    let valid = ValidCertificate(certificate, at: now, now: now, policy: .standard)
    let all = certificate.publicKeys.map(\.fingerprint)
    let present = all.filter { key.hasSecret(of: $0) }
    fingerprint = certificate.fingerprint.text
    version = Int(certificate.primaryKey.version)
    let claimed = valid.userIDs.filter(\.isPrimary) + valid.userIDs.filter { !$0.isPrimary }
    userIDs = claimed.map { UserIDText(String(decoding: $0.userID.bytes, as: UTF8.self)) }
    created = Int64(certificate.primaryKey.creationTime.secondsSince1970)
    expires = valid.primaryKey.expirationTime.map { Int64($0.secondsSince1970) }
    algorithm = certificate.primaryKey.algorithmName
    state = Identity.State(valid.problem)
    isProtected = present.contains { key.secrets[$0]?.isLocked == true }
    hasPrimaryKey = present.contains(certificate.fingerprint)
    absentPartCount = all.count - present.count
    hasAnyPart = !present.isEmpty
    self.key = key
  }

  /// Whether this machine has the memory to open it now; ask before you ask for a passphrase (PG-16).
  /// - Throws: ``IdentityError/engine(_:)`` with `notEnoughMemory`.
  public func checkMemory() throws(IdentityError) {
    do { try key.checkMemory() } catch { throw .engine(error) }
  }

  /// Opens it.
  /// - Parameter passphrases: of the file; tried one after the other.
  /// - Throws: ``IdentityError/wrongPassphrase``, ``IdentityError/notAPrivateKey`` when it is open and not a key;
  ///   ``IdentityError/engine(_:)`` with `notEnoughMemory`.
  public func opened(_ passphrases: [SharedSecretBytes]) throws(IdentityError) -> OpenedKey {
    var open = key
    do { try open.changePassword(from: passphrases, to: nil) } catch {
      switch error {
      case .keyIsLocked: throw .wrongPassphrase
      case .notEnoughMemory: throw .engine(error)
      default: throw .notAPrivateKey
      }
    }
    return OpenedKey(key: open)
  }
}

/// A private key without protection, in locked memory.
public struct OpenedKey: Sendable {
  let key: TransferableSecretKey
}

extension IdentityStore {
  /// The fingerprints of keys that custody has: what of a file is here already. Those that cannot be opened any more
  /// are not among them: a backup takes their place.
  public func keptFingerprints() throws -> Set<String> {
    Set(try custody.places().filter { !$0.value.isLost }.map(\.key.text))
  }

  /// Seals keys of a file, all or none, with a revocation certificate each. Every one was opened again when this
  /// returns. An identity whose private part was lost has it again. Of keys that are here already, what is new is taken
  /// afterwards, one after the other.
  /// - Parameter now: seconds since 1970, UTC.
  /// - Throws: ``IdentityError/tooMany(limit:)``, ``IdentityError/tooLarge``; `CustodyError`; `ProtectedDataError`.
  public func importKeys(
    _ opened: [OpenedKey], _ authorization: CustodyAuthorization, at now: Int64
  ) throws {
    let present = try records.identities()
    let sealed = Set(try custody.places().filter { !$0.value.isLost }.keys)
    let known = opened.filter { sealed.contains($0.key.certificate.fingerprint) }
    let opened = opened.filter { !sealed.contains($0.key.certificate.fingerprint) }
    let new = opened.count { entry in
      !present.contains { $0.fingerprint == entry.key.certificate.fingerprint }
    }
    guard present.count + new <= KeyMetadata.countLimit else {
      throw IdentityError.tooMany(limit: KeyMetadata.countLimit)
    }
    let time = Timestamp(now)
    let keys = try opened.map { entry in
      var key = entry.key
      let former = present.first { $0.fingerprint == key.certificate.fingerprint }
      // What was said since, such as another end, is in the public part that stayed.
      if let former, let stayed = try? Certificate.readAll(MemorySource(former.certificate)).first {
        key.certificate = stayed.merging(key.certificate)
      }
      return try key.listed(PGPKeyIdentity(key, after: former, isImported: true, at: time))
    }
    if !keys.isEmpty { try custody.wrap(listing: keys, authorization) }
    for entry in known { try take(entry, authorization, at: time) }
  }
}
