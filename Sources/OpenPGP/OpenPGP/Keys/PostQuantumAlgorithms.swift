// SPDX-License-Identifier: Apache-2.0
//
// The algorithms of RFC 9980 and what their fields consist of. Each number says everything: no curve, no parameter,
// no multiprecision integer; all fields are octets of fixed length, the elliptic half first.

internal import LibCrypto
internal import PostQuantum

/// Signatures of two halves, both of which must verify: EdDSA and ML-DSA.
///
/// [RFC 9980, section 5](https://www.rfc-editor.org/rfc/rfc9980#section-5)
public enum CompositeSignatureAlgorithm: Hashable, Sendable {
  /// ML-DSA-65 and Ed25519.
  case mldsa65Ed25519
  /// ML-DSA-87 and Ed448.
  case mldsa87Ed448

  init?(_ algorithm: PublicKeyAlgorithm) {
    switch algorithm {
    case .mldsa65Ed25519: self = .mldsa65Ed25519
    case .mldsa87Ed448: self = .mldsa87Ed448
    default: return nil
    }
  }

  var algorithm: PublicKeyAlgorithm { self == .mldsa65Ed25519 ? .mldsa65Ed25519 : .mldsa87Ed448 }
  var lattice: MLDSA { self == .mldsa65Ed25519 ? .mldsa65 : .mldsa87 }
  var curve: EVPKey.Kind { self == .mldsa65Ed25519 ? .ed25519 : .ed448 }
  /// Octets of a public key of EdDSA, and of a secret one.
  var curveKeyByteCount: Int { self == .mldsa65Ed25519 ? 32 : 57 }
  var curveSignatureByteCount: Int { 2 * curveKeyByteCount }
}

/// Signatures that rest on a hash alone: SLH-DSA with SHAKE.
///
/// [RFC 9980, section 6](https://www.rfc-editor.org/rfc/rfc9980#section-6)
public enum HashBasedSignatureAlgorithm: Hashable, Sendable {
  /// SLH-DSA-SHAKE-128s: slow to sign, small.
  case slhdsa128s
  /// SLH-DSA-SHAKE-128f: fast to sign, large.
  case slhdsa128f
  /// SLH-DSA-SHAKE-256s: slow to sign, of the highest strength.
  case slhdsa256s

  init?(_ algorithm: PublicKeyAlgorithm) {
    switch algorithm {
    case .slhdsa128s: self = .slhdsa128s
    case .slhdsa128f: self = .slhdsa128f
    case .slhdsa256s: self = .slhdsa256s
    default: return nil
    }
  }

  var algorithm: PublicKeyAlgorithm {
    switch self {
    case .slhdsa128s: .slhdsa128s
    case .slhdsa128f: .slhdsa128f
    case .slhdsa256s: .slhdsa256s
    }
  }

  var parameters: SLHDSA {
    switch self {
    case .slhdsa128s: .shake128s
    case .slhdsa128f: .shake128f
    case .slhdsa256s: .shake256s
    }
  }
}

/// Encryption whose key comes of two halves: ECDH and ML-KEM.
///
/// [RFC 9980, section 4](https://www.rfc-editor.org/rfc/rfc9980#section-4)
public enum CompositeKEMAlgorithm: Hashable, Sendable {
  /// ML-KEM-768 and X25519; the only one that keys of version 4 may have, as a subkey.
  case mlkem768X25519
  /// ML-KEM-1024 and X448.
  case mlkem1024X448

  init?(_ algorithm: PublicKeyAlgorithm) {
    switch algorithm {
    case .mlkem768X25519: self = .mlkem768X25519
    case .mlkem1024X448: self = .mlkem1024X448
    default: return nil
    }
  }

  var algorithm: PublicKeyAlgorithm { self == .mlkem768X25519 ? .mlkem768X25519 : .mlkem1024X448 }
  var lattice: MLKEM { self == .mlkem768X25519 ? .mlkem768 : .mlkem1024 }
  var curve: EVPKey.Kind { self == .mlkem768X25519 ? .x25519 : .x448 }
  /// Octets of a public key of ECDH, and of a secret one.
  var curveKeyByteCount: Int { self == .mlkem768X25519 ? 32 : 56 }
}

extension PublicKeyAlgorithm {
  /// Whether it is one of RFC 9980, which stand up to quantum computers.
  public var isPostQuantum: Bool { (30...36).contains(rawValue) }

  /// Whether keys of this version may have the algorithm (RFC 9980, sections 4.3.2, 5.3.2 and 6.2.2).
  func isAllowed(keyVersion: UInt8) -> Bool {
    !isPostQuantum || keyVersion >= 6 || self == .mlkem768X25519
  }
}

extension PublicKeyMaterial {
  /// Whether it is of a composite key to encrypt to, and one half is not a key: a coefficient out of range (FIPS 203,
  /// 7.2), or zero (RFC 9980, section 3.4).
  var isMalformedKEM: Bool {
    guard case .compositeKEM(let kind, let ecdh, let mlkem) = self else { return false }
    return !kind.lattice.isValidPublicKey(mlkem) || ecdh.allSatisfy { $0 == 0 }
  }
}
