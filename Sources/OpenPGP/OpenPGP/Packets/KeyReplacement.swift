// SPDX-License-Identifier: Apache-2.0
//
// Key Replacement (draft-ietf-openpgp-replacementkey): the holder of a key names the key that replaces it, or those
// that it replaces. The octets are those that go-crypto and rPGP write for revisions 07 and 08 (2026):
//
//     class (1), of which bit 0x01 is "inverse" ‖ records
//     record: count of the octets that follow (1) ‖ version of the key (1) ‖ its fingerprint ‖ its imprint (32)
//
// There is exactly one record, or with "inverse" any number. The imprint is SHA3-256 of what fingerprints are over,
// so that a collision of SHA-1 is not enough. The registry has no number for it yet: 100, which everybody may use
// for experiments, is what those engines take meanwhile. So a subpacket of other content is somebody else's, and
// unknown; it does not make the signature malformed.

/// What a holder says about the replacement of a primary key.
public enum KeyReplacement: Hashable, Sendable {
  /// This key replaces it.
  case successor(Target)
  /// It replaces these keys. Those of versions that this engine does not have are left out.
  case predecessors([Target])

  /// A primary key that is named.
  public struct Target: Hashable, Sendable {
    /// Names the key; of version 4 by SHA-1.
    public let fingerprint: Fingerprint
    /// SHA3-256 of the key.
    public let imprint: [UInt8]

    /// Names a key.
    public init(_ key: PublicKey) {
      fingerprint = key.fingerprint
      var hash = HashContext(Self.hash)
      hash.update(key.hashed)
      imprint = hash.finish()
    }

    /// Whether it is this key that is named.
    public func names(_ key: PublicKey) -> Bool {
      fingerprint == key.fingerprint && self == Target(key)
    }

    fileprivate static let hash = HashAlgorithm.sha3_256
    fileprivate static let imprintByteCount = 32
  }

  /// Nil when the octets are not as described.
  init?(_ body: [UInt8]) {
    guard let octet = body.first else { return nil }
    var records: [Target?] = []
    var rest = body.dropFirst()
    while let count = rest.first {
      let record = rest.dropFirst().prefix(Int(count))
      guard record.count == count, let version = record.first else { return nil }
      if let byteCount = Fingerprint.byteCount(version: version) {
        guard let target = Target(record.dropFirst(), version, byteCount) else { return nil }
        records.append(target)
      } else {
        records.append(nil)
      }
      rest = rest.dropFirst(1 + record.count)
    }
    let targets = records.compactMap(\.self)
    if octet & Self.inverse != 0 {
      guard !records.isEmpty else { return nil }
      self = .predecessors(targets)
    } else {
      guard records.count == 1, let target = targets.first else { return nil }
      self = .successor(target)
    }
  }

  /// The body of the subpacket.
  var bytes: [UInt8] {
    switch self {
    case .successor(let target): [0] + target.record
    case .predecessors(let targets): [Self.inverse] + targets.flatMap(\.record)
    }
  }

  private static let inverse: UInt8 = 0x01
}

extension KeyReplacement.Target {
  fileprivate init?(_ octets: ArraySlice<UInt8>, _ version: UInt8, _ fingerprintByteCount: Int) {
    guard octets.count == fingerprintByteCount + Self.imprintByteCount else { return nil }
    fingerprint = Fingerprint(version: version, bytes: Array(octets.prefix(fingerprintByteCount)))
    imprint = Array(octets.dropFirst(fingerprintByteCount))
  }

  fileprivate var record: [UInt8] {
    let octets = [fingerprint.version] + fingerprint.bytes + imprint
    return [UInt8(octets.count)] + octets
  }
}

extension Signature {
  /// What the signature says about the replacement of the key. Of several statements none counts.
  var keyReplacement: KeyReplacement? {
    let stated = hashedArea.subpackets.filter { $0.type == .keyReplacement }
    guard stated.count == 1, case .keyReplacement(let replacement)? = stated[0].content else { return nil }
    return replacement
  }
}
