// SPDX-License-Identifier: Apache-2.0

/// The primary key or a subkey of a certificate, as lists show it.
public struct CertificatePart: Equatable, Sendable {
  /// Names the key.
  public let fingerprint: Fingerprint
  /// The name of the algorithm, such as `Ed25519` or `RSA 4096`.
  public let algorithm: String
  /// `certify`, `sign`, `encrypt`, `authenticate`.
  public let purposes: [String]
  /// When the key was made.
  public let created: Timestamp
  /// When it ends, or the primary key does; nil is never.
  public let expires: Timestamp?
  /// Nil when it may be used for its purposes.
  public let problem: ValidCertificate.Problem?

  init(_ key: ValidCertificate.Key) {
    fingerprint = key.publicKey.fingerprint
    algorithm = key.publicKey.algorithmName
    created = key.publicKey.creationTime
    expires = key.expirationTime
    problem = key.problem
    var purposes: [String] = []
    if key.flags.contains(.certify) { purposes.append("certify") }
    if key.flags.contains(.sign) { purposes.append("sign") }
    if !key.flags.isDisjoint(with: [.encryptCommunications, .encryptStorage]) { purposes.append("encrypt") }
    if key.flags.contains(.authenticate) { purposes.append("authenticate") }
    self.purposes = purposes
  }

  /// Whether its holder has revoked it.
  public var isRevoked: Bool { if case .revoked = problem { true } else { false } }
}

extension ValidCertificate {
  /// The primary key, then the subkeys.
  public var parts: [CertificatePart] { keys.map { CertificatePart($0) } }
}

extension PublicKey {
  /// For people, such as `Ed25519` or `RSA 4096`; both forms of Ed25519 have one name (RFC 9580, section 9.1).
  public var algorithmName: String {
    if case .rsa(let modulus, _) = material { return "RSA \(modulus.bytes.count * 8)" }
    return switch algorithm {
    case .elgamal: "Elgamal"
    case .dsa: "DSA"
    case .ecdh: "ECDH"
    case .ecdsa: "ECDSA"
    case .eddsaLegacy, .ed25519: "Ed25519"
    case .x25519: "X25519"
    case .x448: "X448"
    case .ed448: "Ed448"
    case .mldsa65Ed25519: "ML-DSA-65+Ed25519"
    case .mldsa87Ed448: "ML-DSA-87+Ed448"
    case .slhdsa128s: "SLH-DSA-SHAKE-128s"
    case .slhdsa128f: "SLH-DSA-SHAKE-128f"
    case .slhdsa256s: "SLH-DSA-SHAKE-256s"
    case .mlkem768X25519: "ML-KEM-768+X25519"
    case .mlkem1024X448: "ML-KEM-1024+X448"
    default: "algorithm \(algorithm.rawValue)"
    }
  }
}
