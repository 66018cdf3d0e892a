// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 10.1.1 and 10.1.3: the canonical order. Every component is followed by its signatures,
// revocations first; what came in that order goes out as it came.

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
