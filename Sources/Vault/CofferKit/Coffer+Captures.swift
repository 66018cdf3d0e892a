// SPDX-License-Identifier: Apache-2.0
//
// Operations on the captures of a coffer, with their entries in the audit log.

public import Captures
internal import Keychains
public import MessageFormats
public import Primitives
internal import Storage

/// The captures of a coffer, open or locked, and the signer for new ones.
public struct CaptureAccess: Sendable {
  /// The captures themselves. What you change there directly leaves no entry in the audit log.
  public let store: CaptureStore
  let keychain: KeychainService
  let machine: Machine
  let counter: RollbackCounter
  /// Writes the audit log; nil while the coffer is locked. The log is sealed under the class key *when unlocked*,
  /// which is not available then, so operations on a locked coffer leave no entry (Specs/cli.md).
  let coffer: Coffer?

  /// The signer of this machine.
  /// - Throws: `CofferError.deviceNotRegistered` after the machine was forgotten; `EnclaveError`.
  public func signer() throws -> any CaptureSigner { try AttestationSigner(keychain, machine: machine) }

  /// Seals a capture, signs its parts, and stores it. When this returns, it is on the disk.
  /// - Throws: the errors of `CaptureStore.add`.
  public func add(_ capture: NewCapture, signer: any CaptureSigner) throws -> CaptureStore.Added {
    try audited(.captureAdded) { try store.add(capture, signer: signer, alongside: $0) }
  }

  /// Changes title, note or tags of a capture.
  /// - Returns: whether they are others now.
  /// - Throws: the errors of `CaptureStore.changeLabel`.
  public func changeLabel(of id: CaptureID, _ change: (inout CaptureLabel) throws -> Void) throws -> Bool {
    var label = try store.summary(of: id).label
    let former = label
    try change(&label)
    // What changes nothing leaves no entry.
    guard label != former else { return false }
    return try audited(.captureChanged) { try store.changeLabel(of: id, change, alongside: $0) }
  }

  /// Removes a capture with all its parts.
  public func remove(_ id: CaptureID) throws {
    try audited(.captureRemoved) { try store.remove(id, alongside: $0) }
  }

  /// Removes the captures that were uploaded seven days ago or earlier.
  /// - Returns: those that were removed, the oldest first.
  public func removeUploaded() throws -> [CaptureID] {
    let removable = try store.removableCaptures()
    for id in removable { try remove(id) }
    return removable
  }

  /// Writes a capture to a new or empty folder.
  ///
  /// - Returns: the names of the files, in the order in which they were written.
  /// - Throws: the errors of `CaptureStore.export`.
  public func export(
    _ id: CaptureID, to folder: String, record: (any UnfinishedExportRecord)? = nil,
    isStopped: () -> Bool = { false }
  ) throws -> [String] {
    let names = try store.export(id, to: folder, record: record, isStopped: isStopped)
    coffer?.audit(.captureExported, count: 1)
    return names
  }

  private func audited<R>(
    _ event: AuditLog.Event, _ deed: ((borrowing Transaction) throws -> Void) throws -> R
  ) throws -> R {
    if let coffer { return try coffer.auditing(event, deed) }
    let result = try deed { _ in }
    counter.countUpIfDue()
    return result
  }
}

extension Coffer {
  /// The captures, and the signer for new ones.
  public var captureAccess: CaptureAccess {
    CaptureAccess(store: captures, keychain: keychain, machine: machine, counter: counter, coffer: self)
  }
}
