// SPDX-License-Identifier: Apache-2.0
//
// A counter in a chip is an index of its non-volatile memory (TPM 2.0 Part 1, section 37; Part 2, section
// 13), with derived values (Specs/enclaves.md, "Counters").

#if TPM
  internal import CTSS
  internal import Primitives
  internal import Secrets

  /// One counter's authorization on one chip.
  struct TPMCounterSecret {
    /// The value that the chip compares.
    let authValue: SharedSecretBytes
    /// In the public area of the counter's index. It shows to which authorization the index belongs, and
    /// reveals nothing else.
    let mark: [UInt8]

    static let byteCount = SymmetricKey.byteCount

    /// - Parameter rootName: of the chip's storage root key, so that no chip learns the value of another.
    /// - Throws: `EnclaveError.invalidInput` for another number of bytes than 32.
    init(_ authorization: SharedSecretBytes, rootName: [UInt8]) throws(EnclaveError) {
      guard authorization.count == Self.byteCount else { throw .invalidInput }
      authValue = SharedSecretBytes(
        TPMBody.authValue(authorization, salt: rootName, info: "coffer counter v1 authorization"))
      var hkdf = HKDF()
      let info: StaticString = "coffer counter v1 mark"
      var mark = [UInt8](repeating: 0, count: SHA256.byteCount)
      var span = mark.mutableSpan
      var output = unsafe span.mutableBytes
      authorization.withBytes { authorization in
        info.withRawSpan {
          hkdf.derive(ikm: authorization, salt: rootName.rawSpan, info: $0, into: &output)
        }
      }
      self.mark = mark
    }
  }

  /// The index of a counter.
  struct TPMCounterIndex {
    let handle: TPM2_HANDLE
    let mark: [UInt8]

    static let valueByteCount = 8

    /// The public area of the index, before or after it was first counted up.
    ///
    /// The mark is in the field for a policy. No attribute makes the chip use that policy, so nobody needs to
    /// satisfy it.
    func publicArea(isWritten: Bool) -> TPM2B_NV_PUBLIC {
      var area = TPM2B_NV_PUBLIC()
      area.nvPublic.nvIndex = handle
      area.nvPublic.nameAlg = COFFER_ALG_SHA256
      area.nvPublic.attributes =
        COFFER_NV_COUNTER | COFFER_NV_AUTHREAD | COFFER_NV_AUTHWRITE | COFFER_NV_NODA
        | (isWritten ? COFFER_NV_WRITTEN : 0)
      unsafe TPMTemplate.fill(&area.nvPublic.authPolicy.buffer, &area.nvPublic.authPolicy.size, mark)
      area.nvPublic.dataSize = UInt16(Self.valueByteCount)
      return area
    }

    /// The Name of the index: algorithm (2) ‖ SHA-256 of its public area (TPM 2.0 Part 1, section 16).
    func name(isWritten: Bool = true) throws(EnclaveError) -> [UInt8] {
      guard let tss = unsafe coffer_tss_open()?.pointee else { throw .noLibrary }
      var area = publicArea(isWritten: isWritten).nvPublic
      let bytes = unsafe try TPMTemplate.marshalled {
        unsafe tss.Tss2_MU_TPMS_NV_PUBLIC_Marshal(&area, $0, $1, $2)
      }
      var name: [UInt8] = []
      name.append(bigEndian: COFFER_ALG_SHA256)
      return name + SHA256.hash(bytes.rawSpan)
    }
  }
#endif
