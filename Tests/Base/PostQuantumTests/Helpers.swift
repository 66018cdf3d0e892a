// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets

@testable import PostQuantum

/// In hexadecimal digits, as the tables have it.
func sha256(_ bytes: [UInt8]) -> String { Hexadecimal.text(SHA256.hash(bytes.span.bytes)) }

/// A copy of a test's secret.
func octets(_ secret: SharedSecretBytes) -> [UInt8] {
  secret.withBytes { secret in secret.withUnsafeBytes { Array($0) } }
}

extension MLKEM {
  /// The octets of the secret in a ciphertext; nil when it is refused.
  func secret(in ciphertext: [UInt8], seed: [UInt8]) -> [UInt8]? {
    decapsulate(ciphertext, seed: seed.span.bytes).map(octets)
  }

  func publicKey(seed: [UInt8]) -> [UInt8] { publicKey(seed: seed.span.bytes) }
}

extension MLDSA {
  func publicKey(seed: [UInt8]) -> [UInt8] { publicKey(seed: seed.span.bytes) }

  func sign(_ message: [UInt8], seed: [UInt8]) -> [UInt8] { sign(message, seed: seed.span.bytes) }
}

extension SLHDSA {
  func publicKey(secretKey: [UInt8]) -> [UInt8]? { publicKey(secretKey: secretKey.span.bytes) }

  func rootOctets(secretKey: [UInt8], lanes: Int) -> [UInt8] {
    computedRoot(secretKey: secretKey.span.bytes, lanes: lanes)
  }

  func sign(_ message: [UInt8], secretKey: [UInt8]) -> [UInt8] {
    sign(message, secretKey: secretKey.span.bytes)
  }
}
