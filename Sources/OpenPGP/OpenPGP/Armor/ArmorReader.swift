// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 6.2, read tolerantly where nothing depends on it: text before the block, headers, CR LF,
// blanks, no checksum or a wrong one (section 6.1 says that none may be a reason to refuse). Strictly where
// something could hide: other characters, padding that does not fit, a tail that is missing or of another
// kind.

internal import Primitives
internal import Secrets
internal import Texts

/// Decodes armored blocks as they are read.
///
/// [RFC 9580, section 6.2](https://www.rfc-editor.org/rfc/rfc9580#section-6.2)
public final class ArmorReader: ByteSource {
  /// How many blocks of the source count.
  public enum Scope: Sendable {
    /// The first; anything after it is not read.
    case firstBlock
    /// All, as if their packets were one sequence: files of several certificates.
    case allBlocks
  }

  /// Of the block that is being read.
  public private(set) var kind: ArmorKind

  private let source: any ByteSource
  private let scope: Scope
  private var decoder = Base64Decoder()
  private var decoded = SecretBytes(zeroed: bufferByteCount)
  private var ready = 0..<0
  private var isAtEnd = false

  /// - Parameter source: begins with armor, or with text before it.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `armor` when there is no block.
  public convenience init(_ source: any ByteSource, _ scope: Scope = .firstBlock) throws(OpenPGPError) {
    guard let header = try ArmorHeader(source), case .block(let kind) = header.label else {
      throw .malformed(.armor)
    }
    try self.init(afterHeaderLineOf: kind, source, scope)
  }

  init(
    afterHeaderLineOf kind: ArmorKind, _ source: any ByteSource, _ scope: Scope = .firstBlock
  ) throws(OpenPGPError) {
    self.kind = kind
    self.source = source
    self.scope = scope
    try ArmorHeader.skipHeaders(source)
  }

  /// Whether `source` begins with text and not with a packet, whose first octet has its highest bit set. Nothing
  /// is consumed.
  public static func isArmored(_ source: any ByteSource) throws(OpenPGPError) -> Bool {
    try source.withNext { (next) throws(OpenPGPError) in
      guard !next.isEmpty else { return false }
      let mark = ArmorHeader.byteOrderMark
      if next.byteCount >= mark.count, [UInt8](copying: next.extracting(0..<mark.count)) == mark {
        return true
      }
      return unsafe next.unsafeLoad(as: UInt8.self) & 0x80 == 0
    }
  }

  /// See ``ByteSource/withNext(_:)``.
  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    while ready.isEmpty && !isAtEnd { try fill() }
    let range = ready
    return try decoded.withBytes { (all) throws(OpenPGPError) -> R in try body(all.extracting(range)) }
  }

  /// See ``ByteSource/consume(_:)``.
  public func consume(_ count: Int) {
    precondition(count <= ready.count, "more was consumed than lent")
    ready = ready.lowerBound + count..<ready.upperBound
  }

  /// Decodes the lent bytes of the source, as far as there is room.
  private func fill() throws(OpenPGPError) {
    let step = try source.withNext { (next) throws(OpenPGPError) -> Base64Decoder.Step in
      guard !next.isEmpty else { throw .malformed(.armor) }
      return decoded.withMutableBytes { decoder.decode(next, into: &$0) }
    }
    source.consume(step.consumed)
    ready = 0..<step.produced
    switch step.stop {
    case .inputEnd, .outputFull: break
    case .equals where decoder.pendingCount > 0:
      try readPadding()
      try endBlock(isAfterPadding: true)
    // At the beginning of a line it is the checksum.
    case .equals where decoder.isAtLineStart: try endBlock()
    case .hyphen: try endBlock()
    case .equals, .foreign: throw .malformed(.armor)
    }
  }

  /// Takes the equals signs and puts the bytes before them after the decoded ones.
  private func readPadding() throws(OpenPGPError) {
    for _ in decoder.pendingCount..<4 {
      guard try nextVisibleByte() == UInt8(ascii: "=") else { throw .malformed(.armor) }
    }
    guard let rest = decoder.takeRest() else { throw .malformed(.armor) }
    decoded.withMutableBytes { $0.copy(rest.rawSpan, to: ready.upperBound) }
    ready = ready.lowerBound..<ready.upperBound + rest.count
  }

  /// Whatever the length of lines is, one may end between two equals signs.
  private func nextVisibleByte() throws(OpenPGPError) -> UInt8? {
    while let byte = try source.readByteIfAny() {
      guard [" ", "\t", "\r", "\n"].contains(Unicode.Scalar(byte)) else { return byte }
    }
    return nil
  }

  /// Takes a checksum, whatever it is, and the tail.
  /// - Parameter isAfterPadding: whether the rest of a line with padding comes first; it is not a checksum.
  private func endBlock(isAfterPadding: Bool = false) throws(OpenPGPError) {
    guard decoder.pendingCount == 0 else { throw .malformed(.armor) }
    var isLineStart = !isAfterPadding
    var hasChecksum = false
    while true {
      defer { isLineStart = true }
      guard let whole = try source.readLine(byteCountLimit: Limits.armorLineByteCount) else {
        throw .malformed(.armor)
      }
      let line = whole.withoutTrailingBlanks()
      if line.isEmpty { continue }
      if line.first == UInt8(ascii: "="), isLineStart, !hasChecksum {
        hasChecksum = true
        continue
      }
      guard line.elementsEqual(kind.tailLine.utf8) else { throw .malformed(.armor) }
      break
    }
    guard scope == .allBlocks, let header = try ArmorHeader(source) else {
      isAtEnd = true
      return
    }
    guard case .block(let kind) = header.label else { throw .malformed(.armor) }
    self.kind = kind
    decoder = Base64Decoder()
    try ArmorHeader.skipHeaders(source)
  }

  /// Room for one round of decoding: 64 KiB, and the octets that the decoder writes beyond them.
  private static let bufferByteCount = 64 << 10 + 16
}
