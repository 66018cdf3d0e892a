// SPDX-License-Identifier: Apache-2.0
//
// What somebody hands in may be packets, armor around them, or a cleartext signed message; which of these is
// seen from its first octet and its first header line.

/// Something of OpenPGP in one of its three forms.
public enum OpenPGPInput {
  /// Packets as they are.
  case binary(any ByteSource)
  case armored(ArmorReader)
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
    case .block(let kind): self = .armored(try ArmorReader(behindHeaderLineOf: kind, source, scope))
    case .signedMessage:
      // Text above the block would look as if it had been signed.
      guard !header.hasTextBefore else { throw .malformed(.cleartextSignature) }
      self = .cleartext(try CleartextMessage(behindHeaderLine: source))
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
