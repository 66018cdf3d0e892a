// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 7: cleartext signed messages. The hash and the salt of a signature come after the text,
// so the text cannot be hashed as it passes (section 7.3). It is held in memory, up to a limit, and delivered
// only when a signature is good. It is not a secret: anybody who carried the message could read it.
//
// Refused is everything that a reader of the raw message could take for signed text and that is not: headers
// other than 'Hash' (CVE-2019-11841), a 'Hash' header that is not a list of algorithms, text before or after
// the message, and a second block in it.
//
// Blanks at the ends of lines, the kind of line end and the last line end are not signed (section 7.1), so
// they are not delivered: a line ends in LF, without blanks, and the last one has no end. The writer leaves
// them out too, and keeps the same limit: it writes nothing that could not be read again.

internal import Primitives
internal import Secrets

/// A cleartext signed message.
///
/// [RFC 9580, section 7](https://www.rfc-editor.org/rfc/rfc9580#section-7)
public struct CleartextMessage: Sendable {
  private let text: CleartextText
  /// The signatures in the block, in their order, without those that cannot be read.
  public let signatures: [Signature]
  /// Signatures in the block that are damaged, or of unknown versions.
  public let unreadableSignatureCount: Int

  /// - Parameter source: begins with the message.
  public init(_ source: any ByteSource) throws(OpenPGPError) {
    guard let header = try ArmorHeader(source), header.label == .signedMessage, !header.hasTextBefore else {
      throw .malformed(.cleartextSignature)
    }
    try self.init(afterHeaderLine: source)
  }

  init(afterHeaderLine source: any ByteSource) throws(OpenPGPError) {
    try Self.skipHashHeaders(source)
    text = try Self.readText(source)
    let block = try ArmorReader(afterHeaderLineOf: .signature, source)
    let list = try SignatureList(reading: block)
    signatures = list.signatures
    // A block without any is a damaged one.
    unreadableSignatureCount = list.signatures.isEmpty ? max(1, list.unreadableCount) : list.unreadableCount
    // The list ends where packets can no longer be told apart; the block must be whole nevertheless.
    try block.skipRest()
    while let line = try source.readLine(byteCountLimit: Limits.armorLineByteCount) {
      guard line.withoutTrailingBlanks().isEmpty else { throw .malformed(.cleartextSignature) }
    }
  }

  /// Verifies every signature, and writes the text when at least one verifies and `isAcceptable` agrees.
  ///
  /// Line ends are LF, without blanks before them, and the last line has none: text that is not signed is not
  /// delivered.
  /// - Parameter isAcceptable: whether the text may be released; asked only when a signature verifies.
  /// - Returns: a verification for each of ``signatures``, in their order.
  public func verify(
    with verifier: SignatureVerifier, writingTo sink: any ByteSink,
    releasingIf isAcceptable: ([SignatureVerification]) -> Bool = { _ in true }
  ) throws(OpenPGPError) -> [SignatureVerification] {
    let texts = signatures.filter { $0.type == .text }
    var judged = try DetachedVerification(verifier).verify(texts) { hashes in
      hashes.update(text.bytes.rawSpan)
    }[...]
    // A binary signature would be over line ends that are not known.
    let verifications = signatures.map { signature in
      signature.type == .text
        ? judged.removeFirst() : SignatureVerification(.refused(.signatureType(signature.type)), signature)
    }
    if verifications.contains(where: { $0.verified != nil }), isAcceptable(verifications) {
      try sink.write(text.bytes)
    }
    return verifications
  }

  /// Writes the text without having looked at any signature, for those who take a message apart.
  public func writeUnverifiedText(to sink: any ByteSink) throws(OpenPGPError) {
    try sink.write(text.bytes)
  }

  /// Takes the headers and the empty line after them.
  private static func skipHashHeaders(_ source: any ByteSource) throws(OpenPGPError) {
    for _ in 0...Limits.armorHeaderCount {
      guard let line = try source.readLine(byteCountLimit: Limits.armorLineByteCount) else {
        throw .malformed(.cleartextSignature)
      }
      let header = line.withoutTrailingBlanks()
      if header.isEmpty { return }
      guard isHashHeader(header) else { throw .malformed(.cleartextSignature) }
    }
    throw .overLimit(.armorLine)
  }

