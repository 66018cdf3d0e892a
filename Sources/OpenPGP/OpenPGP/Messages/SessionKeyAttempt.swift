// SPDX-License-Identifier: Apache-2.0

internal import Secrets

/// One way in which the key of a message may be had.
enum SessionKeyAttempt {
  /// It was given.
  case given(SessionKey)
  case key(PublicKeyEncryptedSessionKey, MessageDecryption.Key)
  case password(SymmetricKeyEncryptedSessionKey, SharedSecretBytes)
  /// There are more for passwords, whose derivations would take too long.
  case unaffordable

  /// - Throws: ``OpenPGPError/notAuthentic`` when this is not the way, and what the decryptor throws.
  func open() throws(OpenPGPError) -> SessionKey {
    switch self {
    case .given(let key): key
    case .key(let packet, let key): try key.decryptor.decrypt(packet)
    case .password(let packet, let password): try packet.open(password: password)
    case .unaffordable: throw .overLimit(.argon2Memory)
    }
  }

  /// Whether nothing says beforehand that the way is right.
  var isGuess: Bool {
    switch self {
    case .given, .password, .unaffordable: true
    case .key(let packet, _): packet.recipient == .anonymous
    }
  }

  var isPassword: Bool {
    if case .password = self { true } else { false }
  }

  /// The certificate of who can go this way.
  var certificate: Fingerprint? {
    if case .key(_, let key) = self { key.certificate } else { nil }
  }
}

extension MessageDecryption {
  /// The ways that are worth trying: what was given first, then keys, then passwords, which cost most.
  /// - Throws: ``OpenPGPError/refused(_:)`` with `versionMismatch` when session keys are there, and all belong
  ///   to the other version of encrypted data.
  func attempts(_ message: EncryptedMessage) throws(OpenPGPError) -> [SessionKeyAttempt] {
    let isVersion1 = message.header == .version1
    var keyAttempts: [SessionKeyAttempt] = []
    var passwordAttempts: [SessionKeyAttempt] = []
    var hasMismatch = false
    for packet in message.sessionKeyPackets {
      switch packet {
      case .publicKeyEncryptedSessionKey(let packet):
        guard packet.version == (isVersion1 ? 3 : 6) else {
          hasMismatch = true
          continue
        }
        keyAttempts += keys.filter { packet.mayBe(for: $0.decryptor.publicKey) }.map { .key(packet, $0) }
      case .symmetricKeyEncryptedSessionKey(let packet):
        guard packet.version == (isVersion1 ? 4 : 6) else {
          hasMismatch = true
          continue
        }
        passwordAttempts += passwords.map { .password(packet, $0) }
      default: continue
      }
    }
    let attempts =
      sessionKeys.map { .given($0) } + keyAttempts.prefix(Limits.privateKeyAttemptCount)
      + affordable(passwordAttempts.prefix(Limits.passwordAttemptCount))
    if attempts.isEmpty, hasMismatch { throw .refused(.versionMismatch) }
    return attempts
  }

  /// As many of the attempts with passwords as may be made on one message.
  private func affordable(_ attempts: ArraySlice<SessionKeyAttempt>) -> [SessionKeyAttempt] {
    var left = Limits.argon2PassedKiBOfMessage
    let affordable = attempts.prefix { attempt in
      guard case .password(let packet, _) = attempt else { return true }
      left -= packet.stringToKey.argon2PassedKiB
      return left >= 0
    }
    return affordable + (affordable.count < attempts.count ? [.unaffordable] : [])
  }

  /// Whether a packet is for one of the keys, or there are passwords for it.
  func mayOpen(_ packet: Packet) -> Bool {
    switch packet {
    case .publicKeyEncryptedSessionKey(let packet):
      keys.contains { packet.mayBe(for: $0.decryptor.publicKey) }
    case .symmetricKeyEncryptedSessionKey: !passwords.isEmpty
    default: false
    }
  }
}

extension PublicKeyEncryptedSessionKey {
  /// Whether the packet says that it is for `key`, or does not say whom it is for.
  fileprivate func mayBe(for key: PublicKey) -> Bool {
    switch recipient {
    case .keyID(let id): id == key.keyID
    case .fingerprint(let fingerprint): fingerprint == key.fingerprint
    case .anonymous: key.algorithm.opens(algorithm)
    }
  }
}

extension PublicKeyAlgorithm {
  /// Whether a key of this algorithm opens session keys of the other: the two numbers of RSA are one algorithm.
  fileprivate func opens(_ other: PublicKeyAlgorithm) -> Bool {
    let rsa: [PublicKeyAlgorithm] = [.rsa, .rsaEncryptOnly]
    return self == other || rsa.contains(self) && rsa.contains(other)
  }
}
