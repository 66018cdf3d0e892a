// SPDX-License-Identifier: Apache-2.0
//
// Devices that come and go, the account's slots, and large parts of captures that come and go.

import CofferKit
import CrashDisk
import Enclaves
import Histories
import Keychains
import Primitives
import Syncing
import Vaults

extension AccountOperation {
  static var devices: [AccountOperation] {
    [
      AccountOperation("device revoke") {
        try $0.link()
      } deed: {
        try $0.revokeSecond()
      } isDone: { devices in
        try devices.first.account.open().status().devices.contains { $0.isRevoked }
      } end: { devices, isDone in
        if !isDone { try devices.revokeSecond() }
        try devices.mustSync(devices.first)
        guard try devices.sync(devices.second) == .revoked else {
          throw CrashFinding.mixed("the other device does not learn that it was revoked")
        }
      },
      AccountOperation("device approve") {
        try $0.makeAccount()
        try $0.askToJoin()
      } deed: {
        try $0.approve()
      } isDone: { devices in
        try devices.first.account.open().status().devices.count == 2
      } end: { devices, isDone in
        if !isDone { try devices.approve() }
        try devices.compare(["of the first", "of the second"])
      },
      AccountOperation("device rejoin") { devices in
        try devices.link()
        try devices.revokeSecond()
        try devices.add("waits", to: devices.second)
      } deed: {
        try $0.rejoinSecond()
      } isDone: { devices in
        try devices.sync(devices.second) == .complete
      } end: { devices, isDone in
        if !isDone { try devices.rejoinSecond() }
        try devices.compare(["of the first", "of the second", "waits"])
      },
      AccountOperation("account passphrase") {
        try $0.link()
      } deed: {
        try $0.exchangePassphrase()
      } isDone: { devices in
        try devices.first.account.open().opens(with: devices.otherSecret(), at: devices.remote)
      } end: { devices, isDone in
        if !isDone { try devices.exchangePassphrase() }
        try devices.compare(["of the first", "of the second"])
        guard try devices.first.account.open().slots.count == 2 else {
          throw CrashFinding.mixed("another number of slots")
        }
      },
      AccountOperation("remote destroy") {
        try $0.makeAccount()
      } deed: {
        try $0.destroyAccount()
      } isDone: {
        try !$0.first.account.exists()
      } end: { devices, isDone in
        if !isDone { try devices.destroyAccount() }
        guard try devices.remote.list("").objects.isEmpty else {
          throw CrashFinding.mixed("something of the account is left at the place")
        }
        // Everything is here, and can be sent again.
        try devices.makeAccount()
        try devices.mustSync(devices.first)
        try devices.join()
        try devices.compare(["of the first", "of the second"])
      },
      AccountOperation("remote sweep", afterDays: Devices.sweepDays) {
        try $0.prepareSweep()
      } deed: { devices in
        _ = try devices.first.account.open().sweep(at: devices.remote, allows: { _ in true })
      } isDone: { devices in
        try devices.first.account.open().sweep(at: devices.remote, allows: { _ in true }).deletedCount == 0
      } end: { devices, _ in
        guard try devices.first.account.open().run(.verify, at: devices.remote).alarms.isEmpty else {
          throw CrashFinding.lost("something that is swept and needed")
        }
        try devices.compare(["of the second"])
      },
    ]
  }

  static var captures: [AccountOperation] {
    [
      AccountOperation("capture keep") { devices in
        try CofferOperation.add(1, to: devices.first)
        try devices.link()
      } deed: {
        try $0.keepCaptures()
      } isDone: { devices in
        try devices.second.account.open().capturesElsewhere().isEmpty
      } end: { devices, isDone in
        if !isDone { try devices.keepCaptures() }
        try devices.compareCaptures()
      },
      AccountOperation("capture release") { devices in
        try CofferOperation.add(1, to: devices.first)
        try devices.link()
      } deed: {
        try $0.releaseCaptures()
      } isDone: { devices in
        try !devices.first.account.open().capturesElsewhere().isEmpty
      } end: { devices, isDone in
        if !isDone { try devices.releaseCaptures() }
        let account = try devices.first.account.open()
        guard try account.fetch(account.capturesElsewhere(), at: devices.remote).isEmpty else {
          throw CrashFinding.lost("a part that was released")
        }
        try devices.keepCaptures()
        try devices.compareCaptures()
      },
    ]
  }
}

