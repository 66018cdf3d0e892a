// SPDX-License-Identifier: Apache-2.0
//
// Protected app data (PD-*; Specs/protected-data.md): five small domains, each sealed under a random key of
// its own, which is wrapped under a root secret that only this device's enclave opens. Unreadable data is
// never taken for empty, and only an explicit reset replaces it.
//
// Concurrency: one lock around everything, so that after a relock no thread has a key. Closures that run
// under it (the bodies of updates) MUST NOT call back. Participants of a relock are called without it. The
// file's writer lock keeps other processes out.

public import Enclaves
public import Keychains
internal import Logging
internal import Secrets
public import Storage
internal import Synchronization

/// The protected data of one coffer. Make one value for a file, and keep it.
public final class ProtectedDomains: Sendable {
  let file: DatabaseFile
  let keychain: KeychainService
  let enclaves: @Sendable (EnclaveKind) -> (any Enclave)?
  let bindingKind: EnclaveKind
  let latch: RestartLatch
  let core: Mutex<Core>
  let participants = Mutex<[any RelockParticipant]>([])
  /// Relocks that are under way: counted before they ask for `core`, so that later calls are refused.
  let relockCount = Atomic(0)

  /// The state that the lock protects.
  struct Core {
    var fault: FrameworkFault?
    var session: Session?
  }

  /// The state while unlocked. Dropping it erases every key.
  struct Session {
    let keys: RootKeys
    /// The registry's revision and the domains' generations as last seen; nothing older is accepted.
    var revision: UInt64
    var generations: [ProtectedDomain: UInt64] = [:]
    var domains: [ProtectedDomain: DomainState] = [:]

    init(keys: RootKeys, _ examination: Examination) {
      self.keys = keys
      revision = examination.registry.revision
      note(examination)
    }

    /// Takes over the findings of an examination.
    mutating func note(_ examination: Examination) {
      revision = examination.registry.revision
      for (domain, finding) in examination.findings { note(domain, finding) }
    }

    mutating func note(_ domain: ProtectedDomain, _ finding: Finding) {
      domains[domain] = finding.state
      if case .open(let opened) = finding { generations[domain] = opened.record.generation }
    }
  }

  /// Reads the registry, and nothing secret (PD-21). The keychain is not asked.
  ///
  /// - Parameters:
  ///   - enclaves: the enclave of a kind; nil if there is none. One kind never replaces another (D36).
  ///   - bindingKind: the kind of enclave that makes the binding key when a root secret of the first format
  ///     is converted.
  ///   - latch: the process's, except in tests.
  /// - Throws: `.unprotectedFiles`, `.storage`, `.restartRequired`. A damaged registry is not an error here;
  ///   see ``state``.
  public init(
    file: DatabaseFile, keychain: KeychainService,
    enclaves: @escaping @Sendable (EnclaveKind) -> (any Enclave)?, bindingKind: EnclaveKind = .tpm,
    latch: RestartLatch = .process
  ) throws(ProtectedDataError) {
    guard !latch.isDown else { throw .restartRequired }
    self.file = file
    self.keychain = keychain
    self.enclaves = enclaves
    self.bindingKind = bindingKind
    self.latch = latch
    try Self.checkProtection(file)
    let fault: FrameworkFault?
    do {
      _ = try Self.registry(StoredImage.read(file, []))
      fault = nil
    } catch .frameworkRecovery(let found) { fault = found }
    core = Mutex(Core(fault: fault))
  }

  /// The known state of protected data. Nothing is read for the answer.
  public var state: ProtectedState {
    if latch.isDown { return .restartRequired }
    if isRelocking { return .locked }
    return core.withLock { core in
      if core.session != nil { return .unlocked }
      return core.fault.map(ProtectedState.frameworkRecovery) ?? .locked
    }
  }

  /// The state of each domain; empty while locked.
  public var domains: [ProtectedDomain: DomainState] {
    guard state == .unlocked else { return [:] }
    return core.withLock { $0.session?.domains ?? [:] }
  }

  /// Refuses to open or make anything where others can reach it (PD-24).
  static func checkProtection(_ file: DatabaseFile) throws(ProtectedDataError) {
    guard try ProtectedDataError.sorting({ try file.isPrivate() }) else { throw .unprotectedFiles }
  }

  /// The registry, read without any key.
  static func registry(_ image: StoredImage) throws(ProtectedDataError) -> Registry {
    guard let record = image.record else { throw .frameworkRecovery(.registryMissing) }
    guard let registry = Registry(record: record) else { throw .frameworkRecovery(.registryCorrupt) }
    return registry
  }

  /// Runs `body` under the lock, unless a relock or the latch forbids it.
  func withCore<R>(
    _ body: (inout Core) throws(ProtectedDataError) -> R
  ) throws(ProtectedDataError) -> R {
    try core.withLock { core throws(ProtectedDataError) in
      guard !latch.isDown else { throw .restartRequired }
      guard !isRelocking else { throw .locked }
      do throws(ProtectedDataError) { return try body(&core) } catch {
        if case .frameworkRecovery(let fault) = error {
          core.session = nil
          core.fault = fault
        }
        throw error
      }
    }
  }

  private var isRelocking: Bool { relockCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// The session, or an error that says why there is none.
  static func session(_ core: Core) throws(ProtectedDataError) -> Session {
    if let session = core.session { return session }
    if let fault = core.fault { throw .frameworkRecovery(fault) }
    throw .locked
  }

  static let log = Logger(label: "app.rial.protected-data")

  /// Logs an error without values (D30).
  static func logged(_ error: ProtectedDataError, _ operation: StaticString) -> ProtectedDataError {
    log.error("\(operation) failed", metadata: ["reason": "\(error)"])
    return error
  }
}
