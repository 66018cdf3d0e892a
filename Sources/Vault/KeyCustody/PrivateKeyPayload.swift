// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP
internal import Primitives

/// The content of an envelope: a transferable secret key in binary form (RFC 9580, section 10.2). The numbers
/// are stored.
public enum PrivateKeyPayload: UInt8, Sendable, CaseIterable {
  /// A key of version 4 (RFC 9580, section 5.5.2.2).
  case transferableSecretKeyV4 = 1
  /// A key of version 6 (RFC 9580, section 5.5.2.3).
  case transferableSecretKeyV6 = 2

  /// Bytes of the fingerprint of such a key (RFC 9580, section 5.5.4).
  var fingerprintByteCount: Int {
    switch self {
    case .transferableSecretKeyV4: 20
    case .transferableSecretKeyV6: 32
    }
  }
}

extension Fingerprint {
  /// Lower-case hexadecimal without spaces, the one form that is ever hashed or stored (SE-04).
  var storedText: String { Hexadecimal.text(bytes) }
}
