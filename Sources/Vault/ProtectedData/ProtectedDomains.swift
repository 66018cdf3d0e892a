// SPDX-License-Identifier: Apache-2.0
//
// Protected app data (PD-*; Specs/protected-data.md): five small domains, each sealed under a random key of its
// own, under a root secret that only this device's enclave opens. Unreadable is never taken for empty, and
// nothing is replaced but by an explicit reset.
//
// Concurrency: one lock around everything, so that a relock knows that nobody still has a key. Whoever is called
// under it (the bodies of updates) MUST NOT call back. Participants of a relock are called without it. Writers of
// other processes are kept out by the file.

public import Enclaves
public import Keychains
internal import Logging
internal import Secrets
public import Storage
internal import Synchronization

/// The protected data of one coffer. Make one for a file, and keep it.
public final class ProtectedDomains: Sendable {
  let file: DatabaseFile
  let keychain: KeychainService
  let enclaves: @Sendable (EnclaveKind) -> (any Enclave)?
  let bindingKind: EnclaveKind
  let latch: RestartLatch
  let core: Mutex<Core>
  let participants = Mutex<[any RelockParticipant]>([])
  /// Relocks that are under way: counted before they ask for `core`, so that whoever comes later is turned away.
  let relockCount = Atomic(0)

  /// What the lock protects.
  struct Core {
    var fault: FrameworkFault?
    var session: Session?
  }

  /// What is there while unlocked. Letting go of it erases every key.
  struct Session {
    let keys: RootKeys
    /// The registry's revision and the domains' generations as they were last seen; nothing older is read.
    var revision: UInt64
    var generations: [ProtectedDomain: UInt64] = [:]
    var domains: [ProtectedDomain: DomainState] = [:]

    init(keys: RootKeys, _ examination: Examination) {
      self.keys = keys
      revision = examination.registry.revision
      note(examination)
    }

    /// Takes over what an examination found.
    mutating func note(_ examination: Examination) {
      revision = examination.registry.revision
      for (domain, finding) in examination.findings { note(domain, finding) }
    }

    mutating func note(_ domain: ProtectedDomain, _ finding: Finding) {
      domains[domain] = finding.state
      if case .open(let opened) = finding { generations[domain] = opened.record.generation }
    }
  }

  /// Looks at the registry, and at nothing that is secret (PD-21). The keychain is not asked.
  ///
  /// - Parameters:
  ///   - enclaves: the enclave of a kind, nil where there is none. Kinds are never exchanged (D36).
  ///   - bindingKind: where the binding key is made when a root secret of the first format gets its first one.
  ///   - latch: the process's, but in tests.
  /// - Throws: `.unprotectedFiles`, `.storage`, `.restartRequired`. A damaged registry is no error here; see
  ///   ``state``.
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

  /// How protected data stand, as far as it is known. Nothing is read for the answer.
  public var state: ProtectedState {
    if latch.isDown { return .restartRequired }
    if isRelocking { return .locked }
    return core.withLock { core in
      if core.session != nil { return .unlocked }
      return core.fault.map(ProtectedState.frameworkRecovery) ?? .locked
    }
  }

  /// How each domain stands; empty while locked.
  public var domains: [ProtectedDomain: DomainState] {
    guard state == .unlocked else { return [:] }
    return core.withLock { $0.session?.domains ?? [:] }
  }

  /// Nothing is opened, nor made, where others can reach it (PD-24).
  static func checkProtection(_ file: DatabaseFile) throws(ProtectedDataError) {
    guard try ProtectedDataError.sorting({ try file.isPrivate() }) else { throw .unprotectedFiles }
  }

  /// The registry, read without any key.
  static func registry(_ image: StoredImage) throws(ProtectedDataError) -> Registry {
    guard let record = image.record else { throw .frameworkRecovery(.registryMissing) }
    guard let registry = Registry(record: record) else { throw .frameworkRecovery(.registryCorrupt) }
    return registry
  }

  /// Does something under the lock, while nothing forbids it.
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

  /// The session, or why there is none.
  static func session(_ core: Core) throws(ProtectedDataError) -> Session {
    if let session = core.session { return session }
    if let fault = core.fault { throw .frameworkRecovery(fault) }
    throw .locked
  }

  static let log = Logger(label: "app.rial.protected-data")

  /// Notes what went wrong, in general words (D30).
  static func logged(_ error: ProtectedDataError, _ operation: StaticString) -> ProtectedDataError {
    log.error("\(operation) failed", metadata: ["reason": "\(error)"])
    return error
  }
}
