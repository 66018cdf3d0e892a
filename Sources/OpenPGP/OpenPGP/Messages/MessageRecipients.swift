// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.1, 5.3 and 10.3: whom an encrypted message is for, as far as it says so. Nothing is opened:
// whether a private key or a password is needed at all is known before anybody is asked for one.

/// Whom an encrypted message is for.
public struct MessageRecipients: Sendable {
  /// One session key, encrypted to a public key.
  public struct Entry: Hashable, Sendable {
    /// Whose key, as far as the packet says.
    public let recipient: PKESK.Recipient
    /// The algorithm of that key.
    public let algorithm: PublicKeyAlgorithm
  }

  /// Of the integrity protected data: 1 or 2.
  public let version: Int
  /// In the order of the packets; those of versions that this engine does not have are left out.
  public let entries: [Entry]
  /// How many session keys passwords open.
  public let passwordCount: Int
  /// Session keys that this engine cannot read: of another version, or malformed.
  public let unreadableCount: Int

  /// Reads the beginning of a message, armored or not, up to the ciphertext.
  /// - Throws: ``OpenPGPError/refused(_:)`` with `noIntegrityProtection` for data that nothing protects;
  ///   ``OpenPGPError/malformed(_:)`` when it is not an encrypted message; ``OpenPGPError/unsupported(_:)``;
  ///   ``OpenPGPError/overLimit(_:)``; the source's own errors.
  public init(reading source: any ByteSource) throws(OpenPGPError) {
    var entries: [Entry] = []
    var (passwordCount, unreadableCount) = (0, 0)
    // No packet is kept, so each is shown here, however many there are.
    let message = try EncryptedMessage(source) { packet in
      switch packet {
      case .pkesk(let packet):
        entries.append(Entry(recipient: packet.recipient, algorithm: packet.algorithm))
      case .skesk: passwordCount += 1
      default: unreadableCount += 1
      }
      return false
    }
    version = message.header == .version1 ? 1 : 2
    self.entries = entries
    self.passwordCount = passwordCount
    self.unreadableCount = unreadableCount
  }

  /// How many readers the message does not name.
  public var hiddenCount: Int { entries.count { $0.recipient == .anonymous } }

  /// Whether the message says that it is for `key`.
  public func names(_ key: PublicKey) -> Bool {
    entries.contains { $0.recipient != .anonymous && PKESK.isFor(key, $0.recipient, $0.algorithm) }
  }

  /// Whether `key` may be one of the readers that the message does not name.
  public func mayHide(_ key: PublicKey) -> Bool {
    entries.contains { $0.recipient == .anonymous && PKESK.isFor(key, $0.recipient, $0.algorithm) }
  }
}
