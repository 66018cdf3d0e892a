// SPDX-License-Identifier: Apache-2.0
//
// What ML-KEM and ML-DSA need of BoringSSL alike: its readers and writers of octets, and pointers to its structures.
// CCryptoBoringSSL is the C module below swift-crypto; its names carry a prefix, so that they do not meet those of
// the system's libcrypto.

internal import CCryptoBoringSSL

enum EncodedOctets {
  /// The octets that `body` writes, which have to be `byteCount`.
  static func write(_ byteCount: Int, _ body: (UnsafeMutablePointer<CBB>) -> CInt) -> [UInt8] {
    var octets = [UInt8](repeating: 0, count: byteCount)
    var builder = unsafe CBB()
    let isWhole = unsafe octets.withUnsafeMutableBufferPointer { octets in
      unsafe CCryptoBoringSSL_CBB_init_fixed(&builder, octets.baseAddress, octets.count) == 1
        && body(&builder) == 1 && CCryptoBoringSSL_CBB_len(&builder) == octets.count
    }
    precondition(isWhole, "a public key has an encoding of one length")
    return octets
  }

  /// What `body` returns for a cursor at the first octet.
  static func read(_ octets: [UInt8], _ body: (UnsafeMutablePointer<CBS>) -> CInt) -> CInt {
    unsafe octets.withUnsafeBufferPointer { octets in
      var cursor = unsafe CBS(data: octets.baseAddress, len: octets.count)
      return unsafe body(&cursor)
    }
  }
}

extension UnsafeRawPointer {
  /// As the structure that a function of BoringSSL takes.
  func bound<Structure>() -> UnsafePointer<Structure> { unsafe assumingMemoryBound(to: Structure.self) }
}

extension UnsafeMutableRawBufferPointer {
  /// As the structure that a function of BoringSSL fills.
  func bound<Structure>() -> UnsafeMutablePointer<Structure> {
    unsafe start.assumingMemoryBound(to: Structure.self)
  }

  func bound<Structure>() -> UnsafePointer<Structure> {
    unsafe UnsafePointer(start.assumingMemoryBound(to: Structure.self))
  }

  var start: UnsafeMutableRawPointer {
    guard let start = baseAddress else { preconditionFailure("a structure has octets") }
    return unsafe start
  }
}

extension UnsafeRawBufferPointer {
  var start: UnsafeRawPointer {
    guard let start = baseAddress else { preconditionFailure("a structure has octets") }
    return unsafe start
  }
}
