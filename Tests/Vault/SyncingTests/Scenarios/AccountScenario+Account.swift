// SPDX-License-Identifier: Apache-2.0
//
// What the user of a scenario does with the account: devices come, go and come back, and a device's questions are answered.

import CofferKit
import Enclaves
import Histories
import Remotes
import Secrets

@testable import Syncing

extension AccountScenario {
  mutating func approve(by device: Int, _ failure: PlaceFailure?) throws {
    guard devices.count < Self.deviceLimit else { return }
    let new = try SyncedCoffer(clock: clock.clock)
    do {
      _ = try new.coffer.account.askToJoin(
        at: remote, account(device).address(), enclave: SoftwareEnclave(), name: "device-\(devices.count)")
    } catch SyncError.notThere { return }
    devices.append(ScenarioDevice(coffer: new))
    try letIn(devices.count - 1, by: device, failure)
  }

  /// Approves a device that asks. It asks again if its request went.
  mutating func letIn(_ device: Int, by member: Int, _ failure: PlaceFailure? = nil) throws {
    let id = try coffer(device).device()
    try change(member, failure: failure) { account, remote in
      let waiting = try account.waitingDevices(at: remote).devices
      guard let found = waiting.first(where: { $0.entry.id == id }) else {
        return SyncReport(outcome: .unreachable)
      }
      return try account.approve(found, with: Self.words, at: remote)
    }
  }

  /// A new coffer, from the card of a device.
  mutating func restore(by device: Int, isLimited: Bool = true) throws -> Int? {
    guard !isLimited || devices.count < Self.deviceLimit else { return nil }
    let new = try SyncedCoffer(clock: clock.clock)
    let address = try account(device).address()
    var choices = choices
    do {
      _ = try new.coffer.account.join(
        at: remote, address, with: Self.words, enclave: SoftwareEnclave(), name: "device-\(devices.count)",
        choice: { fork in
          choices[fork.at] = Self.choice(fork, choices)
          return choices[fork.at]
        })
      self.choices = choices
    } catch let error as SyncError {
      guard case .refused = error else { throw error }
      return nil
    }
    devices.append(ScenarioDevice(coffer: new))
    return devices.count - 1
  }

  mutating func revoke(_ device: Int, by member: Int, _ failure: PlaceFailure?) throws {
    guard device != member, devices.count(where: { !$0.isLost }) > 1 else { return }
    let id = try coffer(device).device()
    guard try account(member).devices.contains(where: { $0.id == id && !$0.isRevoked }) else { return }
    let report = try change(member, failure: failure) { account, remote in
      try account.revoke(id, with: Self.words, at: remote)
    }
    guard report != nil else { return }
    devices[device].isLost = true
    // What it had not sent is lost with it.
    forget { [wasPlaceRestored] note in note.device == device && (!note.isAcknowledged || wasPlaceRestored) }
  }

  /// What a user chooses who remembers what they chose on another device.
  static func choice(_ fork: OwnerForkView, _ choices: [ControlID: ControlID]) -> ControlID? {
    let branches = fork.branches.map(\.id)
    if let known = choices[fork.at], branches.contains(known) { return known }
    return fork.branches.filter { !$0.isFormerKey }.map(\.id).min() ?? branches.min()
  }

  /// Does what a device asks its user for.
  /// - Returns: whether it asked for anything.
  @discardableResult
  mutating func attend(_ device: Int) throws -> Bool {
    try run(device)
    let account = try account(device)
    if account.awaitsApproval {
      guard let member = devices.indices.first(where: { isMember($0) && $0 != device }) else { return false }
      // Asking again: the card may be another one by now.
      do {
        _ = try coffer(device).coffer.account.askToJoin(
          at: remote, self.account(member).address(), enclave: SoftwareEnclave(), name: "device-\(device)")
      } catch SyncError.notThere { return false }
      try letIn(device, by: member)
      try run(device)
      return true
    }
    if let fork = account.ownerFork {
      guard let branch = Self.choice(fork, choices) else { return false }
      let report = try change(device) { account, remote in
        try account.settle(fork, on: branch, with: Self.words, at: remote).report
      }
      if report != nil { choices[fork.at] = branch }
      return true
    }
    if account.history.stop != nil || !account.isMember {
      try changeAsking(device) { account, remote, choice in
        try account.rejoin(with: Self.words, enclave: SoftwareEnclave(), at: remote, choice: choice)
      }
      return true
    }
    guard account.needsSlot else { return false }
    try changeAsking(device) { account, remote, choice in
      try account.handOutKeys(with: Self.words, at: remote, choice: choice).report
    }
    return true
  }

  /// A change whose user may be asked which continuation of the account is right, and remembers it.
  private mutating func changeAsking(
    _ device: Int, _ body: (Synchronizer, any Remote, (OwnerForkView) -> ControlID?) throws -> SyncReport
  ) throws {
    var choices = choices
    try change(device) { account, remote in
      try body(account, remote) { fork in
        choices[fork.at] = Self.choice(fork, choices)
        return choices[fork.at]
      }
    }
    self.choices = choices
  }

  func isMember(_ device: Int) -> Bool {
    guard !devices[device].isLost, let account = try? account(device) else { return false }
    return account.isMember && account.history.stop == nil
  }
}
