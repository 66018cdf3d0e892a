// SPDX-License-Identifier: Apache-2.0
//
// Placeholders of the skeleton; each becomes a file of its own.

/// The kinds of armored blocks (RFC 9580, section 6.2).
public enum ArmorKind: String, Sendable {
  case message = "MESSAGE"
  case publicKey = "PUBLIC KEY BLOCK"
  case privateKey = "PRIVATE KEY BLOCK"
  case signature = "SIGNATURE"
}

/// Decodes one armored block as it is read.
public final class ArmorReader: ByteSource {
  /// - Parameter source: begins with armor, after any text before it.
  public init(_ source: any ByteSource) throws(OpenPGPError) { preconditionFailure("not built yet") }

  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    preconditionFailure("not built yet")
  }

  public func consume(_ count: Int) { preconditionFailure("not built yet") }

  /// Whether `source` begins with binary OpenPGP data: the highest bit of a first octet is set.
  public static func isArmored(_ source: any ByteSource) throws(OpenPGPError) -> Bool {
    preconditionFailure("not built yet")
  }
}

/// Encodes what is written to it; `finish()` writes the last line.
public final class ArmorWriter: ByteSink {
  public init(_ sink: any ByteSink, kind: ArmorKind) throws(OpenPGPError) {
    preconditionFailure("not built yet")
  }

  public func write(_ bytes: RawSpan) throws(OpenPGPError) { preconditionFailure("not built yet") }

  public func finish() throws(OpenPGPError) { preconditionFailure("not built yet") }
}
