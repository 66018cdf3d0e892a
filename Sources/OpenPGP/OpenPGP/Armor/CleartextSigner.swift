// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 7, writing. What could not be read again is not written, so the same limit holds. Blanks
// at the ends of lines are left out, since they would not be signed.

internal import Primitives

/// Signs texts in the cleartext framework.
public struct CleartextSigner {
  private let signers: [any Signer]
  private let time: Timestamp
  /// Replaced by a longer one where a signer's algorithm demands it.
  public var hash: HashAlgorithm = .documentDefault

  public init(_ signers: [any Signer], time: Timestamp) {
    self.signers = signers
    self.time = time
  }

  /// Writes `document`, readable, and signatures of all keys behind it.
  ///
  /// - Parameter document: of any kind of line end, which is lost, as are blanks at the ends of lines.
  public func sign(_ document: RawSpan, writingTo sink: any ByteSink) throws(OpenPGPError) {
    let text = try CleartextText(document: document)
    let signer = try DocumentSigner(signers, type: .text, hash: hash, time: time)
    signer.update(unsafe text.bytes.span.bytes)
    let signatures = try signer.finish()
    var head = "\(ArmorHeader.signedMessageLine)\n"
    // GnuPG wants to know the algorithm beforehand; version 6 has no such readers (section 6.2.2.3).
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
