// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The library of the system.
package enum OpenSSL {
  /// Its name and version, as it runs.
  package static var version: String {
    unsafe OpenSSL_version(OPENSSL_VERSION).map { unsafe String(cString: $0) } ?? "OpenSSL"
  }
}

/// Why an operation was not done, where there is more than one reason.
package enum LibCryptoError: Error, Equatable, Sendable {
  /// libcrypto does not take what it was given.
  case refused
  /// It failed with nothing wrong in what it was given: out of memory, or built without the algorithm.
  case failed
}

extension UnsafeRawBufferPointer {
  /// The bytes as libcrypto wants them.
  @unsafe
  var octets: UnsafePointer<UInt8>? { unsafe baseAddress?.assumingMemoryBound(to: UInt8.self) }

  /// The bytes as libcrypto wants them where it takes an address for a key or a nonce; nil for none of them.
  @unsafe
  var octetsIfAny: UnsafePointer<UInt8>? { unsafe isEmpty ? nil : octets }
}

extension UnsafeMutableRawBufferPointer {
  /// The bytes as libcrypto wants them.
  @unsafe
  var octets: UnsafeMutablePointer<UInt8>? { unsafe baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
