// SPDX-License-Identifier: Apache-2.0
//
// What --debug says about a message and quantum computers.

internal import OpenPGP

enum QuantumSafetyText {
  /// `safe against quantum computers: yes`, or `no, because of` all that weakens the message, each once.
  static func line(_ weaknesses: [QuantumWeakness]) -> String {
    guard !weaknesses.isEmpty else { return "safe against quantum computers: yes" }
    var reasons: [String] = []
    for reason in weaknesses.map(reason) where !reasons.contains(reason) { reasons.append(reason) }
    return "safe against quantum computers: no, because of \(reasons.joined(separator: ", "))"
  }

  private static func reason(_ weakness: QuantumWeakness) -> String {
    switch weakness {
    case .key(.fingerprint(let fingerprint), _): "key \(fingerprint.hexadecimal)"
    case .key(.keyID(let id), _): "key \(id.hexadecimal)"
    case .key(.anonymous, let algorithm): "an unnamed key of algorithm \(algorithm.rawValue)"
    case .unreadable: "a session key that cannot be read"
    case .cipher(let cipher): "cipher \(cipher.rawValue), whose key is short"
    }
  }
}
