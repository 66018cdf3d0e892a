// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

/// The rules of the policy in words.
enum PolicyWords {
  static func text(_ rule: Policy.Rule) -> String {
    switch rule {
    case .hashAlgorithm: "the hash algorithm is too weak"
    case .publicKeyAlgorithm: "the public key algorithm is too weak, or not supported"
    case .keySize(let bitCount): "a key of \(bitCount) bits is too small"
    case .publicExponent: "the public exponent of the RSA key hides nothing"
    case .symmetricAlgorithm: "the cipher is too weak"
    case .noIntegrityProtection: "the message is not protected against changes"
    case .versionMismatch: "versions do not belong together"
    case .criticalSubpacket: "something critical is not known"
    case .issuerMissing: "the signature does not say whose key made it"
    case .tooManySalts: "there are too many signatures with salts of their own"
    case .signatureType: "a signature is of the wrong type"
    case .keyFlags: "the key is not for this use"
    case .signatureExpired: "the signature has expired"
    case .signatureFromTheFuture: "the signature is from the future"
    case .outsideRequestedTime: "the signature is outside the time that was asked for"
    case .notIntendedRecipient: "the message was meant for somebody else"
    case .creationTimeMissing: "the signature does not say when it was made"
    case .signatureOlderThanKey: "the signature is older than its key"
    case .keyExpired: "the key had expired"
    case .keyNotBound: "nothing of its holder says that the key belongs to the certificate"
    }
  }
}
