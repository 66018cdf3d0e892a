// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 6.1: the checksum of armor, a CRC of 24 bits. It protects from nothing, and is neither
// looked at when armor is read nor wanted by anything newer than version 4. It is written for what older
// readers are to read: GnuPG 2.2 takes the tail of a block for base64 when neither padding nor a checksum stands
// before it, which is so for every third length, and PGPy 0.6 knows no block without.

internal import Primitives
internal import Texts

/// The checksum of a block, and whether the block has one.
struct ArmorChecksum {
  /// The CRC in the upper 24 bits.
  private var state: UInt32 = 0xB704CE00
  /// The octets of the first header and the version behind it, as far as they have come.
  private var beginning: [UInt8] = []
  /// Nil until it can be told.
  private var isWanted: Bool?

  mutating func update(_ bytes: RawSpan) {
    if isWanted == nil {
      let count = min(bytes.byteCount, Self.beginningByteCount - beginning.count)
      beginning += [UInt8](copying: bytes.extracting(0..<count))
      if beginning.count == Self.beginningByteCount { isWanted = Self.isForOlderReaders(beginning) }
    }
    guard isWanted ?? true else { return }
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe Self.tables.withUnsafeBufferPointer { unsafe add(bytes, $0) }
    }
  }

  /// The line of the checksum; nil when the block has none.
  var line: [UInt8]? {
    guard isWanted ?? Self.isForOlderReaders(beginning) else { return nil }
    let characters = [26, 20, 14, 8].map { Base64.alphabet[Int(state >> UInt32($0) & 63)] }
    return [UInt8(ascii: "=")] + characters + [UInt8(ascii: "\n")]
  }

  /// Whether a block that begins so may be for somebody who knows nothing newer than version 4. Section 6.1
  /// forbids the checksum for keys, signatures and encrypted data of version 6, and version 2 of SEIPD.
  private static func isForOlderReaders(_ beginning: [UInt8]) -> Bool {
    guard let header = try? PacketHeader(MemorySource(beginning)), beginning.count > header.bytes.count else {
      return false
    }
    let version = beginning[header.bytes.count]
    switch header.type {
    case .publicKeyEncryptedSessionKey, .signature, .symmetricKeyEncryptedSessionKey, .onePassSignature,
      .secretKey, .publicKey:
      return version <= 4
    case .integrityProtectedData: return version == 1
    case .padding: return false
    default: return true
    }
  }

  /// Eight octets at a time: each has a table that says what it does to the rest so many octets later.
  private mutating func add(_ bytes: UnsafeRawBufferPointer, _ tables: UnsafeBufferPointer<UInt32>) {
    var crc = state
    var at = 0
    while at + 8 <= bytes.count {
      let eight = unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self).bigEndian
      let first = crc ^ UInt32(truncatingIfNeeded: eight >> 32)
      let second = UInt32(truncatingIfNeeded: eight)
      let early =
        unsafe tables[1792 + Int(first >> 24)] ^ tables[1536 + Int(first >> 16 & 0xFF)]
        ^ tables[1280 + Int(first >> 8 & 0xFF)] ^ tables[1024 + Int(first & 0xFF)]
      let late =
        unsafe tables[768 + Int(second >> 24)] ^ tables[512 + Int(second >> 16 & 0xFF)]
        ^ tables[256 + Int(second >> 8 & 0xFF)] ^ tables[Int(second & 0xFF)]
      crc = early ^ late
      at += 8
    }
    while at < bytes.count {
      crc = unsafe crc << 8 ^ tables[Int(crc >> 24) ^ Int(bytes[at])]
      at += 1
    }
    state = crc
  }

  /// The longest header, and the version.
  private static let beginningByteCount = 7
  /// x^24 + x^23 + x^18 + x^17 + x^14 + x^11 + x^10 + x^7 + x^6 + x^5 + x^4 + x^3 + x + 1, as the standard has it,
  /// in the upper 24 bits.
  private static let polynomial: UInt32 = 0x864C_FB00

  /// Eight tables of 256 entries, one behind the other.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = (0..<256).map { octet in
      (0..<8).reduce(UInt32(octet) << 24) { crc, _ in crc << 1 ^ (crc >> 31 == 1 ? polynomial : 0) }
    }
    for _ in 1..<8 {
      tables += tables.suffix(256).map { $0 << 8 ^ tables[Int($0 >> 24)] }
    }
    return tables
  }()
}
