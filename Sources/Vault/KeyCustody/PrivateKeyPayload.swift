// SPDX-License-Identifier: Apache-2.0

/// What an envelope holds: a transferable secret key in binary form (RFC 9580, section 10.2). The numbers are
/// stored.
public enum PrivateKeyPayload: UInt8, Sendable, CaseIterable {
  case transferableSecretKeyV4 = 1
  case transferableSecretKeyV6 = 2

  /// Bytes of the fingerprint of such a key (RFC 9580, section 5.5.4).
  var fingerprintByteCount: Int {
    switch self {
    case .transferableSecretKeyV4: 20
    case .transferableSecretKeyV6: 32
    }
  }
}
