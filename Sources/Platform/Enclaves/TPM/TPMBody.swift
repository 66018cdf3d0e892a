// SPDX-License-Identifier: Apache-2.0
//
// The body of a TPM handle (Specs/enclaves.md, "Body of a TPM handle"):
//
//   storage root: place (1) ‖ Name (34) ‖ salt (32) ‖ verifier count (1) ‖ verifier (0 or 65)
//   ‖ public count (2) ‖ TPM2B_PUBLIC ‖ private count (2) ‖ TPM2B_PRIVATE

#if TPM
  internal import CTSS
  internal import Primitives
  internal import Secrets

  struct TPMBody {
    let root: TPMContext.StorageRoot
    let rootName: [UInt8]
    let salt: [UInt8]
    let verifier: [UInt8]
    /// Both as the chip writes them (TPM 2.0 Part 2, sections 12.2.5 and 12.3.7).
    let publicArea: [UInt8]
    let privateArea: [UInt8]

    static let saltByteCount = 32
    private static let nameByteCount = 2 + SHA256.byteCount

    init(
      root: TPMContext.StorageRoot, rootName: [UInt8], salt: [UInt8], verifier: [UInt8],
      publicArea: [UInt8], privateArea: [UInt8]
    ) {
      self.root = root
      self.rootName = rootName
      self.salt = salt
      self.verifier = verifier
      self.publicArea = publicArea
      self.privateArea = privateArea
    }

    /// - Throws: `EnclaveError.corrupt`
    init(_ handle: EnclaveHandle) throws(EnclaveError) {
      // Nothing in it is secret: the private area is encrypted by the chip.
      let bytes = handle.body.withBytes { [UInt8](copying: $0) }
      let span = bytes.rawSpan
      var cursor = ByteCursor()
      do {
        guard let root = TPMContext.StorageRoot(rawValue: try cursor.readByte(span)) else {
          throw EnclaveError.corrupt
        }
        self.root = root
        rootName = try cursor.readBytes(span, count: Self.nameByteCount)
        salt = try cursor.readBytes(span, count: Self.saltByteCount)
        verifier = try cursor.readBytes(span, count: Int(try cursor.readByte(span)))
        publicArea = try cursor.readBytes(span, count: try cursor.readUInt16(span))
        privateArea = try cursor.readBytes(span, count: try cursor.readUInt16(span))
        guard cursor.isAtEnd(of: span),
          handle.access.requirement.takesBiometry ? P256.isPublicKey(verifier) : verifier.isEmpty
        else { throw EnclaveError.corrupt }
      } catch {
        throw .corrupt
      }
      // The head must match the key's public area: otherwise a changed head could name another public key, or
      // a requirement that the key does not have.
      guard try TPMTemplate.isPublicArea(publicArea, of: handle, verifier: verifier) else { throw .corrupt }
    }

    var bytes: [UInt8] {
      var bytes = [root.rawValue] + rootName + salt + [UInt8(verifier.count)] + verifier
      bytes.append(bigEndian: UInt16(publicArea.count))
      bytes += publicArea
      bytes.append(bigEndian: UInt16(privateArea.count))
      return bytes + privateArea
    }

    /// The value that the chip compares. It is derived from the passcode, so the chip never sees the
    /// passcode.
    ///
    /// The last byte is made odd, since the chip drops zeros at the end of an authorization value.
    static func authValue(
      _ passcode: SharedSecretBytes, salt: [UInt8], info: StaticString = "coffer enclave v1 authorization"
    ) -> SecretBytes {
      var hkdf = HKDF()
      var value = SecretBytes(zeroed: SHA256.byteCount)
      value.withMutableBytes { value in
        passcode.withBytes { passcode in
          info.withRawSpan {
            hkdf.derive(ikm: passcode, salt: salt.rawSpan, info: $0, into: &value)
          }
        }
        unsafe value.withUnsafeMutableBytes { unsafe $0[SHA256.byteCount - 1] |= 1 }
      }
      return value
    }
  }
#endif
