// SPDX-License-Identifier: Apache-2.0
//
// Counters in a TPM 2.0. A counter outlives the process that made it, unlike a key: it is in the chip's own
// memory until somebody deletes it.

#if TPM
  internal import CTSS
  internal import Primitives
  public import Secrets

  extension TPMEnclave: CounterEnclave {
    /// How often another index is tried. An index is hardly ever taken between asking and defining.
    private static let triesForIndex = 16

    /// Makes an NV counter, or finds the one of this authorization; see ``CounterEnclave``.
    public func createCounter(
      authorization: SharedSecretBytes
    ) throws(EnclaveError) -> (counter: ChipCounter, value: UInt64) {
      guard authorization.count == TPMCounterSecret.byteCount else { throw .invalidInput }
      return try converse { context throws(EnclaveError) in
        let root = try Self.root(context)
        let secret = try TPMCounterSecret(authorization, rootName: root.name)
        let session = try context.salted(root.handle, encryptsAnswers: false)
        let taken = try context.ownerIndexes()
        let found = try Self.adopt(context, among: taken, secret, session)
        let (index, value) =
          if let found { found } else { try Self.define(context, besides: taken, secret, session) }
        let counter = ChipCounter(
          rootPlace: root.place.rawValue, rootName: root.name, index: index.handle, name: try index.name())
        return (counter, value)
      }
    }

    /// Reads the NV counter; see ``CounterEnclave``.
    public func counterValue(
      _ counter: ChipCounter, authorization: SharedSecretBytes
    ) throws(EnclaveError) -> UInt64 {
      try use(counter, authorization) { context, counter throws(EnclaveError) in try context.value(counter) }
    }

    /// Increments the NV counter; see ``CounterEnclave``.
    public func incrementCounter(
      _ counter: ChipCounter, authorization: SharedSecretBytes
    ) throws(EnclaveError) -> UInt64 {
      try use(counter, authorization) { context, counter throws(EnclaveError) in
        try context.increment(counter)
        return try context.value(counter)
      }
    }

    /// Undefines the NV counter; see ``CounterEnclave``.
    public func deleteCounter(_ counter: ChipCounter) throws(EnclaveError) {
      try converse { context throws(EnclaveError) in
        let root = try context.storageRoot(of: counter)
        guard let handle = try context.find(counter.index, names: [counter.name]) else { throw .counterGone }
        try context.undefine(handle, try context.salted(root, encryptsAnswers: false))
      }
    }

    // MARK: Steps

    /// The storage root key for a new counter. If it cannot be made, there can be no counter.
    private static func root(
      _ context: TPMContext
    ) throws(EnclaveError) -> (place: TPMContext.StorageRoot, handle: ESYS_TR, name: [UInt8]) {
      do { return try context.storageRootForNewKeys() } catch {
        throw error == .unavailable || error == .ownerPassword ? .counterRefused : error
      }
    }

    /// Finds the counter of this authorization among the indexes, if there is one.
    ///
    /// The mark is public, so anybody who may use the chip can define an index with it, but not one that
    /// accepts this authorization. Such an index is skipped.
    private static func adopt(
      _ context: TPMContext, among indexes: [TPM2_HANDLE], _ secret: TPMCounterSecret, _ session: ESYS_TR
    ) throws(EnclaveError) -> (TPMCounterIndex, UInt64)? {
      for handle in indexes {
        let index = TPMCounterIndex(handle: handle, mark: secret.mark)
        let names = [try index.name(), try index.name(isWritten: false)]
        guard let found = try context.find(handle, names: names) else { continue }
        do throws(EnclaveError) { return (index, try countUp(context, found, secret, session)) } catch {
          guard error == .wrongPasscode else { throw error }
        }
      }
      return nil
    }

    /// Defines an index of a random number that nobody has, and counts it up: before that it has no value.
    private static func define(
      _ context: TPMContext, besides taken: [TPM2_HANDLE], _ secret: TPMCounterSecret, _ session: ESYS_TR
    ) throws(EnclaveError) -> (TPMCounterIndex, UInt64) {
      for _ in 0..<triesForIndex {
        let handle = randomIndex()
        guard !taken.contains(handle) else { continue }
        let index = TPMCounterIndex(handle: handle, mark: secret.mark)
        guard let found = try context.define(index, secret, session) else { continue }
        return (index, try countUp(context, found, secret, session))
      }
      throw .counterRefused
    }

    private static func randomIndex() -> TPM2_HANDLE {
      // The range is a power of two, so that no number is likelier than another.
      let random = SystemRandom.publicBytes(count: 4).reduce(0) { $0 << 8 | TPM2_HANDLE($1) }
      return ChipCounter.indexes.lowerBound + random % TPM2_HANDLE(ChipCounter.indexes.count)
    }

    private static func countUp(
      _ context: TPMContext, _ handle: ESYS_TR, _ secret: TPMCounterSecret, _ session: ESYS_TR
    ) throws(EnclaveError) -> UInt64 {
      let counter = TPMContext.AuthorizedKey(handle: handle, first: session, second: context.none)
      defer { context.forget(counter) }
      try context.setAuth(handle, secret.authValue)
      try context.increment(counter)
      return try context.value(counter)
    }

    /// Finds the counter and authorizes what `body` does with it.
    private func use<R>(
      _ counter: ChipCounter, _ authorization: SharedSecretBytes,
      _ body: (TPMContext, TPMContext.AuthorizedKey) throws(EnclaveError) -> R
    ) throws(EnclaveError) -> R {
      let secret = try TPMCounterSecret(authorization, rootName: counter.rootName)
      let index = TPMCounterIndex(handle: counter.index, mark: secret.mark)
      guard try index.name() == counter.name else { throw .corrupt }
      return try converse { context throws(EnclaveError) in
        let root = try context.storageRoot(of: counter)
        guard let handle = try context.find(counter.index, names: [counter.name]) else { throw .counterGone }
        let session = try context.salted(root, encryptsAnswers: false)
        let found = TPMContext.AuthorizedKey(handle: handle, first: session, second: context.none)
        defer { context.forget(found) }
        try context.setAuth(handle, secret.authValue)
        do throws(EnclaveError) { return try body(context, found) } catch {
          // An index with the same public area and another authorization is somebody else's; or it was
          // deleted just now.
          if error == .wrongPasscode { throw .counterGone }
          if case .failed(let code) = error, EnclaveError.blamesHandle(code) { throw .counterGone }
          throw error
        }
      }
    }
  }

  extension TPMContext {
    /// - Throws: `EnclaveError.otherChip`
    fileprivate func storageRoot(of counter: ChipCounter) throws(EnclaveError) -> ESYS_TR {
      guard let place = StorageRoot(rawValue: counter.rootPlace) else { throw .corrupt }
      return try storageRoot(named: counter.rootName, at: place)
    }
  }
#endif
