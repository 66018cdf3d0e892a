// SPDX-License-Identifier: Apache-2.0
//
// The body of a software handle (Specs/enclaves.md, "Body of a software handle"):
//
//   salt (32) ‖ derivation (1) ‖ verifier count (1) ‖ verifier (0 or 65) ‖ secret
//
// The secret of a key that asks for the passcode alone is the scalar, sealed under the passcode. A finger
// cannot unseal anything. If a finger is enough, the scalar is therefore plain, and the check of the finger
// or passcode only restrains this program.

internal import Primitives
internal import Secrets

struct SoftwareBody {
  let verifier: [UInt8]
  let secret: Secret
  private let salt: [UInt8]
  private let derivation: PasscodeDerivation

  enum Secret {
    case plain(SharedSecretBytes)
    /// The scalar as a sealed value.
    case sealed([UInt8])
    /// The scalar, and a sealed value without content that only the passcode opens.
    case gated(SharedSecretBytes, gate: [UInt8])
  }

  private static let saltByteCount = 32

  /// - Parameter head: a sealed value is bound to it and to the derivation.
  init(
    scalar: consuming SecretBytes, head: [UInt8], requirement: AccessControl.Requirement,
    enrolment: KeyEnrolment
  ) throws(EnclaveError) {
    verifier = enrolment.biometryVerifier ?? []
    salt = SystemRandom.publicBytes(count: Self.saltByteCount)
    derivation = PasscodeDerivation(enrolment.passcode)
    let shared = SharedSecretBytes(scalar)
    guard let passcode = enrolment.passcode else {
      secret = .plain(shared)
      return
    }
    let key = try derivation.key(passcode.secret, salt: salt)
    let context = Self.context(head, derivation)
    var sealer = SealedValue()
    if requirement == .devicePasscode {
      secret = .sealed(
        shared.withBytes { scalar in key.withBytes { sealer.seal(scalar, key: $0, context: context) } })
    } else {
      secret = .gated(shared, gate: key.withBytes { sealer.seal(RawSpan(), key: $0, context: context) })
    }
  }

  /// - Throws: `EnclaveError.corrupt`
  init(_ handle: EnclaveHandle) throws(EnclaveError) {
    self = try handle.body.withBytes { body throws(EnclaveError) in
      try SoftwareBody(body, handle.access.requirement)
    }
  }

  private init(_ span: RawSpan, _ requirement: AccessControl.Requirement) throws(EnclaveError) {
    var cursor = ByteCursor()
    do {
      salt = try cursor.readBytes(span, count: Self.saltByteCount)
      guard let derivation = PasscodeDerivation(rawValue: try cursor.readByte(span)),
        (derivation != .none) == requirement.takesPasscode
      else { throw EnclaveError.corrupt }
      self.derivation = derivation
      verifier = try cursor.readBytes(span, count: Int(try cursor.readByte(span)))
      let rest = span.byteCount - cursor.offset
      guard requirement.takesBiometry ? P256.isPublicKey(verifier) : verifier.isEmpty else {
        throw EnclaveError.corrupt
      }
      let sealedByteCount = P256.scalarByteCount + SealedValue.overheadByteCount
      switch requirement {
      case .devicePasscode where rest == sealedByteCount:
        secret = .sealed(try cursor.readBytes(span, count: rest))
      case .biometryAnyOrDevicePasscode where rest == sealedByteCount:
        let scalar = span.extracting(try cursor.readRange(span, count: P256.scalarByteCount))
        secret = .gated(
          SharedSecretBytes(SecretBytes(copying: scalar)),
          gate: try cursor.readBytes(span, count: SealedValue.overheadByteCount))
      case .none where rest == P256.scalarByteCount, .biometryAny where rest == P256.scalarByteCount:
        secret = .plain(
          SharedSecretBytes(SecretBytes(copying: span.extracting(try cursor.readRange(span, count: rest)))))
      default: throw EnclaveError.corrupt
      }
    } catch {
      throw .corrupt
    }
  }

  func bytes() -> SecretBytes {
    let head = salt + [derivation.rawValue, UInt8(verifier.count)] + verifier
    var bytes = SecretWriter(
      byteCount: head.count + P256.scalarByteCount + SealedValue.overheadByteCount)
    bytes.append(head)
    switch secret {
    case .plain(let scalar): scalar.withBytes { bytes.append($0) }
    case .sealed(let sealed): bytes.append(sealed)
    case .gated(let scalar, let gate):
      scalar.withBytes { bytes.append($0) }
      bytes.append(gate)
    }
    return bytes.finish()
  }

  /// The scalar, if `authorization` satisfies the requirement.
  func scalar(
    _ handle: EnclaveHandle, _ authorization: KeyAuthorization
  ) throws(EnclaveError) -> SecretBytes {
    switch (authorization, secret) {
    case (.none, .plain(let scalar)) where handle.access.requirement == .none:
      return scalar.withBytes { SecretBytes(copying: $0) }
    case (.passcode(let passcode), .sealed(let sealed)):
      return try open(sealed, passcode, handle)
    case (.passcode(let passcode), .gated(let scalar, let gate)):
      _ = try open(gate, passcode, handle)
      return scalar.withBytes { SecretBytes(copying: $0) }
    case (.biometry(let reader), .plain(let scalar)) where handle.access.requirement == .biometryAny:
      try demand(reader)
      return scalar.withBytes { SecretBytes(copying: $0) }
    case (.biometry(let reader), .gated(let scalar, _)):
      try demand(reader)
      return scalar.withBytes { SecretBytes(copying: $0) }
    default: throw .authorizationRequired
    }
  }

  private func open(
    _ sealed: [UInt8], _ passcode: SharedSecretBytes, _ handle: EnclaveHandle
  ) throws(EnclaveError) -> SecretBytes {
    let key = try derivation.key(passcode, salt: salt)
    var sealer = SealedValue()
    do {
      return try key.withBytes { key throws(SealedValue.Failure) in
        try sealer.open(sealed.rawSpan, key: key, context: Self.context(handle.head, derivation))
      }
    } catch {
      throw error == .wrongKey ? .wrongPasscode : .corrupt
    }
  }

  /// Has the verifier sign a fresh challenge.
  private func demand(_ reader: any BiometryVerifier) throws(EnclaveError) {
    let challenge = SystemRandom.publicBytes(count: SHA256.byteCount)
    let signature = try reader.sign(digest: challenge)
    guard P256.isValidSignature(signature, digest: challenge, publicKey: verifier) else {
      throw .biometryRefused
    }
  }

  private static func context(_ head: [UInt8], _ derivation: PasscodeDerivation) -> [UInt8] {
    head + [derivation.rawValue]
  }
}
