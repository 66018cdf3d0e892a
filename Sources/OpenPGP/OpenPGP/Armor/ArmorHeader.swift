// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 6.2.1 and 6.2.2: the line that begins a block, with any text before it, and the headers
// up to the empty line.

/// The header line of an armored block or of a cleartext signed message.
struct ArmorHeader {
  enum Label: Equatable {
    case block(ArmorKind)
    /// The text of the cleartext framework follows, not base64.
    case signedMessage
  }

  let label: Label
  /// Whether anything but white space stood before it.
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

  /// Takes the headers of a block, up to and with the empty line; whatever they say counts for nothing.
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
  /// Some editors put this before a text in UTF-8.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private static let blanks = Array(" \t\r".utf8)
  private static let beginning = Array("-----BEGIN PGP ".utf8)
}
