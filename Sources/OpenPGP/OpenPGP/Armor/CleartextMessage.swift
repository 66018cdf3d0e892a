// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 7, reading. The hash and the salt of a signature stand behind the text, so that it cannot
// be hashed as it passes (section 7.3); it is held in memory, up to a limit, and delivered only when a
// signature is good. The text is no secret: whoever carried the message could read it.
//
// Refused is whatever a reader of the raw message could take for signed and that is not: headers but «Hash»
// (CVE-2019-11841), a «Hash» header that is no list of algorithms, text before and behind the message, a
// second block in it.

internal import Primitives

/// A cleartext signed message.
public struct CleartextMessage: Sendable {
  private let text: CleartextText
  /// The signatures as they stand in the block; those of unknown versions are left out.
  public let signatures: [Signature]

  /// - Parameter source: begins with the message.
  public init(_ source: any ByteSource) throws(OpenPGPError) {
    guard let header = try ArmorHeader(source), header.label == .signedMessage, !header.hasTextBefore else {
      throw .malformed(.cleartextSignature)
    }
    try self.init(behindHeaderLine: source)
  }

  init(behindHeaderLine source: any ByteSource) throws(OpenPGPError) {
    try Self.skipHashHeaders(source)
    text = try Self.readText(source)
    let block = try ArmorReader(behindHeaderLineOf: .signature, source)
    signatures = try SignatureList(reading: block).signatures
    // The list ends where packets can no longer be told apart; the block must be whole all the same.
    try block.skipRest()
    while let line = try source.readLine(byteCountLimit: Limits.armorLineByteCount) {
      guard line.withoutTrailingBlanks().isEmpty else { throw .malformed(.cleartextSignature) }
    }
  }

  /// Judges every signature, and writes the text when at least one verifies and `isAcceptable` agrees.
  ///
  /// Line ends are LF, without blanks before them, and the last line has none: what is not signed is not
  /// delivered.
  /// - Parameter isAcceptable: whether the text may be released; asked only when a signature verifies.
  /// - Returns: a verification for each of ``signatures``, in their order.
  public func verify(
    with verifier: SignatureVerifier, writingTo sink: any ByteSink,
    releasingIf isAcceptable: ([SignatureVerification]) -> Bool = { _ in true }
  ) throws(OpenPGPError) -> [SignatureVerification] {
    let texts = signatures.filter { $0.type == .text }
    var judged = try DetachedVerification(verifier).verify(texts) { hashes in
      hashes.update(unsafe text.bytes.span.bytes)
    }[...]
    // A binary signature would be over line ends that nobody can tell.
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

  /// Takes the headers and the empty line behind them.
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

  /// Whether the line is «Hash: » and names of hash algorithms with commas between them (section 6.2.2.3).
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
