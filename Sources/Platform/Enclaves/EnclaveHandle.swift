// SPDX-License-Identifier: Apache-2.0
//
// The beginning of every handle (Specs/enclaves.md):
//
//   "COFENC01" ‖ kind (1) ‖ use (1) ‖ protection (1) ‖ requirement (1) ‖ public key (65) ‖ body
//   ‖ digest (32)
//
// The digest tells accidental damage from another chip's handle. It does not stop an attacker: handles are
// stored sealed, and the enclave checks its own part.

internal import Primitives
internal import Secrets

extension EnclaveKind {
  /// The kind of enclave that made a handle, or nil when these are not the bytes of one.
  public init?(handle: RawSpan) {
    guard let found = try? EnclaveHandle(handle).kind else { return nil }
    self = found
  }

  /// The same of a handle that is not secret: a chip's, sealed by the chip.
  public init?(handle: [UInt8]) { self.init(handle: handle.rawSpan) }
}

/// The fields of a handle that all kinds have.
struct EnclaveHandle {
  let kind: EnclaveKind
  let use: EnclaveKeyUse
  let access: AccessControl
  let publicKey: [UInt8]
  /// The part that only one kind of enclave understands. It contains a software key.
  let body: SharedSecretBytes

  /// The longest handle that is accepted; a TPM's has some 500 bytes.
  static let byteCountLimit = 4096
  private static let magic = Array("COFENC01".utf8)

  init(
    kind: EnclaveKind, use: EnclaveKeyUse, access: AccessControl, publicKey: [UInt8], body: SharedSecretBytes
  ) {
    self.kind = kind
    self.use = use
    self.access = access
    self.publicKey = publicKey
    self.body = body
  }

  /// - Throws: `EnclaveError.corrupt` for anything but the bytes of a handle.
  init(_ span: RawSpan) throws(EnclaveError) {
    let contentCount = span.byteCount - SHA256.byteCount
    guard contentCount > 0, span.byteCount <= Self.byteCountLimit,
      SHA256.hash(span.extracting(first: contentCount))
        == [UInt8](copying: span.extracting(last: SHA256.byteCount))
    else { throw .corrupt }
    var cursor = ByteCursor()
    do {
      guard try cursor.readBytes(span, count: 8) == Self.magic,
        let kind = EnclaveKind(rawValue: try cursor.readByte(span)),
        let use = EnclaveKeyUse(rawValue: try cursor.readByte(span)),
        let protection = AccessControl.Protection(rawValue: try cursor.readByte(span)),
        let requirement = AccessControl.Requirement(rawValue: try cursor.readByte(span))
      else { throw EnclaveError.corrupt }
      self.kind = kind
      self.use = use
      access = AccessControl(protection, requirement: requirement)
      publicKey = try cursor.readBytes(span, count: P256.publicKeyByteCount)
      let range = try cursor.readRange(span, count: contentCount - cursor.offset)
      body = SharedSecretBytes(SecretBytes(copying: span.extracting(range)))
    } catch {
      throw .corrupt
    }
    guard P256.isPublicKey(publicKey) else { throw .corrupt }
  }

  /// The same of a handle that is not secret.
  init(_ bytes: [UInt8]) throws(EnclaveError) { try self.init(bytes.rawSpan) }

  /// Everything before the body; a sealed body is bound to it.
  var head: [UInt8] { Self.head(kind: kind, use: use, access: access, publicKey: publicKey) }

  static func head(
    kind: EnclaveKind, use: EnclaveKeyUse, access: AccessControl, publicKey: [UInt8]
  ) -> [UInt8] {
    magic + [kind.rawValue, use.rawValue, access.protection.rawValue, access.requirement.rawValue] + publicKey
  }

  private func bytes() -> SecretBytes {
    let head = head
    var content = SecretWriter(byteCount: head.count + body.count)
    content.append(head)
    body.withBytes { content.append($0) }
    let finished = content.finish()
    var bytes = SecretWriter(byteCount: finished.count + SHA256.byteCount)
    finished.withBytes { content in
      bytes.append(content)
      bytes.append(SHA256.hash(content))
    }
    return bytes.finish()
  }

  /// The key for callers.
  var key: EnclaveKey {
    EnclaveKey(
      kind: kind, use: use, access: access, publicKey: publicKey, handle: SharedSecretBytes(bytes()))
  }
}

extension AccessControl.Requirement {
  var takesPasscode: Bool { self == .devicePasscode || self == .biometryAnyOrDevicePasscode }
  var takesBiometry: Bool { self == .biometryAny || self == .biometryAnyOrDevicePasscode }

  /// - Throws: `EnclaveError.invalidInput` when the enrolment does not match the requirement, or a random
  ///   passcode does not have 32 bytes.
  func check(_ enrolment: KeyEnrolment) throws(EnclaveError) {
    guard (enrolment.passcode != nil) == takesPasscode, (enrolment.biometryVerifier != nil) == takesBiometry,
      enrolment.biometryVerifier.map(P256.isPublicKey) ?? true, enrolment.passcode?.isWhole ?? true
    else { throw .invalidInput }
  }
}

extension KeyEnrolment.Passcode {
  /// Bytes of a random passcode.
  static let randomByteCount = SymmetricKey.byteCount

  var secret: SharedSecretBytes {
    switch self {
    case .typed(let secret), .random(let secret): secret
    }
  }

  fileprivate var isWhole: Bool {
    switch self {
    case .typed: true
    case .random(let secret): secret.count == Self.randomByteCount
    }
  }
}
