// SPDX-License-Identifier: Apache-2.0

public import OpenPGP

/// The domain of the user's own OpenPGP keys (PD-11).
public struct KeyMetadata: ProtectedPayload {
  /// ``ProtectedDomain/keyMetadata``.
  public static let domain = ProtectedDomain.keyMetadata
  /// Schema 1.
  public static let schemaVersion: UInt16 = 1
  /// No keys.
  public static let initial = KeyMetadata(identities: [])
  /// Own keys. Users have a handful.
  public static let countLimit = 256

  /// In the order in which they are shown; no fingerprint twice.
  public var identities: [PGPKeyIdentity]
  /// The metadata that the keys of a change have once it is made; no fingerprint twice.
  public var staged: [PGPKeyIdentity]

  /// Metadata of these keys. Writing it checks the rules.
  public init(identities: [PGPKeyIdentity], staged: [PGPKeyIdentity] = []) {
    self.identities = identities
    self.staged = staged
  }

  /// Puts staged metadata in the place of the key's present one, or at the end; the rest of it is dropped.
  /// - Parameter isMade: whether the change of that key was made.
  public mutating func endStaging(_ isMade: (Fingerprint) -> Bool) {
    for next in staged where isMade(next.fingerprint) {
      if let index = identities.firstIndex(where: { $0.fingerprint == next.fingerprint }) {
        identities[index] = next
      } else {
        identities.append(next)
      }
    }
    staged = []
  }

  // MARK: Bytes

  /// Checks all identities, and that no fingerprint occurs twice in a list.
  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try fields(bytes) }

  /// Reads all identities.
  public init(_ bytes: RawSpan) throws(MalformedPayload) {
    let fields = try Self.fields(bytes)
    identities = fields.identities.map { PGPKeyIdentity($0, bytes) }
    staged = fields.staged.map { PGPKeyIdentity($0, bytes) }
  }

  private static func fields(
    _ bytes: RawSpan
  ) throws(MalformedPayload) -> (identities: [PGPKeyIdentity.Fields], staged: [PGPKeyIdentity.Fields]) {
    var cursor = PayloadCursor()
    let identities = try list(bytes, &cursor)
    let staged = try list(bytes, &cursor)
    try cursor.finish(bytes)
    return (identities, staged)
  }

  private static func list(
    _ bytes: RawSpan, _ cursor: inout PayloadCursor
  ) throws(MalformedPayload) -> [PGPKeyIdentity.Fields] {
    var found: [PGPKeyIdentity.Fields] = []
    for _ in 0..<(try cursor.count(bytes, limit: countLimit)) {
      found.append(try PGPKeyIdentity.Fields(bytes, &cursor))
    }
    guard bytes.areDistinct(found.map(\.fingerprint)) else { throw MalformedPayload() }
    return found
  }

  /// Writes the identities and then the staged ones: each list as its number in two bytes, then its elements.
  public func write(to writer: inout PayloadWriter) {
    for list in [identities, staged] {
      writer.append(bigEndian: UInt16(clamping: list.count))
      for identity in list { identity.write(to: &writer) }
    }
  }
}

/// The metadata of one of the user's own OpenPGP keys (PD-11). It is not secret, but private.
public struct PGPKeyIdentity: Equatable, Sendable {
  /// The suite that a key was made for (PG-01, PG-02). The numbers are stored.
  public enum Profile: UInt8, Sendable, CaseIterable {
    /// Profile A: understood everywhere.
    case a = 1
    /// Profile B: RFC 9580.
    case b = 2
    /// A key of another suite, which was imported.
    case other = 3
  }

  /// User IDs of one key.
  public static let userIDCountLimit = 64
  /// Bytes of a user ID. RFC 9580 sets no limit; a line of mail has 998.
  public static let userIDByteCountLimit = 1024
  /// Bytes of a revocation certificate: one signature, with room for a long reason.
  public static let revocationByteCountLimit = 1 << 15
  /// Bytes of a certificate: with pictures and many certifications some reach 100 KiB.
  public static let certificateByteCountLimit = 1 << 18

