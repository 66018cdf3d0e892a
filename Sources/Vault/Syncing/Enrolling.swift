// SPDX-License-Identifier: Apache-2.0
//
// Joining without the account's passphrase: the new device asks, whoever sits at a member compares twelve words and opens a
// slot there. Until then the new device has no key of the account; its next run takes everything.

public import Enclaves
internal import Histories
internal import Secrets
internal import Storage
public import Remotes

extension AccountLink {
  /// Asks to be enrolled in an account: this coffer has it from now on, and every run looks whether it was approved. A
  /// device that asks again, with the same card, asks under the same keys; with another card, under others.
  ///
  /// - Parameters:
  ///   - remote: the place of `address`.
  ///   - address: of the account.
  ///   - enclave: makes this device's keys.
  ///   - name: of this device, for lists.
  /// - Throws: `SyncError.hasAccount`, `.notThere`, `.remote`; `EnclaveError`; `KeychainError`.
  public func askToJoin(
    at remote: any Remote, _ address: AccountAddress, enclave: any Enclave, name: String
  ) throws -> Synchronizer {
    try Self.checkIsThere(at: remote, address)
    let synchronizer = try file.withWriting {
      try waiting(for: address) ?? begin(address, enclave: enclave, name: name)
    }
    try synchronizer.askToJoin(at: remote)
    return synchronizer
  }

  /// The account, if this coffer asked with the same card before.
  private func waiting(for address: AccountAddress) throws -> Synchronizer? {
    guard try exists() else { return nil }
    let synchronizer = try open()
    guard synchronizer.mayAsk else { throw SyncError.hasAccount }
    guard synchronizer.awaitsApproval else { return nil }
    let known = try synchronizer.address().text()
    let isSame = address.text().withBytes { given in
      known.withBytes { constantTimeEqual($0, given) }
    }
    return isSame ? synchronizer : nil
  }
}

extension Synchronizer {
  /// Whether this device asked to be enrolled, and no key of the account came yet.
  public var awaitsApproval: Bool { history.awaitsKeys }

  /// Whether this device may ask to be enrolled: it never was, or by an operation that does not count any more.
  public var mayAsk: Bool { !history.knowsThisDevice }

  /// Whether this device belongs to the account.
  public var isMember: Bool { history.isMember }

  /// Twelve words that the approving device shows too, if nobody exchanged this device's keys.
  public var enrolmentWords: [String] { history.deviceEntry.words(in: account) }

  /// Says again at the place that this device asks.
  func askToJoin(at remote: any Remote) throws {
    let id = RequestID(beginningOf: machine.random(RequestID.byteCount))
    try JoinRequests(remote, address()).put(
      JoinRequest(device: history.deviceEntry, madeAt: now), id: id)
  }

  /// The devices that ask to be enrolled, the latest first. What is new is got first: who belongs to the account, and which
  /// card is in force.
  /// - Returns: also how many requests this device's card does not open.
  /// - Throws: `SyncError.remote`, `.notApproved`, `.refused`; else as a run.
  public func waitingDevices(
    at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> (devices: [WaitingDevice], unreadableCount: Int) {
    try pull(at: remote, progress: progress)
    return try JoinRequests(remote, address()).waiting(at: now, without: Set(history.devices.map(\.id)))
  }

  /// Enrols a device whose words the user has compared: it gets all keys.
  ///
  /// - Parameters:
  ///   - device: of ``waitingDevices(at:progress:)``. If its name is taken, it gets another one.
  ///   - secret: opens a slot of the account.
  ///   - remote: where it is.
  ///   - progress: as of ``run(_:at:progress:)``.
  /// - Returns: how the run ended that told the others.
  /// - Throws: `SyncError.wrongSecret`, `.remote`, `.refused`; else as a run.
  public func approve(
    _ device: WaitingDevice, with secret: AccountSecret, at remote: any Remote,
    progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    let slot = try openSlotAndPull(with: secret, at: remote, progress: progress)
    // Another device may have approved it meanwhile.
    let known = history.devices.first { $0.id == device.entry.id }
    guard known?.isRevoked != true else { throw SyncError.refused(.keyInUse) }
    if known == nil {
      let outcome = try change(.approve(device.entry.named(unlike: takenNames)), with: slot)
      guard outcome == .complete else { throw SyncError.refused(outcome) }
    }
    let report = try run(.sync, at: remote, progress: progress)
    if report.outcome == .complete { try JoinRequests(remote, address()).delete(device.requests) }
    return report
  }

  /// The names of devices that belong to the account.
  var takenNames: [String] { history.devices.filter { !$0.isRevoked }.map(\.name) }
}
