// SPDX-License-Identifier: Apache-2.0
//
// Public areas of the keys (TPM 2.0 Part 2, section 12.2), and the policies they carry.

internal import Secrets

#if TPM
  internal import CTSS
  internal import Primitives

  enum TPMTemplate {
    /// The storage root key (TCG TPM v2.0 Provisioning Guidance, section 7.5.1, with ECC P-256).
    static func storageRoot() -> TPM2B_PUBLIC {
      var template = base(
        COFFER_OBJECT_FIXEDTPM | COFFER_OBJECT_FIXEDPARENT | COFFER_OBJECT_SENSITIVEDATAORIGIN
          | COFFER_OBJECT_USERWITHAUTH | COFFER_OBJECT_NODA | COFFER_OBJECT_RESTRICTED | COFFER_OBJECT_DECRYPT
      )
      unsafe template.publicArea.parameters.eccDetail.symmetric.algorithm = COFFER_ALG_AES
      unsafe template.publicArea.parameters.eccDetail.symmetric.keyBits.aes = 128
      unsafe template.publicArea.parameters.eccDetail.symmetric.mode.aes = COFFER_ALG_CFB
      unsafe template.publicArea.unique.ecc.x.size = 32
      unsafe template.publicArea.unique.ecc.y.size = 32
      return template
    }

    /// A key for one use, with the attributes that its requirement asks for.
    static func key(
      _ use: EnclaveKeyUse, _ requirement: AccessControl.Requirement, policy: [UInt8]
    ) -> TPM2B_PUBLIC {
      var attributes =
        COFFER_OBJECT_FIXEDTPM | COFFER_OBJECT_FIXEDPARENT | COFFER_OBJECT_SENSITIVEDATAORIGIN
      attributes |= use == .agreement ? COFFER_OBJECT_DECRYPT : COFFER_OBJECT_SIGN
      // With a policy, only the policy.
      if policy.isEmpty { attributes |= COFFER_OBJECT_USERWITHAUTH }
      // Wrong tries are counted where there is something to guess.
      if !requirement.takesPasscode { attributes |= COFFER_OBJECT_NODA }
      var template = base(attributes)
      switch use {
      case .agreement: unsafe template.publicArea.parameters.eccDetail.scheme.scheme = COFFER_ALG_ECDH
      case .signing: unsafe template.publicArea.parameters.eccDetail.scheme.scheme = COFFER_ALG_ECDSA
      }
      unsafe template.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg = COFFER_ALG_SHA256
      unsafe fill(&template.publicArea.authPolicy.buffer, &template.publicArea.authPolicy.size, policy)
      return template
    }

    /// The public key of the finger's verifier, in the chip's form.
    static func verifier(_ publicKey: [UInt8]) -> TPM2B_PUBLIC {
      var template = base(COFFER_OBJECT_SIGN | COFFER_OBJECT_USERWITHAUTH)
      unsafe template.publicArea.unique.ecc = point(publicKey)
      return template
    }

    private static func base(_ attributes: TPMA_OBJECT) -> TPM2B_PUBLIC {
      var template = TPM2B_PUBLIC()
      template.publicArea.type = COFFER_ALG_ECC
      template.publicArea.nameAlg = COFFER_ALG_SHA256
      template.publicArea.objectAttributes = attributes
      unsafe template.publicArea.parameters.eccDetail.symmetric.algorithm = COFFER_ALG_NULL
      unsafe template.publicArea.parameters.eccDetail.scheme.scheme = COFFER_ALG_NULL
      unsafe template.publicArea.parameters.eccDetail.curveID = COFFER_CURVE_P256
      unsafe template.publicArea.parameters.eccDetail.kdf.scheme = COFFER_ALG_NULL
      return template
    }

    /// Writes bytes to one of the chip's sized buffers.
    @unsafe
    static func fill<Buffer>(_ buffer: inout Buffer, _ size: inout UInt16, _ bytes: [UInt8]) {
      precondition(bytes.count <= MemoryLayout<Buffer>.size, "the buffer has room")
      unsafe withUnsafeMutableBytes(of: &buffer) { unsafe $0.copyBytes(from: bytes) }
      size = UInt16(bytes.count)
    }

    /// A number of the chip's.
    static func parameter(_ bytes: [UInt8]) -> TPM2B_ECC_PARAMETER {
      var parameter = TPM2B_ECC_PARAMETER()
      unsafe fill(&parameter.buffer, &parameter.size, bytes)
      return parameter
    }

    /// A public key as the chip has it.
    static func point(_ publicKey: [UInt8]) -> TPMS_ECC_POINT {
      TPMS_ECC_POINT(x: parameter(Array(publicKey[1..<33])), y: parameter(Array(publicKey[33..<65])))
    }

    /// The public key in a public area, 65 bytes.
    @unsafe
    static func publicKey(_ area: inout TPM2B_PUBLIC) -> [UInt8] {
      unsafe [4] + coordinate(&area.publicArea.unique.ecc.x) + coordinate(&area.publicArea.unique.ecc.y)
    }

    /// Whether these are the bytes of the public area that a key with this head has, and no others.
    static func isPublicArea(
      _ bytes: [UInt8], of handle: EnclaveHandle, verifier: [UInt8]
    ) throws(EnclaveError) -> Bool {
      guard let tss = unsafe coffer_tss_open()?.pointee else { throw .noLibrary }
      var area = TPM2B_PUBLIC()
      var offset = 0
      guard unsafe tss.Tss2_MU_TPM2B_PUBLIC_Unmarshal(bytes, bytes.count, &offset, &area) == 0,
        unsafe publicKey(&area) == handle.publicKey
      else { return false }
      let requirement = handle.access.requirement
      var expected = key(
        handle.use, requirement, policy: try TPMPolicy.digest(requirement, verifier: verifier))
      // As the chip wrote them, with or without leading zeros.
      unsafe expected.publicArea.unique.ecc = area.publicArea.unique.ecc
      return unsafe try marshalled { unsafe tss.Tss2_MU_TPM2B_PUBLIC_Marshal(&expected, $0, $1, $2) } == bytes
    }

    /// The Name of an object: algorithm (2) ‖ SHA-256 of its public area (TPM 2.0 Part 1, section 16).
    static func name(_ area: TPM2B_PUBLIC) throws(EnclaveError) -> [UInt8] {
      guard let tss = unsafe coffer_tss_open()?.pointee else { throw .noLibrary }
      var area = area.publicArea
      let bytes = unsafe try marshalled { unsafe tss.Tss2_MU_TPMT_PUBLIC_Marshal(&area, $0, $1, $2) }
      var name: [UInt8] = []
      name.append(bigEndian: COFFER_ALG_SHA256)
      return name + SHA256.hash(bytes.rawSpan)
    }

    /// The output of a marshalling function.
    @unsafe
    static func marshalled(
      _ body: (UnsafeMutablePointer<UInt8>, Int, UnsafeMutablePointer<Int>) -> UInt32
    ) throws(EnclaveError) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 1024)
      var count = 0
      let code = unsafe bytes.withUnsafeMutableBufferPointer { buffer -> UInt32 in
        guard let start = buffer.baseAddress else { return 1 }
        return unsafe body(start, buffer.count, &count)
      }
      guard code == 0 else { throw .failed(code: code) }
      return Array(bytes.prefix(count))
    }

    /// Reads a point's coordinate, and restores leading zeros that the chip may leave out.
    @unsafe
    static func coordinate(_ parameter: inout TPM2B_ECC_PARAMETER) -> [UInt8] {
      let count = Int(parameter.size)
      let bytes = unsafe withUnsafeBytes(of: &parameter.buffer) { unsafe Array($0.prefix(min(count, 32))) }
      return [UInt8](repeating: 0, count: 32 - bytes.count) + bytes
    }
  }

  /// Policy digests (TPM 2.0 Part 3, sections on PolicyAuthValue, PolicySigned, PolicyOR).
  enum TPMPolicy {
    private static let authValueCommand: UInt32 = 0x16B
    private static let signedCommand: UInt32 = 0x160
    private static let orCommand: UInt32 = 0x171
    private static let start = [UInt8](repeating: 0, count: SHA256.byteCount)

    /// The policy of a key; empty for a key that has none.
    static func digest(
      _ requirement: AccessControl.Requirement, verifier: [UInt8]
    ) throws(EnclaveError) -> [UInt8] {
      switch requirement {
      case .none, .devicePasscode: []
      case .biometryAny: signed(try TPMTemplate.name(TPMTemplate.verifier(verifier)))
      case .biometryAnyOrDevicePasscode: either(try branches(verifier))
      }
    }

    /// The two branches of a key for finger or passcode, in the order of its policy.
    static func branches(_ verifier: [UInt8]) throws(EnclaveError) -> [[UInt8]] {
      [signed(try TPMTemplate.name(TPMTemplate.verifier(verifier))), authValue()]
    }

    private static func authValue() -> [UInt8] { update(start, authValueCommand, []) }

    /// Two steps: the signer's Name, then a reference, which is empty here.
    private static func signed(_ name: [UInt8]) -> [UInt8] {
      let first = update(start, signedCommand, name)
      return SHA256.hash(first.rawSpan)
    }

    private static func either(_ branches: [[UInt8]]) -> [UInt8] {
      update(start, orCommand, Array(branches.joined()))
    }

    private static func update(_ digest: [UInt8], _ command: UInt32, _ rest: [UInt8]) -> [UInt8] {
      var bytes = digest
      bytes.append(bigEndian: command)
      bytes += rest
      return SHA256.hash(bytes.rawSpan)
    }
  }
#endif
