// SPDX-License-Identifier: Apache-2.0
//
// BoringSSL's form of a private key, in locked memory of ours, for one operation.

internal import Secrets

/// Lends a private key that `expand` makes of its seed, and erases it afterwards.
/// - Parameter byteCount: how much memory the key takes; it is aligned to 16.
func withExpandedKey<R, E: Error>(
  _ byteCount: Int, _ seed: RawSpan, _ body: (UnsafeRawPointer) throws(E) -> R,
  expand: (UnsafeMutableRawPointer, UnsafePointer<UInt8>) -> Void
) throws(E) -> R {
  let key = SecretBytes(byteCount: byteCount) { key in
    unsafe key.withUnsafeOctets { key in
      unsafe seed.withUnsafeBytes { seed in
        guard let octets = seed.baseAddress else { preconditionFailure("a seed has octets") }
        unsafe expand(key, octets.assumingMemoryBound(to: UInt8.self))
      }
    }
  }
  return try key.withBytes { key throws(E) in
    try unsafe key.withUnsafeBytes { key throws(E) in
      guard let start = key.baseAddress else { preconditionFailure("a key has octets") }
      return try unsafe body(start)
    }
  }
}

extension MutableRawSpan {
  /// Lends the octets, of which there is at least one, to a function of C that fills them.
  mutating func withUnsafeOctets<R>(_ body: (UnsafeMutablePointer<UInt8>) -> R) -> R {
    unsafe withUnsafeMutableBytes { unsafe body($0.start.assumingMemoryBound(to: UInt8.self)) }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// The first byte of memory that is not empty.
  var start: UnsafeMutableRawPointer {
    guard let start = baseAddress else { preconditionFailure("there is memory") }
    return unsafe start
  }
}
