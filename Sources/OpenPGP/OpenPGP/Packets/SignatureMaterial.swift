// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3: the fields of a signature that its algorithm defines.

/// What the public-key algorithm made.
public enum SignatureMaterial: Hashable, Sendable {
  case rsa(MPI)
  case dsa(r: MPI, s: MPI)
  case ecdsa(r: MPI, s: MPI)
  case eddsaLegacy(r: MPI, s: MPI)
  /// 64 octets.
  case ed25519([UInt8])
  /// 114 octets.
  case ed448([UInt8])
  /// Of an algorithm that this engine does not have.
  case unknown([UInt8])

  init(
    _ cursor: inout PacketCursor, _ body: RawSpan, algorithm: PublicKeyAlgorithm, version: UInt8
  ) throws(OpenPGPError) {
    func number(_ cursor: inout PacketCursor) throws(OpenPGPError) -> MPI {
      try MPI(&cursor, body, countsLeadingZeros: version < 6)
    }
    switch algorithm {
    case .rsa, .rsaSignOnly: self = .rsa(try number(&cursor))
    case .dsa:
      let r = try number(&cursor)
      self = .dsa(r: r, s: try number(&cursor))
    case .ecdsa:
      let r = try number(&cursor)
      self = .ecdsa(r: r, s: try number(&cursor))
    case .eddsaLegacy:
      let r = try number(&cursor)
      self = .eddsaLegacy(r: r, s: try number(&cursor))
    case .ed25519: self = .ed25519(try cursor.readBytes(body, count: 64))
    case .ed448: self = .ed448(try cursor.readBytes(body, count: 114))
    default: self = .unknown(cursor.readRest(body))
    }
  }

  func write(to output: inout [UInt8]) {
    switch self {
    case .rsa(let value): value.write(to: &output)
    case .dsa(let r, let s), .ecdsa(let r, let s), .eddsaLegacy(let r, let s):
      r.write(to: &output)
      s.write(to: &output)
    case .ed25519(let bytes), .ed448(let bytes), .unknown(let bytes): output += bytes
    }
  }
}
