// SPDX-License-Identifier: Apache-2.0

internal import CSystem
internal import Glibc
public import Secrets

/// The kernel's random number generator (getrandom(2)), the only source of randomness in Coffer.
///
/// It cannot fail once the system has booted. If it fails anyway, the process stops and says why: a key of zeros would
/// be worse. What was stored before stays whole, as after any crash.
public enum SystemRandom {
  /// Fills `bytes`.
  public static func fill(_ bytes: inout MutableRawSpan) {
    unsafe fill(&bytes, from: { unsafe coffer_getrandom($0, $1) })
  }

  /// - Parameter source: writes at most so many bytes there, and answers as getrandom(2) does; tests bring one that
  ///   fails.
  static func fill(
    _ bytes: inout MutableRawSpan, from source: (UnsafeMutableRawPointer?, Int) -> Int
  ) {
    let count = bytes.byteCount
    unsafe bytes.withUnsafeMutableBytes { buffer in
      var filled = 0
      while filled < count {
        let got = unsafe source(buffer.baseAddress.map { unsafe $0 + filled }, count - filled)
        if got > 0 {
          filled += got
        } else if got == 0 || errno != EINTR {
          // No key, nonce or salt may be made without it, so nothing can go on. Unlike a precondition's, the
          // reason is printed in release builds too.
          fatalError("the system gives no randomness")
        }
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
