// SPDX-License-Identifier: Apache-2.0

/// A key in an enclave, as far as it can be known outside.
public struct EnclaveKey: Equatable, Sendable {
  public let kind: EnclaveKind
  public let use: EnclaveKeyUse
  public let access: AccessControl
  /// 65 bytes (SEC 1, 2.3.3, uncompressed).
  public let publicKey: [UInt8]
  /// The handle, opaque to everybody but the enclave (Specs/enclaves.md). It is to be kept sealed.
  public let dataRepresentation: [UInt8]

  /// What a handle tells of its key, without asking the enclave; nil when these are not the bytes of one.
  package init?(handle: [UInt8]) {
    guard let key = try? EnclaveHandle(handle).key else { return nil }
    self = key
  }

  package init(
    kind: EnclaveKind, use: EnclaveKeyUse, access: AccessControl, publicKey: [UInt8],
    dataRepresentation: [UInt8]
  ) {
    self.kind = kind
    self.use = use
    self.access = access
    self.publicKey = publicKey
    self.dataRepresentation = dataRepresentation
  }
}
