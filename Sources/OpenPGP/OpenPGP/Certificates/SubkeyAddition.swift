// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.1.8 and 5.2.1.9: new subkeys are bound by the primary key, and those that sign confirm
// it.

internal import Secrets

/// A new subkey to be made.
struct SubkeyAddition {
  let algorithm: KeyAlgorithm
  let flags: KeyFlags
  /// Of its creation and its binding.
  let time: Timestamp
}

extension TransferableSecretKey {
  /// Makes a subkey and binds it.
  mutating func add(
    _ addition: SubkeyAddition, by primary: UnlockedKey, password: SharedSecretBytes?
  ) throws(OpenPGPError) {
    let key = try UnlockedKey.generate(
      addition.algorithm, version: primary.publicKey.version, creationTime: addition.time)
    let target = SignedTarget.subkey(primary: primary.publicKey, key.publicKey)
    var binding = SignatureBuilder(type: .subkeyBinding, creationTime: addition.time)
    binding.subpackets = [Subpacket(.keyFlags(addition.flags))]
    if !addition.flags.isDisjoint(with: [.certify, .sign]) {
      let confirmation = SignatureBuilder(type: .primaryKeyBinding, creationTime: addition.time)
      binding.subpackets.append(Subpacket(.embeddedSignature(try confirmation.sign(target, with: key))))
    }
    let signature = try binding.sign(target, with: primary)
    certificate.subkeys.append(Certificate.Component(key.publicKey, signatures: [signature]))
    secrets[key.publicKey.fingerprint] = try key.secretKey(password: password, isSubkey: true)
  }
}

extension UnlockedKey {
  /// The packet of this key, locked when there is a password.
  func secretKey(password: SharedSecretBytes?, isSubkey: Bool) throws(OpenPGPError) -> SecretKey {
    guard let password else { return withoutProtection() }
    let protection = SecretKeyProtection.Profile.forKey(version: publicKey.version)
    return try password.withBytes { (bytes) throws(OpenPGPError) -> SecretKey in
      try locked(password: bytes, with: protection, isSubkey: isSubkey)
    }
  }
}
