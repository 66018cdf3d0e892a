// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 4.3, 10, 10.1 and 10.2: one grammar for certificates and secret keys. Unknown versions are
// kept or passed over. Known packets that belong elsewhere and unknown critical ones are errors.

/// Certificates and secret keys, as they are read.
struct TransferableKeyReader {
  /// A certificate, with those secret keys that came in the same sequence.
  struct Entry {
    fileprivate var assembler: CertificateAssembler
    fileprivate(set) var secrets: [Fingerprint: SecretKey] = [:]
    /// Whether any packet of it was of a secret key, readable or not.
    fileprivate(set) var isSecret: Bool
    /// Secret subkeys that could not be read, each followed by its signatures.
    fileprivate(set) var unreadableSubkeys: [Packet] = []

    var certificate: Certificate { assembler.certificate }
  }

  /// What two sequences share when they are one.
  private struct Identity: Hashable {
    let fingerprint: Fingerprint
    let isSecret: Bool
  }

  private var entries: [Entry] = []
  private var indexes: [Identity: Int] = [:]
  /// The entry that is being read; nil before the first primary key, and after one that is passed over.
  private var current: Int?
  /// Whether the component that came last is a secret subkey that could not be read.
  private var isAfterUnreadableSubkey = false
  /// Why the first primary key that was passed over was.
  private var firstProblem: OpenPGPError?
  private var hasBegun = false
  /// Whether any packet was of a secret key, readable or not.
  private var hasSecret = false
  private var packetCount = 0
  private var byteCount = 0

  /// Everything in the source; the same key twice becomes one.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `certificateStructure` when there is no key.
  static func readAll(_ source: any ByteSource) throws(OpenPGPError) -> [Entry] {
    let reader = try read(source)
    if reader.entries.isEmpty { throw reader.firstProblem ?? .malformed(.certificateStructure) }
    return reader.entries
  }

  /// The same, and nothing when there is any secret key.
  /// - Throws: also ``OpenPGPError/malformed(_:)`` with `secretKeyAsCertificate`.
  static func readAllWithoutSecrets(_ source: any ByteSource) throws(OpenPGPError) -> [Entry] {
    let reader = try read(source)
    guard !reader.hasSecret else { throw .malformed(.secretKeyAsCertificate) }
    return reader.entries
  }

  private static func read(_ source: any ByteSource) throws(OpenPGPError) -> TransferableKeyReader {
    let packets = PacketReader(source)
    var reader = TransferableKeyReader()
    while let (header, body) = try packets.next() {
      guard !header.type.isData else { throw .malformed(.certificateStructure) }
      try reader.count(header)
      try reader.take(try body.readPacket(header.type))
    }
    if reader.entries.isEmpty && !reader.hasSecret {
      throw reader.firstProblem ?? .malformed(.certificateStructure)
    }
    return reader
  }

  private mutating func count(_ header: PacketHeader) throws(OpenPGPError) {
    if header.type == .publicKey || header.type == .secretKey { (packetCount, byteCount) = (0, 0) }
    packetCount += 1
    if case .known(let count) = header.length { byteCount += count }
    guard packetCount <= Limits.certificatePacketCount else { throw .overLimit(.certificatePacketCount) }
    guard byteCount <= Limits.certificateByteCount else { throw .overLimit(.certificateByteCount) }
  }

  private mutating func take(_ packet: Packet) throws(OpenPGPError) {
    switch packet {
    case .secretKey, .secretSubkey, .unknownSecret: hasSecret = true
    default: break
    }
    switch packet {
    case .marker, .unknown(.marker, _, _), .padding, .trust: return
    case .publicKey(let key): begin(key, isSecret: false)
    case .secretKey(let key):
      begin(key.publicKey, isSecret: true)
      keep(key)
    case .unknown(.publicKey, _, let why), .unknownSecret(.secretKey, _, let why):
      current = nil
      hasBegun = true
      firstProblem = firstProblem ?? why
    case .unknown(let type, _, let why) where !Self.mayFollow(type):
      if case .unsupported(.packetType) = why { throw why }
      throw .malformed(.certificateStructure)
    case .pkesk, .skesk, .onePassSignature:
      throw .malformed(.certificateStructure)
    default:
      // Packets that may be ignored may be anywhere (section 10).
      guard hasBegun || !packet.type.isCritical else { throw .malformed(.certificateStructure) }
      if let current { takeComponent(packet, of: current) }
    }
  }

  /// Takes a packet that belongs to the primary key that came last.
  private mutating func takeComponent(_ packet: Packet, of current: Int) {
    switch packet {
    case .userID(let userID): entries[current].assembler.begin(userID)
    case .userAttribute(let attribute): entries[current].assembler.begin(attribute)
    case .publicSubkey(let key): entries[current].assembler.begin(key)
    case .secretSubkey(let key):
      entries[current].assembler.begin(key.publicKey)
      entries[current].isSecret = true
      keep(key)
    case .unknown(.publicSubkey, let body, _):
      entries[current].assembler.begin(OpaquePacket(.publicSubkey, body: body))
    case .unknownSecret:
      entries[current].isSecret = true
      entries[current].unreadableSubkeys.append(packet)
    case .signature, .unknown: return takeSignature(packet, of: current)
    default: return
    }
    isAfterUnreadableSubkey = if case .unknownSecret = packet { true } else { false }
  }

  /// Takes a packet that belongs to the component that came last.
  private mutating func takeSignature(_ packet: Packet, of current: Int) {
    if isAfterUnreadableSubkey { return entries[current].unreadableSubkeys.append(packet) }
    switch packet {
    case .signature(let signature): entries[current].assembler.add(signature)
    case .unknown(let type, let body, _): entries[current].assembler.add(OpaquePacket(type, body: body))
    default: break
    }
  }

  private mutating func begin(_ primaryKey: PublicKey, isSecret: Bool) {
    hasBegun = true
    isAfterUnreadableSubkey = false
    let identity = Identity(fingerprint: primaryKey.fingerprint, isSecret: isSecret)
    if let index = indexes[identity] {
      current = index
      entries[index].assembler.beginPrimaryKey()
    } else {
      current = entries.count
      indexes[identity] = entries.count
      entries.append(Entry(assembler: CertificateAssembler(primaryKey), isSecret: isSecret))
    }
  }

  /// Keeps the most usable copy of a secret key (unprotected, then protected, then stub), the first among
  /// equals. An export of subkeys has a stub as its primary key.
  private mutating func keep(_ key: SecretKey) {
    guard let current else { return }
    let fingerprint = key.publicKey.fingerprint
    if let kept = entries[current].secrets[fingerprint], kept.obstacle <= key.obstacle { return }
    entries[current].secrets[fingerprint] = key
  }

  /// Whether a certificate may nevertheless contain a packet of this type that could not be read.
  private static func mayFollow(_ type: PacketType) -> Bool {
    !type.isCritical || [.signature, .publicSubkey, .secretSubkey].contains(type)
  }
}

extension SecretKey {
  /// What keeps a reader from the secret part: nothing, a password, its absence, or damage.
  fileprivate var obstacle: Int {
    switch protection {
    case .none: isIntact ? 0 : 3
    case .cfb, .cfbChecksum, .aead: 1
    case .unknown: 2
    }
  }

  private var isIntact: Bool {
    do {
      try checkUnprotected()
      return true
    } catch {
      return false
    }
  }
}
