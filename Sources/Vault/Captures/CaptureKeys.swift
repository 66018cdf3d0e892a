// SPDX-License-Identifier: Apache-2.0
//
// The keys that are derived from the capture key (Specs/captures.md, "Keys").

internal import Primitives
internal import Secrets

/// The keys of one store, while it is open.
struct CaptureKeys: Sendable {
  private let captureKey: SharedSecretBytes
  let record: SharedSecretBytes
  let mark: SharedSecretBytes
  private let member: SharedSecretBytes

  init(_ captureKey: consuming SecretBytes) {
    let captureKey = SharedSecretBytes(captureKey)
    self.captureKey = captureKey
    record = Self.derive(captureKey, "coffer capture v1 records")
    mark = Self.derive(captureKey, "coffer capture v1 marks")
    member = Self.derive(captureKey, "coffer capture v1 members")
  }

  /// The key of one capture's parts.
  func parts(_ id: CaptureID) -> SecretBytes {
    var hkdf = HKDF()
    let key = captureKey.withBytes { key in
      id.withBytes { hkdf.deriveKey(ikm: key, salt: $0, info: "coffer capture v1 parts") }
    }
    return key.withBytes { SecretBytes(copying: $0) }
  }

  func memberHash() -> SetHash { SetHash(key: member.withBytes { SecretBytes(copying: $0) }) }

  /// The keyed hash by which equal photos are recognised; it reveals nothing without the key.
  func mark(photoHash: [UInt8]) -> [UInt8] {
    mark.withBytes { HMACSHA256.code(of: photoHash.rawSpan, key: $0) }
  }

  private static func derive(_ key: SharedSecretBytes, _ info: StaticString) -> SharedSecretBytes {
    SharedSecretBytes(key.withBytes { HKDF.secret(from: $0, info: info) })
  }
}
