// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 6.1 and 6.2, written strictly: lines of 64 characters that end in LF, and no headers,
// which tell strangers about the writer and which readers ignore.
//
// The checksum is a CRC of 24 bits. It protects from nothing: it is ignored when armor is read, and nothing
// newer than version 4 has one. It is written only where an older reader may need it: GnuPG 2.2 takes the
// tail of a block for base64 if neither padding nor a checksum comes before it, which happens for every third
// length, and PGPy 0.6 cannot read a block without one.

internal import Primitives
internal import Secrets
internal import Texts

/// Encodes what is written to it.
///
/// [RFC 9580, section 6.2](https://www.rfc-editor.org/rfc/rfc9580#section-6.2)
public final class ArmorWriter: ByteSink {
  private let sink: any ByteSink
  private let kind: ArmorKind
  /// Bytes of a line that is not full yet.
  private var line = SecretBytes(zeroed: lineByteCount)
  private var filled = 0
  private var checksum = ArmorChecksum()
  /// Text of many lines, for one write.
  private var text = SecretBytes(zeroed: 0)

  /// Writes the header line.
  public init(_ sink: any ByteSink, kind: ArmorKind) throws(OpenPGPError) {
    self.sink = sink
    self.kind = kind
    try sink.write(Array("\(kind.headerLine)\n\n".utf8))
  }

  /// See ``ByteSink/write(_:)``.
  public func write(_ bytes: RawSpan) throws(OpenPGPError) {
    checksum.update(bytes)
    var offset = 0
    if filled > 0 {
      offset = min(bytes.byteCount, Self.lineByteCount - filled)
      keep(bytes.extracting(0..<offset))
      guard filled == Self.lineByteCount else { return }
      try writeLine()
    }
    while bytes.byteCount - offset >= Self.lineByteCount {
      let count = min((bytes.byteCount - offset) / Self.lineByteCount, Self.linesAtOnce)
      try writeLines(bytes.extracting(offset..<offset + count * Self.lineByteCount), lineCount: count)
      offset += count * Self.lineByteCount
    }
    keep(bytes.extracting(offset..<bytes.byteCount))
  }

  /// Writes the last line, the checksum where there is one, and the tail.
  public func finish() throws(OpenPGPError) {
    if filled > 0 { try writeLine() }
    if let line = checksum.line { try sink.write(line) }
    try sink.write(Array("\(kind.tailLine)\n".utf8))
  }

  private func keep(_ bytes: RawSpan) {
    let start = filled
    line.withMutableBytes { $0.copy(bytes, to: start) }
    filled += bytes.byteCount
  }

  /// Writes the kept bytes as one line, full or the last.
  private func writeLine() throws(OpenPGPError) {
    let count = filled
    filled = 0
    try line.withBytes { (bytes) throws(OpenPGPError) in
      let bytes = bytes.extracting(0..<count)
      try write(textByteCount: Base64.characterCount(byteCount: count) + 1, room: Base64.lineTextByteCount) {
        Base64.encode(bytes, into: &$0, at: 0)
        $0.storeBytes(
          of: UInt8(ascii: "\n"), toByteOffset: Base64.characterCount(byteCount: count), as: UInt8.self)
      }
    }
  }

  private func writeLines(_ bytes: RawSpan, lineCount: Int) throws(OpenPGPError) {
    try write(
      textByteCount: lineCount * Base64.lineTextByteCount, room: Self.linesAtOnce * Base64.lineTextByteCount
    ) {
      Base64.encodeLines(bytes, into: &$0)
    }
  }

  /// - Parameter room: for the text, where there is less until now.
  private func write(
    textByteCount: Int, room: Int, _ encode: (inout MutableRawSpan) -> Void
  ) throws(OpenPGPError) {
    if text.count < textByteCount { text = SecretBytes(zeroed: room) }
    text.withMutableBytes { encode(&$0) }
    try text.withBytes { (text) throws(OpenPGPError) in try sink.write(text.extracting(0..<textByteCount)) }
  }

  private static let lineByteCount = Base64.lineByteCount
  /// 64 KiB of text: fewer system calls do not make it faster.
  private static let linesAtOnce = 1008
}

/// The checksum of a block, and whether the block has one.
struct ArmorChecksum {
  /// The CRC in the upper 24 bits.
  private var state: UInt32 = 0xB704CE00
  /// The octets of the first header and the version after it, as far as they have come.
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

  /// Whether a block that begins like this may be for a reader that knows nothing newer than version 4. Section 6.1
  /// forbids the checksum for keys, signatures and encrypted data of version 6, and version 2 of SEIPD.
  private static func isForOlderReaders(_ beginning: [UInt8]) -> Bool {
    guard let header = try? PacketHeader(MemorySource(beginning)), beginning.count > header.bytes.count else {
      return false
    }
    let version = beginning[header.bytes.count]
    switch header.type {
    case .pkesk, .signature, .skesk, .onePassSignature,
      .secretKey, .publicKey:
      return version <= 4
    case .seipd: return version == 1
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

  /// Eight tables of 256 entries, one after the other.
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
