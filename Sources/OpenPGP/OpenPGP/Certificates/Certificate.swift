// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 3.6, 4.3 and 10.1: certificates, with the components and signatures that belong to them:
// reading, writing, merging. Nothing here is judged: ValidCertificate says what a certificate is worth at a
// time.
//
// They are written in canonical order (section 10.1): after each component its signatures, revocations first.
// A certificate that was read in that order is written as it was. Merging two copies leaves nothing out: a
// signature in doubt here may count under another policy.

/// A certificate: a primary key, and what its holder and others say about it.
///
/// [RFC 9580, section 10.1](https://www.rfc-editor.org/rfc/rfc9580#section-10.1)
public struct Certificate: Hashable, Sendable {
  /// A user ID, user attribute or subkey with the signatures after it, of anybody, as they came.
  public struct Component<Packet: Hashable & Sendable>: Hashable, Sendable {
    /// The component itself.
    public let packet: Packet
    /// The signatures after it, of anybody, as they came.
    public var signatures: [Signature]
    /// Signatures of unknown versions, and other packets after this one that may be ignored.
    public var opaquePackets: [OpaquePacket]

    /// A component with the packets that follow it.
    public init(_ packet: Packet, signatures: [Signature] = [], opaquePackets: [OpaquePacket] = []) {
      self.packet = packet
      self.signatures = signatures
      self.opaquePackets = opaquePackets
    }
  }

  /// The key that the certificate is about.
  public let primaryKey: PublicKey
  /// Direct-key signatures and revocations of the key.
  public var signatures: [Signature] = []
  /// Packets after the primary key that this engine cannot read and may ignore.
  public var opaquePackets: [OpaquePacket] = []
  /// The user IDs, in the order in which they came.
  public var userIDs: [Component<UserID>] = []
  /// The user attributes, in the order in which they came.
  public var userAttributes: [Component<UserAttribute>] = []
  /// The subkeys, bound or not, in the order in which they came.
  public var subkeys: [Component<PublicKey>] = []
  /// Subkeys of unknown versions.
  public var opaqueSubkeys: [Component<OpaquePacket>] = []
  /// Keys that it names as its revokers, as far as they are known here: see ``knowing(_:)``. They are in other
  /// certificates, so they are not written.
  public private(set) var knownRevokers: [PublicKey] = []

  /// A certificate that says nothing yet.
  public init(primaryKey: PublicKey) { self.primaryKey = primaryKey }

  /// The fingerprint of the primary key.
  public var fingerprint: Fingerprint { primaryKey.fingerprint }

  /// The primary key and the subkeys, bound or not.
  public var publicKeys: [PublicKey] { [primaryKey] + subkeys.map(\.packet) }

  /// The primary key or subkey of this fingerprint, bound or not.
  public func publicKey(_ fingerprint: Fingerprint) -> PublicKey? {
    primaryKey.fingerprint == fingerprint
      ? primaryKey : subkeys.first { $0.packet.fingerprint == fingerprint }?.packet
  }
}

extension Certificate {
  /// The keys that its direct-key signatures allow to revoke it, whether these verify or not.
  ///
  /// [RFC 9580, section 5.2.3.23](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.23)
  public var namedRevokers: Set<Fingerprint> { Set(signatures.flatMap(\.revokers)) }

  /// This certificate with the keys of its revokers that are in `others`: from then on their revocations count, whoever
  /// judges it. Call it where certificates are found, with everybody who is known there.
  public func knowing(_ others: [Certificate]) -> Certificate {
    let unknown = namedRevokers.subtracting(knownRevokers.map(\.fingerprint))
    let found = unknown.compactMap { name in others.lazy.compactMap { $0.publicKey(name) }.first }
    return knowing(found)
  }

  func knowing(_ revokers: [PublicKey]) -> Certificate {
    guard !revokers.isEmpty else { return self }
    var certificate = self
    // In one order, whoever is found first.
    certificate.knownRevokers = Set(knownRevokers + revokers)
      .sorted { $0.fingerprint.bytes.lexicographicallyPrecedes($1.fingerprint.bytes) }
    return certificate
  }
}

extension Signature {
  /// The keys that a direct-key signature allows to revoke the key.
  var revokers: [Fingerprint] {
    type == .directKey ? hashedArea.all { $0.asRevocationKey?.fingerprint } : []
  }
}

/// A packet of a certificate that this engine cannot read, as it came: of an unknown version, or of a type
/// that a reader may ignore.
///
/// [RFC 9580, section 4.3](https://www.rfc-editor.org/rfc/rfc9580#section-4.3)
public struct OpaquePacket: Hashable, Sendable {
  /// The type of the packet.
  public let type: PacketType
  /// Its body, as it came.
  public let body: [UInt8]

  init(_ type: PacketType, body: [UInt8]) {
    self.type = type
    self.body = body
  }
}

