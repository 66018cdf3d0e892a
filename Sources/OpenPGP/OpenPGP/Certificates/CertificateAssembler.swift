// SPDX-License-Identifier: Apache-2.0
//
// Puts a certificate together from its packets, one after the other. A component that comes a second time is
// the same component; a signature that comes a second time on it is left out. Each costs one look into a
// table, so that many thousand stay linear.

/// A certificate that is being put together.
struct CertificateAssembler {
  /// What signatures are added to.
  private enum Target: Hashable {
    case primaryKey
    case userID(Int), userAttribute(Int), subkey(Int), opaqueSubkey(Int)
  }

  private var assembled: Certificate
  private var target = Target.primaryKey
  private var userIDs: [UserID: Int] = [:]
  private var userAttributes: [UserAttribute: Int] = [:]
  private var subkeys: [Fingerprint: Int] = [:]
  private var opaqueSubkeys: [OpaquePacket: Int] = [:]
  /// What each component has.
  private var bodies: [Target: Set<BodyDigest>] = [:]

  init(_ primaryKey: PublicKey) { assembled = Certificate(primaryKey: primaryKey) }

  /// The certificate so far, in canonical order.
  var certificate: Certificate {
    var certificate = assembled
    certificate.signatures = Certificate.canonicalOrder(certificate.signatures)
    for index in certificate.userIDs.indices { certificate.userIDs[index].bringInOrder() }
    for index in certificate.userAttributes.indices { certificate.userAttributes[index].bringInOrder() }
    for index in certificate.subkeys.indices { certificate.subkeys[index].bringInOrder() }
    for index in certificate.opaqueSubkeys.indices { certificate.opaqueSubkeys[index].bringInOrder() }
    return certificate
  }

  mutating func beginPrimaryKey() { target = .primaryKey }

  mutating func begin(_ packet: UserID) {
    target = .userID(Self.index(of: packet, as: packet, in: &userIDs, &assembled.userIDs))
  }

  mutating func begin(_ packet: UserAttribute) {
    let index = Self.index(of: packet, as: packet, in: &userAttributes, &assembled.userAttributes)
    target = .userAttribute(index)
  }

  mutating func begin(_ packet: PublicKey) {
    target = .subkey(Self.index(of: packet, as: packet.fingerprint, in: &subkeys, &assembled.subkeys))
  }

  mutating func begin(_ packet: OpaquePacket) {
    let index = Self.index(of: packet, as: packet, in: &opaqueSubkeys, &assembled.opaqueSubkeys)
    target = .opaqueSubkey(index)
  }

  mutating func add(_ signature: Signature) {
    // These types are over the primary key only (section 5.2.4). One that is misplaced, after another
    // component, still counts.
    let isOfPrimaryKey = signature.type == .keyRevocation || signature.type == .directKey
    let target = isOfPrimaryKey ? .primaryKey : self.target
    guard isNew(.signature, signature.body, after: target) else { return }
    switch target {
    case .primaryKey: assembled.signatures.append(signature)
    case .userID(let index): assembled.userIDs[index].signatures.append(signature)
    case .userAttribute(let index): assembled.userAttributes[index].signatures.append(signature)
    case .subkey(let index): assembled.subkeys[index].signatures.append(signature)
    case .opaqueSubkey(let index): assembled.opaqueSubkeys[index].signatures.append(signature)
    }
  }

  mutating func add(_ packet: OpaquePacket) {
    guard isNew(packet.type, packet.body, after: target) else { return }
    switch target {
    case .primaryKey: assembled.opaquePackets.append(packet)
    case .userID(let index): assembled.userIDs[index].opaquePackets.append(packet)
    case .userAttribute(let index): assembled.userAttributes[index].opaquePackets.append(packet)
    case .subkey(let index): assembled.subkeys[index].opaquePackets.append(packet)
    case .opaqueSubkey(let index): assembled.opaqueSubkeys[index].opaquePackets.append(packet)
    }
  }

  /// All of another copy of the certificate.
  mutating func add(_ other: Certificate) {
    assembled = assembled.knowing(other.knownRevokers)
    beginPrimaryKey()
    add(other.signatures, other.opaquePackets)
    for component in other.userIDs {
      begin(component.packet)
      add(component.signatures, component.opaquePackets)
    }
    for component in other.userAttributes {
      begin(component.packet)
      add(component.signatures, component.opaquePackets)
    }
    for component in other.subkeys {
      begin(component.packet)
      add(component.signatures, component.opaquePackets)
    }
    for component in other.opaqueSubkeys {
      begin(component.packet)
      add(component.signatures, component.opaquePackets)
    }
  }

  private mutating func add(_ signatures: [Signature], _ packets: [OpaquePacket]) {
    for signature in signatures { add(signature) }
    for packet in packets { add(packet) }
  }

  private mutating func isNew(_ type: PacketType, _ body: [UInt8], after target: Target) -> Bool {
    bodies[target, default: []].insert(BodyDigest(type, body)).inserted
  }

  /// Where the component is; it is put at the end when it is new.
  private static func index<Packet, Key: Hashable>(
    of packet: Packet, as key: Key, in table: inout [Key: Int],
    _ components: inout [Certificate.Component<Packet>]
  ) -> Int {
    if let index = table[key] { return index }
    table[key] = components.count
    components.append(Certificate.Component(packet))
    return components.count - 1
  }
}

/// Stands for the octets of a packet: a table of tens of thousands of signatures holds no second copy of them.
private struct BodyDigest: Hashable {
  private let digest: [UInt8]

  init(_ type: PacketType, _ body: [UInt8]) {
    var hash = HashContext(.sha256)
    hash.update([type.rawValue])
    hash.update(body)
    digest = hash.finish()
  }

  /// A digest is as good as random, so that some of it is enough for a table.
  func hash(into hasher: inout Hasher) {
    for octet in digest.prefix(8) { hasher.combine(octet) }
  }
}

extension Certificate.Component {
  fileprivate mutating func bringInOrder() { signatures = Certificate.canonicalOrder(signatures) }
}
