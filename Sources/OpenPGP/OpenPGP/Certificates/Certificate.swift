// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.1: transferable public keys, by what belongs to what. Nothing here is judged: what a
// certificate is worth at a time is for `ValidCertificate`.

/// A certificate: a primary key, and what its holder and others say about it.
public struct Certificate: Hashable, Sendable {
  /// A user ID, user attribute or subkey with the signatures behind it, of everybody, as they came.
  public struct Component<Packet: Hashable & Sendable>: Hashable, Sendable {
    public let packet: Packet
    public var signatures: [Signature]
    /// Signatures of unknown versions, and other packets behind this one that may be ignored.
    public var opaquePackets: [OpaquePacket]

    public init(_ packet: Packet, signatures: [Signature] = [], opaquePackets: [OpaquePacket] = []) {
      self.packet = packet
      self.signatures = signatures
      self.opaquePackets = opaquePackets
    }
  }

  public let primaryKey: PublicKey
  /// Direct-key signatures and revocations of the key.
  public var signatures: [Signature] = []
  public var opaquePackets: [OpaquePacket] = []
  public var userIDs: [Component<UserID>] = []
  public var userAttributes: [Component<UserAttribute>] = []
  public var subkeys: [Component<PublicKey>] = []
  /// Subkeys of unknown versions.
  public var opaqueSubkeys: [Component<OpaquePacket>] = []

  /// A certificate that says nothing yet.
  public init(primaryKey: PublicKey) { self.primaryKey = primaryKey }

  public var fingerprint: Fingerprint { primaryKey.fingerprint }

  /// The primary key and the subkeys, bound or not.
  public var publicKeys: [PublicKey] { [primaryKey] + subkeys.map(\.packet) }

  /// The primary key or subkey of this fingerprint, bound or not.
  public func publicKey(_ fingerprint: Fingerprint) -> PublicKey? {
    primaryKey.fingerprint == fingerprint
      ? primaryKey : subkeys.first { $0.packet.fingerprint == fingerprint }?.packet
  }
}
