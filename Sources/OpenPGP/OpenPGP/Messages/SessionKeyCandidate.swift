// SPDX-License-Identifier: Apache-2.0

internal import Secrets

/// One way to get the session key of a message.
enum SessionKeyCandidate {
  /// It was given.
  case given(SessionKey)
  case key(PKESK, MessageDecryption.Key)
  case password(SKESK, SharedSecretBytes)
  /// There are more passwords to try, but their derivations would take too long.
  case unaffordable

  /// - Throws: ``OpenPGPError/notAuthentic`` when it does not open the message, and what the decryptor
  ///   throws.
  func open() throws(OpenPGPError) -> SessionKey {
    switch self {
    case .given(let key): key
    case .key(let packet, let key): try key.decryptor.decrypt(packet)
    case .password(let packet, let password): try packet.open(password: password)
    case .unaffordable: throw .overLimit(.argon2Memory)
    }
  }

  /// Whether nothing says beforehand that the candidate is right.
  var isGuess: Bool {
    switch self {
    case .given, .password, .unaffordable: true
    case .key(let packet, _): packet.recipient == .anonymous
    }
  }

  var isPassword: Bool {
    if case .password = self { true } else { false }
  }

  /// The certificate that the key belongs to.
  var certificate: Fingerprint? {
    if case .key(_, let key) = self { key.certificate } else { nil }
  }
}

extension MessageDecryption {
  /// The candidates that are worth trying: session keys that were given, then keys, then passwords, which
  /// cost most.
  /// - Throws: ``OpenPGPError/refused(_:)`` with `versionMismatch` when session keys are there, and all belong
  ///   to the other version of encrypted data.
  func candidates(_ message: EncryptedMessage) throws(OpenPGPError) -> [SessionKeyCandidate] {
    let isVersion1 = message.header == .version1
    var keyCandidates: [SessionKeyCandidate] = []
    var passwordCandidates: [SessionKeyCandidate] = []
    var hasMismatch = false
    for packet in message.sessionKeyPackets {
      switch packet {
      case .pkesk(let packet):
        guard packet.version == (isVersion1 ? 3 : 6) else {
          hasMismatch = true
          continue
        }
        keyCandidates += keys.filter { packet.mayBe(for: $0.decryptor.publicKey) }.map { .key(packet, $0) }
      case .skesk(let packet):
        guard packet.version == (isVersion1 ? 4 : 6) else {
          hasMismatch = true
          continue
        }
        passwordCandidates += passwords.map { .password(packet, $0) }
      default: continue
      }
    }
    let candidates =
      sessionKeys.map { .given($0) } + keyCandidates.prefix(Limits.privateKeyAttemptCount)
      + affordable(passwordCandidates.prefix(Limits.passwordAttemptCount))
    if candidates.isEmpty, hasMismatch { throw .refused(.versionMismatch) }
    return candidates
  }

  /// As many of the candidates with passwords as may be made on one message.
  private func affordable(_ candidates: ArraySlice<SessionKeyCandidate>) -> [SessionKeyCandidate] {
    var left = Limits.argon2PassedKiBOfMessage
    let affordable = candidates.prefix { candidate in
      guard case .password(let packet, _) = candidate else { return true }
      left -= packet.stringToKey.argon2PassedKiB
      return left >= 0
    }
    return affordable + (affordable.count < candidates.count ? [.unaffordable] : [])
  }

  /// Whether a packet is for one of the keys, or there are passwords for it.
  func mayOpen(_ packet: Packet) -> Bool {
    switch packet {
    case .pkesk(let packet):
      keys.contains { packet.mayBe(for: $0.decryptor.publicKey) }
    case .skesk: !passwords.isEmpty
    default: false
    }
  }
}

extension PKESK {
  /// Whether the packet says that it is for `key`, or does not say whom it is for.
  fileprivate func mayBe(for key: PublicKey) -> Bool { Self.isFor(key, recipient, algorithm) }

  /// Whether a packet with these fields may be for `key`.
  static func isFor(_ key: PublicKey, _ recipient: Recipient, _ algorithm: PublicKeyAlgorithm) -> Bool {
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