  /// The suite that the key was made for.
  public var profile: Profile
  /// Of the primary key, which is of version 4 or 6.
  public var fingerprint: Fingerprint
  /// Whether custody has the secret part of the primary key, and not only of subkeys.
  public var hasPrimaryKey: Bool
  /// Whether it came from a file, which may still exist.
  public var isImported: Bool
  /// When the last backup of the secret key was made and read back: seconds since 1970, UTC; nil for none.
  public var backedUpAt: UInt32?
  /// Seconds since 1970, UTC, as OpenPGP has it (RFC 9580, section 3.5).
  public var created: UInt32
  /// Seconds since 1970, UTC, after `created`; nil for never.
  public var expires: UInt32?
  /// At most ``userIDCountLimit``, each of at most ``userIDByteCountLimit`` bytes of UTF-8.
  public var userIDs: [String]
  /// A signature packet; empty when there is none.
  public var revocationCertificate: [UInt8]
  /// The transferable public key, as packets.
  public var certificate: [UInt8]

  /// An identity with these values. Writing its metadata checks the rules.
  public init(
    profile: Profile, fingerprint: Fingerprint, hasPrimaryKey: Bool = true, isImported: Bool = false,
    backedUpAt: UInt32?, created: UInt32, expires: UInt32?, userIDs: [String], revocationCertificate: [UInt8],
    certificate: [UInt8]
  ) {
    self.profile = profile
    self.fingerprint = fingerprint
    self.hasPrimaryKey = hasPrimaryKey
    self.isImported = isImported
    self.backedUpAt = backedUpAt
    self.created = created
    self.expires = expires
    self.userIDs = userIDs
    self.revocationCertificate = revocationCertificate
    self.certificate = certificate
  }
}

// MARK: - Bytes

extension PGPKeyIdentity {
  /// An identity in a payload: values of fixed length, and the ranges of the others.
  struct Fields {
    let profile: Profile
    let fingerprint: Range<Int>
    let hasPrimaryKey: Bool
    let isImported: Bool
    let backedUpAt: UInt32?
    let created: UInt32
    let expires: UInt32?
    let userIDs: [Range<Int>]
    let revocationCertificate: Range<Int>
    let certificate: Range<Int>

    init(_ bytes: RawSpan, _ cursor: inout PayloadCursor) throws(MalformedPayload) {
      let fingerprintByteCount = try cursor.fingerprintByteCount(bytes)
      profile = try cursor.one(bytes)
      fingerprint = try cursor.range(bytes, count: fingerprintByteCount)
      hasPrimaryKey = try cursor.flag(bytes)
      isImported = try cursor.flag(bytes)
      backedUpAt = try cursor.flag(bytes) ? try cursor.uint32(bytes) : nil
      created = try cursor.uint32(bytes)
      expires = try cursor.flag(bytes) ? try cursor.uint32(bytes) : nil
      var userIDs: [Range<Int>] = []
      for _ in 0..<(try cursor.count(bytes, limit: userIDCountLimit)) {
        userIDs.append(try cursor.text(bytes, byteCountLimit: userIDByteCountLimit))
      }
      self.userIDs = userIDs
      revocationCertificate = try cursor.blob(bytes, byteCountLimit: revocationByteCountLimit)
      certificate = try cursor.blob(bytes, byteCountLimit: certificateByteCountLimit)
      guard expires.map({ $0 > created }) ?? true else { throw MalformedPayload() }
    }
  }

  init(_ fields: Fields, _ bytes: RawSpan) {
    self.init(
      profile: fields.profile, fingerprint: bytes.fingerprint(fields.fingerprint),
      hasPrimaryKey: fields.hasPrimaryKey, isImported: fields.isImported, backedUpAt: fields.backedUpAt,
      created: fields.created, expires: fields.expires,
      userIDs: fields.userIDs.map { bytes.text($0) },
      revocationCertificate: bytes.array(fields.revocationCertificate),
      certificate: bytes.array(fields.certificate))
  }

  func write(to writer: inout PayloadWriter) {
    guard Fingerprint(bytes: fingerprint.bytes) == fingerprint else { return writer.refuse() }
    writer.append(fingerprint.version)
    writer.append(profile.rawValue)
    writer.append(fingerprint.bytes)
    writer.append(hasPrimaryKey)
    writer.append(isImported)
    writer.append(backedUpAt != nil)
    if let backedUpAt { writer.append(bigEndian: backedUpAt) }
    writer.append(bigEndian: created)
    writer.append(expires != nil)
    if let expires { writer.append(bigEndian: expires) }
    writer.append(bigEndian: UInt16(clamping: userIDs.count))
    for userID in userIDs { writer.append(text: userID) }
    writer.append(blob: revocationCertificate)
    writer.append(blob: certificate)
  }
}
