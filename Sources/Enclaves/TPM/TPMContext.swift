// SPDX-License-Identifier: Apache-2.0
//
// One conversation with the chip: connection, storage root key, one salted session. Short-lived, because
// ESYS keeps the responses of the chip in buffers that it does not wipe. After a failure of the transport
// nothing more is said on it: what was under way is unknown.

#if TPM
  internal import CTSS
  internal import Glibc
  internal import Primitives

  /// What the connection needs of C, and what must be let go of.
  @safe
  final class TPMContext {
    private var tcti: OpaquePointer?
    private var esys: OpaquePointer?
    /// Objects and sessions that the chip keeps for this conversation; there is room for three of each.
    private var open: [ESYS_TR] = []
    private var isBroken = false

    /// The library would write to standard error.
    private static let isSilent: Bool = unsafe setenv("TSS2_LOG", "all+none", 1) == 0

    /// - Throws: `EnclaveError.unavailable`
    init(tcti name: String) throws(EnclaveError) {
      _ = Self.isSilent
      guard unsafe Tss2_TctiLdr_Initialize(name, &tcti) == 0 else { throw .unavailable }
      guard unsafe Esys_Initialize(&esys, tcti, nil) == 0 else {
        unsafe Tss2_TctiLdr_Finalize(&tcti)
        throw .unavailable
      }
    }

    deinit {
      if !isBroken {
        // Newest first: the storage root key goes last.
        for handle in open.reversed() { unsafe Esys_FlushContext(esys, handle) }
      }
      unsafe Esys_Finalize(&esys)
      unsafe Tss2_TctiLdr_Finalize(&tcti)
    }

    let none = COFFER_ESYS_NONE

    /// Runs one command.
    @unsafe
    func run(_ body: (OpaquePointer?) -> UInt32) throws(EnclaveError) {
      guard !isBroken else { throw .notAnswering }
      let code = unsafe body(esys)
      guard code != 0 else { return }
      let error = EnclaveError(responseCode: code)
      if error == .notAnswering { isBroken = true }
      throw error
    }

    /// Notes an object or session that is to be flushed at the end.
    func own(_ handle: ESYS_TR) { open.append(handle) }

    /// Flushes an object or session now: the chip has room for three.
    func flush(_ handle: ESYS_TR) {
      guard let index = open.lastIndex(of: handle), !isBroken else { return }
      open.remove(at: index)
      unsafe Esys_FlushContext(esys, handle)
    }

    /// Frees what ESYS allocated, wiped.
    @unsafe
    static func free<T>(_ pointer: UnsafeMutablePointer<T>?) {
      guard let pointer = unsafe pointer else { return }
      unsafe UnsafeMutableRawPointer(pointer).initializeMemory(
        as: UInt8.self, repeating: 0, count: MemoryLayout<T>.size)
      unsafe Esys_Free(pointer)
    }

    // MARK: Storage root

    /// Where the storage root key is.
    enum StorageRoot: UInt8 {
      /// At 0x81000001, where whoever set up the machine put it (TCG TPM v2.0 Provisioning Guidance, 7.5.1).
      case persistent = 1
      /// Made anew from the owner's seed and a template; the same each time.
      case template = 2
    }

    static let persistentRoot: TPM2_HANDLE = 0x8100_0001

    /// The storage root key, and its Name.
    func storageRoot(_ place: StorageRoot) throws(EnclaveError) -> (handle: ESYS_TR, name: [UInt8]) {
      var handle = none
      switch place {
      case .persistent:
        try unsafe run { unsafe Esys_TR_FromTPMPublic($0, Self.persistentRoot, none, none, none, &handle) }
      case .template:
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var template = TPMTemplate.storageRoot()
        var outside = TPM2B_DATA()
        var selection = TPML_PCR_SELECTION()
        try unsafe run {
          unsafe Esys_CreatePrimary(
            $0, COFFER_ESYS_OWNER, COFFER_ESYS_PASSWORD, none, none, &sensitive, &template, &outside,
            &selection, &handle, nil, nil, nil, nil)
        }
        own(handle)
      }
      return (handle, try name(handle))
    }

    /// The persistent storage root key if it is one of ours to use: P-256, for storage.
    func hasPersistentRoot() -> Bool {
      var handle = none
      var found: UnsafeMutablePointer<TPM2B_PUBLIC>?
      defer { unsafe Self.free(found) }
      do throws(EnclaveError) {
        try unsafe run { unsafe Esys_TR_FromTPMPublic($0, Self.persistentRoot, none, none, none, &handle) }
        try unsafe run { unsafe Esys_ReadPublic($0, handle, none, none, none, &found, nil, nil) }
      } catch {
        return false
      }
      guard let area = unsafe found?.pointee.publicArea else { return false }
      let wanted = COFFER_OBJECT_RESTRICTED | COFFER_OBJECT_DECRYPT | COFFER_OBJECT_FIXEDTPM
      return unsafe area.type == COFFER_ALG_ECC && area.nameAlg == COFFER_ALG_SHA256
        && area.parameters.eccDetail.curveID == COFFER_CURVE_P256 && area.objectAttributes & wanted == wanted
    }

    /// The Name of an object: algorithm (2) ‖ digest of its public area (TPM 2.0 Part 1, section 16).
    func name(_ handle: ESYS_TR) throws(EnclaveError) -> [UInt8] {
      var found: UnsafeMutablePointer<TPM2B_NAME>?
      defer { unsafe Self.free(found) }
      try unsafe run { unsafe Esys_TR_GetName($0, handle, &found) }
      guard let found = unsafe found else { throw .failed(code: 0) }
      return unsafe withUnsafeBytes(of: &found.pointee.name) { unsafe Array($0.prefix(Int(found.pointee.size))) }
    }

    // MARK: Sessions

    /// A session salted with the storage root key, that encrypts the first parameter of commands and, where
    /// the chip can, of answers.
    func salted(_ root: ESYS_TR, encryptsAnswers: Bool) throws(EnclaveError) -> ESYS_TR {
      let session = try start(root, COFFER_SESSION_HMAC)
      try setAttributes(session, encryptsAnswers: encryptsAnswers)
      return session
    }

    /// A policy session; parameters are encrypted by another one beside it.
    func policy(_ root: ESYS_TR) throws(EnclaveError) -> ESYS_TR { try start(root, COFFER_SESSION_POLICY) }

    func setAttributes(_ session: ESYS_TR, encryptsAnswers: Bool) throws(EnclaveError) {
      let wanted =
        COFFER_SESSION_CONTINUE | COFFER_SESSION_DECRYPT | (encryptsAnswers ? COFFER_SESSION_ENCRYPT : 0)
      try unsafe run { unsafe Esys_TRSess_SetAttributes($0, session, wanted, 0xFF) }
    }

    private func start(_ root: ESYS_TR, _ kind: TPM2_SE) throws(EnclaveError) -> ESYS_TR {
      var symmetric = TPMT_SYM_DEF()
      symmetric.algorithm = COFFER_ALG_AES
      unsafe symmetric.keyBits.aes = 128
      unsafe symmetric.mode.aes = COFFER_ALG_CFB
      var session = none
      try unsafe run {
        unsafe Esys_StartAuthSession(
          $0, root, none, none, none, none, nil, kind, &symmetric, COFFER_ALG_SHA256, &session)
      }
      own(session)
      return session
    }

    /// Asks for random bytes and drops them, so that they stand where the last answer stood.
    func overwriteLastAnswer() {
      var bytes: UnsafeMutablePointer<TPM2B_DIGEST>?
      defer { unsafe Self.free(bytes) }
      for _ in 0..<2 {
        unsafe try? run { unsafe Esys_GetRandom($0, none, none, none, 32, &bytes) }
        unsafe Self.free(bytes)
        unsafe bytes = nil
      }
    }

    // MARK: Lockout

    /// What the chip says of wrong tries.
    struct Lockout {
      var isLocked: Bool
      var triesLeft: Int
      /// Seconds after which one more try is given, at most.
      var interval: Int
    }

    func lockout() throws(EnclaveError) -> Lockout {
      let flags = try property(COFFER_PT_PERMANENT)
      let counter = try property(COFFER_PT_LOCKOUT_COUNTER)
      let most = try property(COFFER_PT_MAX_AUTH_FAIL)
      let interval = try property(COFFER_PT_LOCKOUT_INTERVAL)
      return Lockout(
        isLocked: flags & COFFER_PERMANENT_INLOCKOUT != 0, triesLeft: max(0, Int(most) - Int(counter)),
        interval: Int(interval))
    }

    private func property(_ property: UInt32) throws(EnclaveError) -> UInt32 {
      var more: TPMI_YES_NO = 0
      var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
      defer { unsafe Self.free(data) }
      try unsafe run {
        unsafe Esys_GetCapability($0, none, none, none, COFFER_CAP_PROPERTIES, property, 1, &more, &data)
      }
      guard let found = unsafe data?.pointee.data.tpmProperties, found.count == 1,
        found.tpmProperty.0.property == property
      else { throw .failed(code: 0) }
      return found.tpmProperty.0.value
    }
  }
#endif
