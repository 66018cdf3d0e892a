// SPDX-License-Identifier: Apache-2.0
//
// A private part that is open, in locked memory: read from custody, written for it, and its metadata.

internal import KeyCustody
internal import OpenPGP
internal import Primitives
internal import ProtectedData
internal import Secrets

extension TransferableSecretKey {
  /// A private part as custody lends it.
  /// - Throws: ``IdentityError/corrupt``
  init(opened bytes: RawSpan) throws(IdentityError) {
    let source = MemorySource(SharedSecretBytes(SecretBytes(copying: bytes)))
    let found: [TransferableSecretKey]
    do { found = try Self.readAll(source) } catch { throw .corrupt }
    guard found.count == 1 else { throw .corrupt }
    self = found[0]
  }

  /// All packets, in locked memory.
  func secretBytes() throws(IdentityError) -> SecretBytes {
    let counted = CountingSink()
    let sink: SecretSink
    do {
      try write(to: counted)
      sink = SecretSink(byteCount: counted.count)
      try write(to: sink)
    } catch { throw .engine(error) }
    return sink.bytes.duplicate()
  }

  /// This key, open, with its metadata.
  func listed(_ metadata: PGPKeyIdentity) throws(IdentityError) -> ListedPrivateKey {
    let payload: PrivateKeyPayload =
      certificate.primaryKey.version == 6 ? .transferableSecretKeyV6 : .transferableSecretKeyV4
    return ListedPrivateKey(SharedSecretBytes(try secretBytes()), payload, metadata)
  }

  /// A revocation certificate of this key, which is open: the signature alone. It gives no reason, because it has to
  /// serve on whatever day it is needed.
  func revocationPacket(at now: Timestamp) throws(IdentityError) -> [UInt8] {
    let sink = ArraySink()
    do {
      let primary = try unlocked(certificate.fingerprint, for: .certify, passwords: [])
      let signature = try certificate.revocation(
        of: .primaryKey, reason: RevocationReason(.none), at: now, by: primary)
      try Packet.signature(signature).write(to: sink)
    } catch { throw .engine(error) }
    return sink.bytes
  }
}

extension PGPKeyIdentity {
  /// The metadata of a key that is open. Without a former one it has a new revocation certificate, if its primary key
  /// can make one.
  /// - Parameter former: says what the key itself does not: the backup and the revocation certificate.
  /// - Throws: ``IdentityError/tooLarge``, ``IdentityError/engine(_:)``
  init(
    _ key: TransferableSecretKey, after former: PGPKeyIdentity? = nil, isImported: Bool = false,
    at now: Timestamp
  ) throws(IdentityError) {
    let certificate = key.certificate
    let packets = ArraySink()
    do { try certificate.write(to: packets) } catch { throw .engine(error) }
    let profile = Profile(certificate.primaryKey)
    let hasPrimaryKey = key.hasSecret(of: certificate.fingerprint)
    var revocation = former?.revocationCertificate ?? []
    if revocation.isEmpty, hasPrimaryKey {
      // An old algorithm may not be able to sign any more.
      revocation =
        try profile == .other
        ? (try? key.revocationPacket(at: now)) ?? [] : key.revocationPacket(at: now)
    }
    let valid = ValidCertificate(certificate, at: now, now: now, policy: .standard)
    // Whatever was said before, it can still be retired, and then found to be stolen.
    let isRevoked = Identity.State(valid.problem) == .revoked
    let room = isRevoked ? 0 : 2 * (revocation.count + Self.revocationWordsByteCount)
    guard packets.bytes.count + room <= Self.certificateByteCountLimit else { throw .tooLarge }
    let created = certificate.primaryKey.creationTime.secondsSince1970
    self.init(
      profile: profile, fingerprint: certificate.fingerprint, hasPrimaryKey: hasPrimaryKey,
      isImported: isImported || former?.isImported == true, backedUpAt: former?.backedUpAt, created: created,
      expires: valid.primaryKey.expirationTime.map(\.secondsSince1970).flatMap { $0 > created ? $0 : nil },
      userIDs: Self.userIDs(valid), revocationCertificate: revocation, certificate: packets.bytes)
  }

  /// What a revocation may have beyond the revocation certificate, which gives no reason.
  private static let revocationWordsByteCount = 64

  /// Those that the holder claims, and the one that speaks for the key first; all, if there is none of these.
  private static func userIDs(_ valid: ValidCertificate) -> [String] {
    var claimed = valid.userIDs.filter { $0.problem == nil }
    if claimed.isEmpty { claimed = valid.userIDs }
    let ordered = claimed.filter(\.isPrimary) + claimed.filter { !$0.isPrimary }
    let texts = ordered.compactMap { String(validating: $0.userID.bytes, as: UTF8.self) }
    return Array(texts.filter { $0.utf8.count <= userIDByteCountLimit }.prefix(userIDCountLimit))
  }
}

extension PGPKeyIdentity.Profile {
  init(_ primary: PublicKey) {
    self =
      switch (primary.version, primary.algorithm) {
      case (4, .eddsaLegacy): .a
      case (6, .ed448), (6, .mldsa87Ed448): .b
      default: .other
      }
  }
}

/// Counts bytes and keeps none.
private final class CountingSink: ByteSink {
  private(set) var count = 0

  func write(_ bytes: RawSpan) { count += bytes.byteCount }
}

/// Keeps so many bytes, in locked memory.
private final class SecretSink: ByteSink {
  private(set) var bytes: SecretBytes
  private var count = 0

  init(byteCount: Int) { bytes = SecretBytes(zeroed: byteCount) }

  func write(_ next: RawSpan) {
    let start = count
    bytes.withMutableBytes { $0.copy(next, to: start) }
    count += next.byteCount
  }
}
