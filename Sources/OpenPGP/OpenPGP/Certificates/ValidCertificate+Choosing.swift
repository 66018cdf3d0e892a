// SPDX-License-Identifier: Apache-2.0
//
// Which keys of a certificate do what.

extension ValidCertificate {
  /// The keys that messages may be encrypted to.
  /// - Parameter purpose: any of ``KeyFlags/encryptCommunications`` and ``KeyFlags/encryptStorage``; one of
  ///   them is enough.
  /// - Throws: ``OpenPGPError/noEncryptionKey``, or ``OpenPGPError/refused(_:)`` when a rule is why.
  public func encryptionKeys(for purpose: KeyFlags) throws(OpenPGPError) -> [PublicKey] {
    try usable {
      !$0.flags.isDisjoint(with: purpose) && $0.publicKey.algorithm.encrypts
    } orThrow: {
      .noEncryptionKey
    }
  }

  /// The keys that may sign documents: subkeys made for it before the primary key, the youngest first.
  /// - Throws: ``OpenPGPError/keyCannot(_:)``, or ``OpenPGPError/refused(_:)`` when a rule is why.
  public func signingKeys() throws(OpenPGPError) -> [PublicKey] {
    let keys = try usable {
      $0.flags.contains(.sign) && $0.publicKey.algorithm.signs
    } orThrow: {
      .keyCannot(.sign)
    }
    let primary = certificate.fingerprint
    return keys.sorted { left, right in
      let isSubkey = (left: left.fingerprint != primary, right: right.fingerprint != primary)
      return isSubkey.left == isSubkey.right ? left.creationTime > right.creationTime : isSubkey.left
    }
  }

  /// The primary key, if it may certify others.
  /// - Throws: ``OpenPGPError/keyCannot(_:)``, or ``OpenPGPError/refused(_:)`` when a rule is why.
  public func certificationKey() throws(OpenPGPError) -> PublicKey {
    try usable {
      $0.isPrimary && $0.flags.contains(.certify)
    } orThrow: {
      .keyCannot(.certify)
    }[0]
  }

  /// Keys that `isWanted` picks and that have no problem.
  private func usable(
    _ isWanted: (Key) -> Bool, orThrow error: () -> OpenPGPError
  ) throws(OpenPGPError) -> [PublicKey] {
    let wanted = keys.filter(isWanted)
    let usable = wanted.filter { $0.problem == nil }
    if !usable.isEmpty { return usable.map(\.publicKey) }
    for problem in [problem] + wanted.map(\.problem) {
      if case .refused(let rule) = problem { throw .refused(rule) }
    }
    throw error()
  }
}
