// SPDX-License-Identifier: Apache-2.0
//
// What the root secret is for, and all it is for (PD-18): the wrapping root key, and from that the registry's.

internal import Primitives
internal import Secrets

struct RootKeys: Sendable {
  /// Wraps domain keys.
  let wrapping: SharedSecretBytes
  /// Authenticates the registry.
  let registry: SharedSecretBytes

  /// The caller erases the root secret right after.
  init(_ root: RawSpan) {
    let wrapping = Self.derive(root, "coffer protected data v1 wrapping root")
    self.wrapping = wrapping
    registry = wrapping.withBytes { Self.derive($0, "coffer protected data v1 registry") }
  }

  private static func derive(_ key: RawSpan, _ info: StaticString) -> SharedSecretBytes {
    SharedSecretBytes(HKDF.secret(from: key, info: info))
  }
}