extension AccountOperation.Devices {
  func revokeSecond() throws {
    let account = try first.account.open()
    guard let second = try account.status().devices.first(where: { !$0.isThisDevice }) else {
      throw CrashFinding.lost("a device")
    }
    guard try account.revoke(second.id, with: Self.secret(), at: remote).outcome == .complete else {
      throw CrashFinding.mixed("the run that revokes")
    }
  }

  func destroyAccount() throws {
    do {
      let remains = try first.account.open().remains(with: Self.secret(), at: remote)
      try first.account.destroy(remains, at: remote)
    } catch SyncError.notThere {
      // All of it was deleted before.
      try first.account.forget()
    }
  }

  func askToJoin() throws {
    _ = try second.account.askToJoin(
      at: remote, first.account.open().address(), enclave: SoftwareEnclave(), name: "second")
  }

  func approve() throws {
    let account = try first.account.open()
    guard let device = try account.waitingDevices(at: remote).devices.first else {
      throw CrashFinding.lost("a request")
    }
    guard try account.approve(device, with: Self.secret(), at: remote).outcome == .complete else {
      throw CrashFinding.mixed("the run that approves")
    }
  }

  func rejoinSecond() throws {
    let report = try second.account.open().rejoin(
      with: Self.secret(), enclave: SoftwareEnclave(), at: remote)
    guard report.outcome == .complete else { throw CrashFinding.mixed("the run that rejoins") }
  }

  // MARK: Slots

  func otherSecret() throws -> AccountSecret {
    AccountSecret(try CofferOperation.passphrase(CofferOperation.secrets[1]))
  }

  func exchangePassphrase() throws {
    let report = try first.account.open().changeSlots(
      adding: otherSecret(), removing: { $0.filter { $0.kind == .passphrase }.map(\.id) },
      costs: Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1), with: Self.secret(), at: remote)
    guard report.outcome == .complete else { throw CrashFinding.mixed("the run with the new passphrase") }
  }

  // MARK: Sweeping

  /// A folder has no clock: four segments of one's own, a week apart, stand for it.
  static let sweepDays: Int64 = 48

  /// What the first had is in a pack of its own, and was removed long ago.
  func prepareSweep() throws {
    try link()
    var removed: [MessageID] = []
    _ = try first.vault.forEachMessage { id, metadata, _ in
      if metadata.title == "of the first" { removed.append(id) }
      return true
    }
    for id in removed { try first.removeMessage(id) }
    for coffer in [first, second] { try mustSync(coffer) }
    for _ in 0..<Self.sweepDays / 8 {
      calendar.advance(days: 8)
      for coffer in [first, second] { try mustSync(coffer) }
    }
  }

  // MARK: Captures

  func keepCaptures() throws {
    let account = try second.account.open()
    guard try account.fetch(account.capturesElsewhere(), at: remote).isEmpty else {
      throw CrashFinding.lost("a part of a capture")
    }
  }

  func releaseCaptures() throws {
    let captures = try first.captures.list().map(\.id)
    guard try first.account.open().release(captures, at: remote, freed: { _, _ in }).isEmpty else {
      throw CrashFinding.lost("a part at the remote")
    }
  }

  /// Both have the same captures, every part of them, and nothing besides.
  func compareCaptures() throws {
    try compare(["of the first", "of the second"])
    for coffer in [first, second] {
      let captures = try coffer.captures.list()
      guard captures.count == 1, captures.allSatisfy(\.isWhole) else {
        throw CrashFinding.mixed("other captures")
      }
      for capture in captures { _ = try coffer.captures.verify(capture.id) }
      guard try coffer.captures.examine(isDeep: false).strayBlobCount == 0 else {
        throw CrashFinding.mixed("blobs that belong to nothing")
      }
    }
  }
}
