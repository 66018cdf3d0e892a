// SPDX-License-Identifier: Apache-2.0
//
// Defining, finding and using the index of one counter in a conversation (TPM 2.0 Part 3, section 31).

#if TPM
  internal import CTSS
  internal import Secrets

  extension TPMContext {
    /// Defines an index of a counter.
    ///
    /// - Returns: nil when something is defined at this index already.
    /// - Throws: `EnclaveError.counterRefused` when the chip refuses.
    func define(
      _ index: TPMCounterIndex, _ secret: TPMCounterSecret, _ session: ESYS_TR
    ) throws(EnclaveError) -> ESYS_TR? {
      try setAttributes(session, encryptsAnswers: false)
      var area = index.publicArea(isWritten: false)
      var auth = TPM2B_AUTH()
      var handle = none
      defer {
        unsafe Self.erase(&auth)
        // The library checks the arguments before the handle, so this sends nothing.
        var nothing = none
        unsafe try? run {
          unsafe tss.Esys_NV_DefineSpace($0, Self.noObject, session, none, none, &auth, &area, &nothing)
        }
      }
      unsafe Self.copy(secret.authValue, to: &auth)
      do {
        try unsafe run {
          unsafe tss.Esys_NV_DefineSpace($0, COFFER_ESYS_OWNER, session, none, none, &auth, &area, &handle)
        }
      } catch {
        if case .failed(let code) = error, EnclaveError.blamesIndex(code) { return nil }
        throw error.isOfChip ? .counterRefused : error
      }
      return handle
    }

    /// The index, if it has one of these Names; nil when there is none, or another one in its place.
    ///
    /// A missing index is not authenticated. An index that exists is: every authorized command contains its
    /// Name, so another index accepts none of them.
    func find(_ index: TPM2_HANDLE, names: [[UInt8]]) throws(EnclaveError) -> ESYS_TR? {
      var handle = none
      do {
        try unsafe run { unsafe tss.Esys_TR_FromTPMPublic($0, index, none, none, none, &handle) }
      } catch {
        if case .failed(let code) = error, EnclaveError.blamesHandle(code) { return nil }
        throw error
      }
      if names.contains(try name(handle)) { return handle }
      try unsafe run { unsafe tss.Esys_TR_Close($0, &handle) }
      return nil
    }

    /// The indexes that are defined in the owner's range.
    func ownerIndexes() throws(EnclaveError) -> [TPM2_HANDLE] {
      var found: [TPM2_HANDLE] = []
      while true {
        let next = found.last.map { $0 + 1 } ?? ChipCounter.indexes.lowerBound
        let (some, hasMore) = try handles(from: next)
        // In rising order, as the specification demands, so that this loop ends.
        let new = some.filter { $0 >= next && ChipCounter.indexes.contains($0) }
        found += new.sorted()
        guard hasMore, new.count == some.count, !new.isEmpty else { return found }
      }
    }

    /// Counts up.
    func increment(_ counter: AuthorizedKey) throws(EnclaveError) {
      try setAttributes(counter.first, encryptsCommands: false, encryptsAnswers: false)
      try unsafe run {
        unsafe tss.Esys_NV_Increment($0, counter.handle, counter.handle, counter.first, none, none)
      }
    }

    /// Reads; the answer is authenticated by the counter's own authorization.
    func value(_ counter: AuthorizedKey) throws(EnclaveError) -> UInt64 {
      try setAttributes(counter.first, encryptsCommands: false, encryptsAnswers: true)
      var found: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
      defer { unsafe release(found) }
      try unsafe run {
        unsafe tss.Esys_NV_Read(
          $0, counter.handle, counter.handle, counter.first, none, none,
          UInt16(TPMCounterIndex.valueByteCount), 0, &found)
      }
      guard let found = unsafe found, unsafe Int(found.pointee.size) == TPMCounterIndex.valueByteCount else {
        throw .failed(code: 0)
      }
      return unsafe withUnsafeBytes(of: &found.pointee.buffer) { buffer in
        unsafe buffer.prefix(TPMCounterIndex.valueByteCount).reduce(0) { $0 << 8 | UInt64($1) }
      }
    }

    /// Deletes an index with the owner's authorization.
    ///
    /// - Throws: `EnclaveError.counterRefused` when the chip refuses.
    func undefine(_ handle: ESYS_TR, _ session: ESYS_TR) throws(EnclaveError) {
      try setAttributes(session, encryptsCommands: false, encryptsAnswers: false)
      do {
        try unsafe run {
          unsafe tss.Esys_NV_UndefineSpace($0, COFFER_ESYS_OWNER, handle, session, none, none)
        }
      } catch {
        throw error.isOfChip ? .counterRefused : error
      }
    }

    private func handles(from first: TPM2_HANDLE) throws(EnclaveError) -> (
      found: [TPM2_HANDLE], hasMore: Bool
    ) {
      var more: TPMI_YES_NO = 0
      var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
      defer { unsafe release(data) }
      try unsafe run {
        unsafe tss.Esys_GetCapability(
          $0, none, none, none, COFFER_CAP_HANDLES, first, COFFER_MAX_HANDLES, &more, &data)
      }
      guard let data = unsafe data, unsafe data.pointee.capability == COFFER_CAP_HANDLES else {
        throw .failed(code: 0)
      }
      let found = unsafe withUnsafeBytes(of: &data.pointee.data.handles.handle) { buffer in
        unsafe Array(buffer.bindMemory(to: TPM2_HANDLE.self).prefix(Int(data.pointee.data.handles.count)))
      }
      return (found, more != 0)
    }
  }
#endif