  /// Whether the line is 'Hash: ' and names of hash algorithms with commas between them (section 6.2.2.3).
  private static func isHashHeader(_ line: [UInt8]) -> Bool {
    let key = Array("Hash:".utf8)
    guard line.starts(with: key) else { return false }
    return line.dropFirst(key.count).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      .allSatisfy { piece in
        let name = String(decoding: piece.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        return hashNames.contains(name.uppercased())
      }
  }

  /// Takes the text and the header line of the signatures' block.
  private static func readText(_ source: any ByteSource) throws(OpenPGPError) -> CleartextText {
    var text = CleartextText()
    while let line = try source.readLine(
      byteCountLimit: Limits.cleartextByteCount, excess: .overLimit(.cleartext))
    {
      if ArmorHeader.isBoundary(line) {
        guard line.withoutTrailingBlanks().elementsEqual(ArmorKind.signature.headerLine.utf8) else {
          throw .malformed(.cleartextSignature)
        }
        return text
      }
      try text.append(line: CleartextText.unescaped(line))
    }
    throw .malformed(.cleartextSignature)
  }

  private static let hashNames: Set<String> = Set(
    (UInt8.min...UInt8.max).compactMap { HashAlgorithm(rawValue: $0).textName })
}

/// Signs texts in the cleartext framework.
public struct CleartextSigner {
  private let signers: [any Signer]
  private let time: Timestamp
  /// Replaced by a longer one where a signer's algorithm demands it.
  public var hash: HashAlgorithm = .documentDefault

  /// A signer for texts.
  /// - Parameters:
  ///   - signers: the keys that sign, in the order of their signatures.
  ///   - time: the creation time of the signatures.
  public init(_ signers: [any Signer], time: Timestamp) {
    self.signers = signers
    self.time = time
  }

  /// Writes `document`, readable, followed by signatures of all keys.
  ///
  /// - Parameter document: of any kind of line end, which is lost, as are blanks at the ends of lines.
  public func sign(_ document: RawSpan, writingTo sink: any ByteSink) throws(OpenPGPError) {
    let text = try CleartextText(document: document)
    let signer = try DocumentSigner(signers, type: .text, hash: hash, time: time)
    signer.update(text.bytes.rawSpan)
    let signatures = try signer.finish()
    var head = "\(ArmorHeader.signedMessageLine)\n"
    // GnuPG needs to know the algorithm beforehand; no reader of version 6 does (section 6.2.2.3).
    var named: [HashAlgorithm] = []
    for signature in signatures.reversed() where signature.version == 4 && !named.contains(signature.hash) {
      named.append(signature.hash)
    }
    for name in named.compactMap(\.textName) { head += "Hash: \(name)\n" }
    try sink.write(Array((head + "\n").utf8))
    try text.writeDashEscaped(to: sink)
    let armor = try ArmorWriter(sink, kind: .signature)
    for signature in signatures { try Packet.signature(signature).write(to: armor) }
    try armor.finish()
  }
}

/// Lines of text, up to ``Limits/cleartextByteCount``.
struct CleartextText: Sendable {
  /// The lines with LF between them.
  private(set) var bytes: [UInt8] = []
  private var lineCount = 0

  init() {}

  /// The text of a document; CR LF ends a line as LF does.
  init(document: RawSpan) throws(OpenPGPError) {
    var rest = document
    while !rest.isEmpty {
      let end = rest.firstOffset(of: UInt8(ascii: "\n")) ?? rest.byteCount
      var line = [UInt8](copying: rest.extracting(0..<end))
      // A carriage return that stays at the end of a line would be read as half of CR LF.
      while let last = line.last,
        last == UInt8(ascii: "\r") || last == UInt8(ascii: " ") || last == UInt8(ascii: "\t")
      {
        line.removeLast()
      }
      try append(line: line)
      rest = rest.extracting(min(end + 1, rest.byteCount)..<rest.byteCount)
    }
  }

  /// - Parameter line: without its end.
  mutating func append(line: [UInt8]) throws(OpenPGPError) {
    guard bytes.count + line.count < Limits.cleartextByteCount else { throw .overLimit(.cleartext) }
    if lineCount > 0 { bytes.append(UInt8(ascii: "\n")) }
    bytes += line.withoutTrailingBlanks()
    lineCount += 1
  }

  /// Writes the lines with dashes escaped, each with its end.
  func writeDashEscaped(to sink: any ByteSink) throws(OpenPGPError) {
    guard lineCount > 0 else { return }
    var rest = bytes.rawSpan
    while true {
      let end = rest.firstOffset(of: UInt8(ascii: "\n"))
      let line = rest.extracting(0..<(end ?? rest.byteCount))
      if Self.needsEscape(line) { try sink.write(Self.escape) }
      try sink.write(line)
      try sink.write([UInt8(ascii: "\n")])
      guard let end else { return }
      rest = rest.extracting(end + 1..<rest.byteCount)
    }
  }

  /// Besides lines that begin with a dash, those that programs which keep mail in one file would change.
  private static func needsEscape(_ line: RawSpan) -> Bool {
    let beginning = [UInt8](copying: line.extracting(0..<min(line.byteCount, 5)))
    return beginning.first == UInt8(ascii: "-") || beginning.elementsEqual("From ".utf8)
  }

  /// A line without its escape.
  static func unescaped(_ line: [UInt8]) -> [UInt8] {
    line.starts(with: escape) ? Array(line.dropFirst(escape.count)) : line
  }

  private static let escape = Array("- ".utf8)
}