extension Certificate {
  /// All certificates in a sequence of packets; the same one twice becomes one. Secret keys between them are
  /// passed over, and so are certificates of versions that this engine does not have, as long as there is
  /// another one.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `secretKeyAsCertificate` when there are secret keys only,
  ///   with `certificateStructure` when the packets are not certificates; ``OpenPGPError/unsupported(_:)``;
  ///   ``OpenPGPError/overLimit(_:)``.
  public static func readAll(_ source: any ByteSource) throws(OpenPGPError) -> [Certificate] {
    let keys = try TransferableKeyReader.readAll(source)
    let certificates = keys.filter { !$0.isSecret }.map(\.certificate)
    guard !certificates.isEmpty else { throw .malformed(.secretKeyAsCertificate) }
    return certificates
  }

  /// The same, and no certificate when there is any secret key among them, readable or not: its owner has given
  /// it away by mistake.
  /// - Throws: as ``readAll(_:)``, with `secretKeyAsCertificate` when there is any secret key.
  public static func readAllWithoutSecrets(_ source: any ByteSource) throws(OpenPGPError) -> [Certificate] {
    try TransferableKeyReader.readAllWithoutSecrets(source).map(\.certificate)
  }
}

extension Certificate {
  /// This certificate with all components and signatures of `other` that it does not have, in their order
  /// after its own. Merging again changes nothing.
  /// - Precondition: both are of the same primary key.
  public func merging(_ other: Certificate) -> Certificate {
    precondition(fingerprint == other.fingerprint, "two different certificates cannot be merged")
    var assembler = CertificateAssembler(primaryKey)
    assembler.add(self)
    assembler.add(other)
    return assembler.certificate
  }

  /// These certificates with all copies of one made one, in the place of the first: one copy may have a
  /// revocation that another lacks.
  public static func merged(_ certificates: [Certificate]) -> [Certificate] {
    var indexes: [Fingerprint: Int] = [:]
    var merged: [Certificate] = []
    var assemblers: [Int: CertificateAssembler] = [:]
    for certificate in certificates {
      guard let index = indexes[certificate.fingerprint] else {
        indexes[certificate.fingerprint] = merged.count
        merged.append(certificate)
        continue
      }
      if assemblers[index] == nil {
        assemblers[index] = CertificateAssembler(certificate.primaryKey)
        assemblers[index]?.add(merged[index])
      }
      assemblers[index]?.add(certificate)
    }
    for (index, assembler) in assemblers { merged[index] = assembler.certificate }
    return merged
  }
}

extension Certificate {
  /// Writes the packets in canonical order.
  public func write(to sink: any ByteSink) throws(OpenPGPError) { try write(to: sink, secrets: [:]) }

  /// The same with the secret part of those keys that `secrets` has by fingerprint (section 10.2).
  func write(to sink: any ByteSink, secrets: [Fingerprint: SecretKey]) throws(OpenPGPError) {
    if let secret = secrets[primaryKey.fingerprint] {
      try Packet.secretKey(secret).write(to: sink)
    } else {
      try Packet.publicKey(primaryKey).write(to: sink)
    }
    try Self.write(signatures, opaquePackets, to: sink)
    for component in userIDs {
      try Packet.userID(component.packet).write(to: sink)
      try Self.write(component.signatures, component.opaquePackets, to: sink)
    }
    for component in userAttributes {
      try Packet.userAttribute(component.packet).write(to: sink)
      try Self.write(component.signatures, component.opaquePackets, to: sink)
    }
    for component in subkeys {
      if let secret = secrets[component.packet.fingerprint] {
        try Packet.secretSubkey(secret).write(to: sink)
      } else {
        try Packet.publicSubkey(component.packet).write(to: sink)
      }
      try Self.write(component.signatures, component.opaquePackets, to: sink)
    }
    for component in opaqueSubkeys {
      try component.packet.write(to: sink)
      try Self.write(component.signatures, component.opaquePackets, to: sink)
    }
  }

  private static func write(
    _ signatures: [Signature], _ opaquePackets: [OpaquePacket], to sink: any ByteSink
  ) throws(OpenPGPError) {
    for signature in canonicalOrder(signatures) { try Packet.signature(signature).write(to: sink) }
    for packet in opaquePackets { try packet.write(to: sink) }
  }

  /// Revocations before the rest, each in the order in which they were.
  static func canonicalOrder(_ signatures: [Signature]) -> [Signature] {
    guard signatures.contains(where: \.type.isRevocation) else { return signatures }
    return signatures.filter(\.type.isRevocation) + signatures.filter { !$0.type.isRevocation }
  }
}

extension OpaquePacket {
  func write(to sink: any ByteSink) throws(OpenPGPError) {
    try sink.write(PacketHeader(type: type, byteCount: body.count).bytes)
    try sink.write(body)
  }
}

extension SignatureType {
  /// Whether it takes back a key, a binding or a certification.
  var isRevocation: Bool { [.keyRevocation, .subkeyRevocation, .certificationRevocation].contains(self) }
}
