// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 6.2.1 and 6.2.2: the kinds of armored blocks, the line that begins one, its headers, and
// how armor, cleartext messages and bare packets are told apart. The label of a block is a hint for people:
// packets are judged by what they are.

internal import Primitives

/// The kinds of armored blocks.
///
/// [RFC 9580, section 6.2.1](https://www.rfc-editor.org/rfc/rfc9580#section-6.2.1)
public enum ArmorKind: String, Sendable, CaseIterable {
  /// A message, encrypted or not.
  case message = "MESSAGE"
  /// Certificates.
  case publicKey = "PUBLIC KEY BLOCK"
  /// Secret keys.
  case privateKey = "PRIVATE KEY BLOCK"
  /// Detached signatures.
  case signature = "SIGNATURE"
  /// What GnuPG's `--enarmor` and Sequoia put around packets of any kind. Not of the standard: it is read, and
  /// nothing writes it.
  case file = "ARMORED FILE"

  /// The label of a block that begins with this packet; nil for a packet that begins nothing.
  public init?(firstPacket type: PacketType) {
    switch type {
    case .publicKey: self = .publicKey
    case .secretKey: self = .privateKey
    case .signature: self = .signature
    case .pkesk, .skesk, .onePassSignature,
      .symmetricallyEncryptedData, .seipd, .ocbEncryptedData, .compressedData, .literalData,
      .marker, .padding:
      self = .message
    default: return nil
    }
  }

  var headerLine: String { "-----BEGIN PGP \(rawValue)-----" }
  var tailLine: String { "-----END PGP \(rawValue)-----" }
}

/// Something of OpenPGP in one of its three forms.
public enum OpenPGPInput {
  /// Packets as they are.
  case binary(any ByteSource)
  /// Armor around packets.
  case armored(ArmorReader)
  /// A cleartext signed message.
  case cleartext(CleartextMessage)

  /// Looks at the beginning of `source`.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `armor` when it is neither packets nor an armored block.
  public init(_ source: any ByteSource, _ scope: ArmorReader.Scope = .firstBlock) throws(OpenPGPError) {
    guard try ArmorReader.isArmored(source) else {
      self = .binary(source)
      return
    }
    guard let header = try ArmorHeader(source) else { throw .malformed(.armor) }
    switch header.label {
    case .block(let kind): self = .armored(try ArmorReader(afterHeaderLineOf: kind, source, scope))
    case .signedMessage:
      // Text above the block would look as if it had been signed.
      guard !header.hasTextBefore else { throw .malformed(.cleartextSignature) }
      self = .cleartext(try CleartextMessage(afterHeaderLine: source))
    }
  }

  /// The packets of `source`, armored or not.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `armor` for a cleartext signed message as well.
  public static func packets(
    _ source: any ByteSource, _ scope: ArmorReader.Scope = .firstBlock
  ) throws(OpenPGPError) -> any ByteSource {
    try ArmorReader.isArmored(source) ? try ArmorReader(source, scope) : source
  }
}

/// The header line of an armored block or of a cleartext signed message.
struct ArmorHeader {
  enum Label: Equatable {
    case block(ArmorKind)
    /// The text of the cleartext framework follows, not base64.
    case signedMessage
  }

  let label: Label
  /// Whether anything but white space came before it.
  let hasTextBefore: Bool

  /// The next header line of `source`; nil when there is none.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `armor` for a block of another kind;
  ///   ``OpenPGPError/overLimit(_:)`` when there is no end of other text.
  init?(_ source: any ByteSource) throws(OpenPGPError) {
    var hasText = false
    var passed = 0
    while let whole = try source.readLine(byteCountLimit: Limits.armorPreambleByteCount) {
      passed += whole.count + 1
      guard passed <= Limits.armorPreambleByteCount else { throw .overLimit(.armorLine) }
      let line = whole.starts(with: Self.byteOrderMark) ? Array(whole.dropFirst(3)) : whole
      if let label = try Self.label(of: line) {
        self.label = label
        hasTextBefore = hasText
        return
      }
      if !line.withoutTrailingBlanks().isEmpty { hasText = true }
    }
    return nil
  }

  /// Takes the headers of a block, up to and with the empty line; what they say is ignored.
  static func skipHeaders(_ source: any ByteSource) throws(OpenPGPError) {
    for _ in 0...Limits.armorHeaderCount {
      guard let line = try source.readLine(byteCountLimit: Limits.armorLineByteCount) else {
        throw .malformed(.armor)
      }
      // Section 6.2: of zero length, or of white space alone.
      if line.allSatisfy(blanks.contains) { return }
      guard line.contains(UInt8(ascii: ":")) else { throw .malformed(.armor) }
    }
    throw .overLimit(.armorLine)
  }

  /// Whether a line begins like a header or tail line of any kind.
  static func isBoundary(_ line: [UInt8]) -> Bool {
    line.starts(with: beginning) || line.starts(with: "-----END PGP ".utf8)
  }

  private static func label(of line: [UInt8]) throws(OpenPGPError) -> Label? {
    guard line.starts(with: beginning) else { return nil }
    let line = line.withoutTrailingBlanks()
    if line.elementsEqual(signedMessageLine.utf8) { return .signedMessage }
    for kind in ArmorKind.allCases where line.elementsEqual(kind.headerLine.utf8) { return .block(kind) }
    throw .malformed(.armor)
  }

  static let signedMessageLine = "-----BEGIN PGP SIGNED MESSAGE-----"
  /// Some editors put this at the beginning of a text in UTF-8.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private static let blanks = Array(" \t\r".utf8)
  private static let beginning = Array("-----BEGIN PGP ".utf8)
}

extension ByteSource {
  /// The next line without its end, which is LF or CR LF or the end of the source; nil at the end.
  /// - Throws: what `excess` is when the line is longer than `byteCountLimit`.
  func readLine(
    byteCountLimit: Int, excess: @autoclosure () -> OpenPGPError = .overLimit(.armorLine)
  ) throws(OpenPGPError) -> [UInt8]? {
    var line: [UInt8] = []
    var hasEnd = false
    var isAtEnd = false
    while !hasEnd && !isAtEnd {
      let count = try withNext { (next) throws(OpenPGPError) -> Int in
        if next.isEmpty { isAtEnd = true }
        let end = next.firstOffset(of: UInt8(ascii: "\n"))
        hasEnd = end != nil
        line.append(next.extracting(0..<(end ?? next.byteCount)))
        return end.map { $0 + 1 } ?? next.byteCount
      }
      consume(count)
      guard line.count <= byteCountLimit else { throw excess() }
    }
    if isAtEnd && line.isEmpty { return nil }
    if hasEnd && line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line
  }
}

extension [UInt8] {
  /// Without the spaces and tabs at the end.
  func withoutTrailingBlanks() -> [UInt8] {
    var end = count
    while end > 0, self[end - 1] == UInt8(ascii: " ") || self[end - 1] == UInt8(ascii: "\t") { end -= 1 }
    return end == count ? self : Array(prefix(end))
  }
}

extension RawSpan {
  /// Where `byte` is first.
  func firstOffset(of byte: UInt8) -> Int? {
    unsafe withUnsafeBytes { unsafe $0.firstIndex(of: byte) }
  }
}
