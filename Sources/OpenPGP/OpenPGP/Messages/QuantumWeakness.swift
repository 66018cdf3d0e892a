// SPDX-License-Identifier: Apache-2.0
//
// RFC 9980, sections 3.1, 8.1 and 9.5: a message is as strong as its weakest session key packet. Who encrypts, and
// who reads, can say whether somebody who keeps the ciphertext could open it with a quantum computer, and why.

/// Why a quantum computer could open a message. A message without one of these is safe, as far as is known.
public enum QuantumWeakness: Hashable, Sendable {
  /// The session key is encrypted to a key that rests on factoring or on discrete logarithms alone.
  case key(PKESK.Recipient, PublicKeyAlgorithm)
  /// A session key is encrypted in a packet that this engine cannot read.
  case unreadable
  /// The key of the cipher is shorter than 256 bits.
  case cipher(SymmetricAlgorithm)

  /// Of a session key packet; nil for one that adds no weakness. A password adds none, however weak it is, if the
  /// cipher that it is for has keys of 256 bits.
  init?(_ packet: Packet) {
    switch packet {
    case .pkesk(let packet):
      switch packet.material {
      case .compositeKEM: return nil
      // Algorithms that sign, or of numbers to come: who knows what is in the packet.
      case .unknown: self = .unreadable
      default: self = .key(packet.recipient, packet.algorithm)
      }
    case .skesk(let packet):
      guard packet.cipher.keyByteCount != 32 else { return nil }
      self = .cipher(packet.cipher)
    default: self = .unreadable
    }
  }

  /// Of the cipher; nil for one with keys of 256 bits.
  init?(_ format: EncryptionFormat) {
    guard format.cipher.keyByteCount != 32 else { return nil }
    self = .cipher(format.cipher)
  }
}

extension MessageEncryption {
  /// What a quantum computer could open the message by; empty if nothing.
  public var quantumWeaknesses: [QuantumWeakness] {
    recipientPackets.compactMap { QuantumWeakness(.pkesk($0)) } + [QuantumWeakness(format)].compactMap(\.self)
  }
}

extension ValidCertificate {
  /// Whether messages to the holder are encrypted to a key that stands up to quantum computers.
  /// - Parameter purpose: as ``encryptionKeys(for:)`` has it.
  public func isQuantumSafe(for purpose: KeyFlags) -> Bool {
    guard let keys = try? encryptionKeys(for: purpose) else { return false }
    return keys.contains { key in
      if case .compositeKEM = key.material { true } else { false }
    }
  }
}
