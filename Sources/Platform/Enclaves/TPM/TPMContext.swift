// SPDX-License-Identifier: Apache-2.0
//
// One conversation with the chip: connection, storage root key, one salted session. Short-lived, because ESYS
// keeps the responses of the chip in buffers that it does not wipe. After a failure of the transport it is
// not used any more: the state of the last command is unknown.

#if TPM
  internal import CTSS
  internal import Glibc
  internal import Primitives

  /// The C objects of the connection, and what must be freed.
  @safe
  final class TPMContext {
    /// The library.
    let tss: coffer_tss
    private var tcti: OpaquePointer?
    private var esys: OpaquePointer?
    /// Objects and sessions that the chip keeps for this conversation; there is room for three of each.
    private var open: [ESYS_TR] = []
    private var isBroken = false

    /// The library would write to standard error.
    private static let isSilent: Bool = unsafe setenv("TSS2_LOG", "all+none", 1) == 0

    /// - Parameter library: nil for one that is missing.
    /// - Throws: `EnclaveError.unavailable`, `.noLibrary`.
    init(
      tcti name: String, _ library: coffer_tss? = unsafe coffer_tss_open()?.pointee
    ) throws(EnclaveError) {
      guard let tss = library else { throw .noLibrary }
      self.tss = tss
      _ = Self.isSilent
      // The loader takes an empty name for the first TPM that it finds.
      let isOpen = withoutPipeSignal {
        guard !name.isEmpty, unsafe tss.Tss2_TctiLdr_Initialize(name, &tcti) == 0 else { return false }
        guard unsafe tss.Esys_Initialize(&esys, tcti, nil) == 0 else {
          unsafe tss.Tss2_TctiLdr_Finalize(&tcti)
          return false
        }
        return true
      }
      guard isOpen else { throw .unavailable }
    }

    deinit {
      withoutPipeSignal {
        if !isBroken {
          // Newest first: the storage root key goes last.
          for handle in open.reversed() { _ = unsafe tss.Esys_FlushContext(esys, handle) }
        }
        unsafe tss.Esys_Finalize(&esys)
        unsafe tss.Tss2_TctiLdr_Finalize(&tcti)
      }
    }

    let none = COFFER_ESYS_NONE

    /// Runs one command.
    @unsafe
    func run(_ body: (OpaquePointer?) -> UInt32) throws(EnclaveError) {
      guard !isBroken else { throw .notAnswering }
      let code = withoutPipeSignal { unsafe body(esys) }
      guard code != 0 else { return }
      let error = EnclaveError(responseCode: code)
      if error == .notAnswering { isBroken = true }
      throw error
    }

    /// Registers an object or session to flush at the end.
    func own(_ handle: ESYS_TR) { open.append(handle) }

    /// Flushes an object or session now: the chip has room for three.
    func flush(_ handle: ESYS_TR) {
      guard let index = open.lastIndex(of: handle), !isBroken else { return }
      open.remove(at: index)
      _ = withoutPipeSignal { unsafe tss.Esys_FlushContext(esys, handle) }
    }

    /// Frees what ESYS allocated, wiped.
    @unsafe
    func release<T>(_ pointer: UnsafeMutablePointer<T>?) {
      guard let pointer = unsafe pointer else { return }
      unsafe UnsafeMutableRawPointer(pointer).initializeMemory(
        as: UInt8.self, repeating: 0, count: MemoryLayout<T>.size)
      unsafe tss.Esys_Free(pointer)
    }

    // MARK: Storage root

    /// Where the storage root key is.
    enum StorageRoot: UInt8 {
      /// At 0x81000001, where the setup of the machine put it (TCG TPM v2.0 Provisioning Guidance, 7.5.1).
      case persistent = 1
      /// Made again from the owner's seed and a template; the same each time.
      case template = 2
    }

    static let persistentRoot: TPM2_HANDLE = 0x8100_0001

    /// The storage root key for new keys: the persistent one if it can be used, else the template's.
    func storageRootForNewKeys() throws(EnclaveError) -> (place: StorageRoot, handle: ESYS_TR, name: [UInt8])
    {
      if let found = try persistentStorageRoot() { return (.persistent, found.handle, found.name) }
      let made = try templateStorageRoot()
      return (.template, made.handle, made.name)
    }

    /// The storage root key of that Name, first looked for at its place.
    ///
    /// The persistent key may equal the template's key, and may have been added or removed since.
    /// - Throws: `EnclaveError.otherChip` when the chip has no such key.
    func storageRoot(named name: [UInt8], at place: StorageRoot) throws(EnclaveError) -> ESYS_TR {
      for place in place == .persistent ? [StorageRoot.persistent, .template] : [.template, .persistent] {
        switch place {
        case .persistent:
          if let found = try persistentStorageRoot(), found.name == name { return found.handle }
        case .template:
          let made = try templateStorageRoot()
          if made.name == name { return made.handle }
          flush(made.handle)
        }
      }
      throw .otherChip
    }

    /// The key made of the template, and its Name.
    private func templateStorageRoot() throws(EnclaveError) -> (handle: ESYS_TR, name: [UInt8]) {
      var handle = none
      var sensitive = TPM2B_SENSITIVE_CREATE()
      var template = TPMTemplate.storageRoot()
      var outside = TPM2B_DATA()
      var selection = TPML_PCR_SELECTION()
      do {
        try unsafe run {
          unsafe tss.Esys_CreatePrimary(
            $0, COFFER_ESYS_OWNER, COFFER_ESYS_PASSWORD, none, none, &sensitive, &template, &outside,
            &selection, &handle, nil, nil, nil, nil)
        }
      } catch {
        throw error == .wrongPasscode ? .ownerPassword : error
      }
      own(handle)
      return (handle, try TPMTemplate.name(try publicArea(handle)))
    }

    /// The persistent key, if it is for storage, of P-256, and made by this chip.
    private func persistentStorageRoot() throws(EnclaveError) -> (handle: ESYS_TR, name: [UInt8])? {
      var handle = none
      do {
        try unsafe run {
          unsafe tss.Esys_TR_FromTPMPublic($0, Self.persistentRoot, none, none, none, &handle)
        }
      } catch {
        if case .failed(let code) = error, EnclaveError.blamesHandle(code) { return nil }
        throw error
      }
      let area = try publicArea(handle)
      let wanted = COFFER_OBJECT_RESTRICTED | COFFER_OBJECT_DECRYPT | COFFER_OBJECT_FIXEDTPM
      guard area.publicArea.type == COFFER_ALG_ECC, area.publicArea.nameAlg == COFFER_ALG_SHA256,
        unsafe area.publicArea.parameters.eccDetail.curveID == COFFER_CURVE_P256,
        area.publicArea.objectAttributes & wanted == wanted
      else { return nil }
      return (handle, try TPMTemplate.name(area))
    }

    /// The public area that ESYS holds of an object and salts sessions with.
    ///
    /// ESYS does not verify the Name of a persistent object, unlike that of one it creates. Asking the chip
    /// for the area again does not help: an attacker on the wire could answer differently.
    private func publicArea(_ handle: ESYS_TR) throws(EnclaveError) -> TPM2B_PUBLIC {
      let record = try record(handle)
      var offset = 4 + 2 + Self.nameByteCount(record) + 4
      var area = TPM2B_PUBLIC()
      guard offset < record.count,
        unsafe tss.Tss2_MU_TPM2B_PUBLIC_Unmarshal(record, record.count, &offset, &area) == 0,
        offset == record.count
      else { throw .failed(code: 0) }
      return area
    }

    /// The Name that ESYS holds of an object and authorizes commands for: the chip refuses these commands for
    /// an object with another Name.
    func name(_ handle: ESYS_TR) throws(EnclaveError) -> [UInt8] {
      let record = try record(handle)
      return Array(record.dropFirst(4 + 2).prefix(Self.nameByteCount(record)))
    }

    /// The metadata that ESYS holds: handle (4) ‖ Name, TPM2B ‖ type of resource (4) ‖ public area, TPM2B
    private func record(_ handle: ESYS_TR) throws(EnclaveError) -> [UInt8] {
      var bytes: UnsafeMutablePointer<UInt8>?
      var count = 0
      defer { unsafe tss.Esys_Free(bytes) }
      try unsafe run { unsafe tss.Esys_TR_Serialize($0, handle, &bytes, &count) }
      guard let bytes = unsafe bytes, count > 6 else { throw .failed(code: 0) }
      return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private static func nameByteCount(_ record: [UInt8]) -> Int { Int(record[4]) << 8 | Int(record[5]) }

    // MARK: Sessions

    /// A session salted with the storage root key. It encrypts the first parameter of commands and, if the
    /// chip can, of answers.
    func salted(_ root: ESYS_TR, encryptsAnswers: Bool) throws(EnclaveError) -> ESYS_TR {
      let session = try start(root, COFFER_SESSION_HMAC)
      try setAttributes(session, encryptsAnswers: encryptsAnswers)
      return session
    }

    /// A policy session; parameters are encrypted by another one beside it.
    func policy(_ root: ESYS_TR) throws(EnclaveError) -> ESYS_TR { try start(root, COFFER_SESSION_POLICY) }

    func setAttributes(
      _ session: ESYS_TR, encryptsCommands: Bool = true, encryptsAnswers: Bool
    ) throws(EnclaveError) {
      let wanted =
        COFFER_SESSION_CONTINUE | (encryptsCommands ? COFFER_SESSION_DECRYPT : 0)
        | (encryptsAnswers ? COFFER_SESSION_ENCRYPT : 0)
      try unsafe run { unsafe tss.Esys_TRSess_SetAttributes($0, session, wanted, 0xFF) }
    }

    private func start(_ root: ESYS_TR, _ kind: TPM2_SE) throws(EnclaveError) -> ESYS_TR {
      var symmetric = TPMT_SYM_DEF()
      symmetric.algorithm = COFFER_ALG_AES
      unsafe symmetric.keyBits.aes = 128
      unsafe symmetric.mode.aes = COFFER_ALG_CFB
      var session = none
      try unsafe run {
        unsafe tss.Esys_StartAuthSession(
          $0, root, none, none, none, none, nil, kind, &symmetric, COFFER_ALG_SHA256, &session)
      }
      own(session)
      return session
    }

    /// Asks for the public area of `key`, so that it overwrites the chip's last answer in the buffer.
    ///
    /// On every chip the area is longer than a point. Random bytes would not do: a chip may give fewer than
    /// were asked for.
    func overwriteLastAnswer(_ key: ESYS_TR) {
      var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
      defer { unsafe release(area) }
      unsafe try? run { unsafe tss.Esys_ReadPublic($0, key, none, none, none, &area, nil, nil) }
    }

    // MARK: Lockout

    func lockout() throws(EnclaveError) -> TPMLockoutStatus {
      let flags = try property(COFFER_PT_PERMANENT)
      let counter = try property(COFFER_PT_LOCKOUT_COUNTER)
      let most = try property(COFFER_PT_MAX_AUTH_FAIL)
      let interval = try property(COFFER_PT_LOCKOUT_INTERVAL)
      return TPMLockoutStatus(
        isLocked: flags & COFFER_PERMANENT_INLOCKOUT != 0, secondsLeft: Int(interval),
        triesLeft: max(0, Int(most) - Int(counter)))
    }

    private func property(_ property: UInt32) throws(EnclaveError) -> UInt32 {
      var more: TPMI_YES_NO = 0
      var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
      defer { unsafe release(data) }
      try unsafe run {
        unsafe tss.Esys_GetCapability($0, none, none, none, COFFER_CAP_PROPERTIES, property, 1, &more, &data)
      }
      guard let found = unsafe data?.pointee.data.tpmProperties, found.count == 1,
        found.tpmProperty.0.property == property
      else { throw .failed(code: 0) }
      return found.tpmProperty.0.value
    }
  }
#endif
