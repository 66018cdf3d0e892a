// SPDX-License-Identifier: Apache-2.0

internal import CSystem
internal import Glibc
public import Secrets

/// The kernel's random number generator (getrandom(2)), the only source of randomness in Coffer.
///
/// It cannot fail once the system has booted. If it fails anyway, the process stops: a key of zeros would be
/// worse.
public enum SystemRandom {
  /// Fills `bytes`.
  public static func fill(_ bytes: inout MutableRawSpan) {
    let count = bytes.byteCount
    unsafe bytes.withUnsafeMutableBytes { buffer in
      var filled = 0
      while filled < count {
        let got = unsafe coffer_getrandom(buffer.baseAddress.map { unsafe $0 + filled }, count - filled)
        if got > 0 { filled += got } else { precondition(errno == EINTR, "the system gives no randomness") }
      }
    }
  }

  /// Random bytes that are secret: keys, entropy.
  public static func secretBytes(count: Int) -> SecretBytes {
    var bytes = SecretBytes(zeroed: count)
    bytes.withMutableBytes { fill(&$0) }
    return bytes
  }

  /// Random bytes that may be seen: nonces, salts, identifiers.
  public static func publicBytes(count: Int) -> [UInt8] {
    precondition(count >= 0, "a negative count is the caller's error")
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.withMutableRawSpan { fill(&$0) }
    return bytes
  }
}
