// SPDX-License-Identifier: Apache-2.0
//
// A domain's own random key, stored only wrapped (PD-19; Specs/protected-data.md, "Domain key"):
//
//   "COFPDDK1" ‖ domain (1) ‖ sealed value

internal import Primitives
internal import Secrets

enum DomainKey {
  private static let magic = Array("COFPDDK1".utf8)
  private static let purpose = Array("coffer protected data v1 domain key".utf8)
  private static let byteCount = magic.count + 1 + SealedValue.overheadByteCount + SymmetricKey.byteCount

  static func make() -> SharedSecretBytes {
    SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount))
  }

  static func wrap(_ key: SharedSecretBytes, for domain: ProtectedDomain, _ keys: RootKeys) -> [UInt8] {
    var sealer = SealedValue()
    let sealed = key.withBytes { key in
      keys.wrapping.withBytes { sealer.seal(key, key: $0, context: purpose + [domain.rawValue]) }
    }
    return magic + [domain.rawValue] + sealed
  }

  /// Nil when these are not the bytes that were written for this domain under these keys.
  static func unwrap(_ bytes: [UInt8], for domain: ProtectedDomain, _ keys: RootKeys) -> SharedSecretBytes? {
    let head = magic + [domain.rawValue]
    guard bytes.count == byteCount, bytes.starts(with: head) else { return nil }
    return SealedValue.read(
      unsafe bytes.span.bytes.extracting(droppingFirst: head.count), key: keys.wrapping,
      context: purpose + [domain.rawValue]
    ) { SharedSecretBytes(SecretBytes(copying: $0)) }
  }
}
