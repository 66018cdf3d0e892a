// SPDX-License-Identifier: Apache-2.0

internal import Primitives
public import Secrets

/// A key in an enclave: its public facts and its handle.
public struct EnclaveKey: Equatable, Sendable {
  /// The kind of enclave that made the key, the only kind that can use it.
  public let kind: EnclaveKind
  /// What the key is for.
  public let use: EnclaveKeyUse
  /// When the key can be loaded, and what each use asks for.
  public let access: AccessControl
  /// 65 bytes (SEC 1, 2.3.3, uncompressed).
  public let publicKey: [UInt8]
  /// The handle, opaque to everybody but the enclave (Specs/enclaves.md). Store it sealed. The handle of a
  /// software key holds the private key, so it is in locked memory.
  public let handle: SharedSecretBytes

  /// Reads the facts in a handle, without asking the enclave; nil when these are not the bytes of one.
  package init?(handle: RawSpan) {
    guard let key = try? EnclaveHandle(handle).key else { return nil }
    self = key
  }

  package init(
    kind: EnclaveKind, use: EnclaveKeyUse, access: AccessControl, publicKey: [UInt8],
    handle: SharedSecretBytes
  ) {
    self.kind = kind
    self.use = use
    self.access = access
    self.publicKey = publicKey
    self.handle = handle
  }

  /// The handle, copied out of locked memory: this exposes a software key. A chip's handle is sealed by the
  /// chip.
  public var dataRepresentation: [UInt8] { handle.withBytes { [UInt8](copying: $0) } }

  /// Compares the handles in constant time.
  public static func == (left: EnclaveKey, right: EnclaveKey) -> Bool {
    // Kind, use, access and public key are part of the handle.
    left.handle.withBytes { left in right.handle.withBytes { constantTimeEqual(left, $0) } }
  }
}
