// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Histories
import Keychains
import Primitives
import Remotes
import Secrets
import Testing

@testable import Syncing

@Suite("A device that asks to be enrolled")
struct EnrollingTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer()
    second = try SyncedCoffer()
    for number in 0..<3 { try first.add("text \(number)") }
    try first.makeAccount(at: folder.remote, folder: folder.path)
  }

  private func address() throws -> AccountAddress { try first.coffer.account.open().address() }

  @discardableResult
  private func ask(_ coffer: SyncedCoffer, name: String = "second") throws -> Synchronizer {
    try coffer.coffer.account.askToJoin(
      at: folder.remote, address(), enclave: SoftwareEnclave(), name: name)
  }

  private func waiting() throws -> [WaitingDevice] {
    try first.coffer.account.open().waitingDevices(at: folder.remote).devices
  }

  @discardableResult
  private func approve(_ device: WaitingDevice) throws -> SyncReport {
    try first.coffer.account.open().approve(
      device, with: AccountSecret(SyncedCoffer.passphrase()), at: folder.remote)
  }

  private var requestFiles: [String] {
    get throws { try folder.files().keys.filter { $0.contains("/request/") } }
  }

  @Test("It shows the words that the approving one shows, has no key before, and everything after")
  func enrol() throws {
    try second.add("of the second")
    let asking = try ask(second)
    #expect(asking.awaitsApproval && asking.enrolmentWords.count == 12)
    #expect(try second.sync(at: folder.remote).outcome == .notMember)
    #expect(try second.coffer.account.open().status().enrolmentWords == asking.enrolmentWords)
    #expect(try second.shown().count == 1)

    let device = try #require(try waiting().first)
    #expect(device.words == asking.enrolmentWords)
    #expect(device.entry.name == "second" && device.entry.id == asking.device)
    #expect(try approve(device).outcome == .complete)
    #expect(try waiting().isEmpty)
    #expect(try requestFiles.isEmpty)

    let report = try second.sync(at: folder.remote)
    #expect(report.outcome == .complete && report.newCount == 3 && report.sentCount == 1)
    #expect(try second.shown().count == 4)
    #expect(try first.sync(at: folder.remote).newCount == 1)
    #expect(try first.shown() == second.shown())
    let status = try second.coffer.account.open().status()
    #expect(status.enrolmentWords == nil && !status.passphraseDiffers)
    #expect(try status.words == first.coffer.account.open().status().words)
    #expect(status.devices.map(\.name) == ["second", "first"])
  }

  @Test("A name that is taken gets a number, and both devices know it")
  func nameTaken() throws {
    try ask(second, name: "first")
    try approve(#require(try waiting().first))
    #expect(try second.sync(at: folder.remote).outcome == .complete)
    for coffer in [first, second] {
      #expect(try Set(coffer.coffer.account.open().devices.map(\.name)) == ["first", "first-2"])
    }
    #expect(try second.coffer.account.open().history.deviceName == "first-2")
  }

  @Test("Who asks again asks under the same keys; a coffer that has an account does not ask")
  func askAgain() throws {
    let words = try ask(second).enrolmentWords
    #expect(try ask(second).enrolmentWords == words)
    #expect(try waiting().count == 1)
    #expect(throws: SyncError.hasAccount) { try ask(first) }
    // With another card it asks there, under other keys.
    let elsewhere = try RemoteFolder()
    let other = try SyncedCoffer()
    try other.makeAccount(at: elsewhere.remote, folder: elsewhere.path)
    let elsewhereWords = try second.coffer.account.askToJoin(
      at: elsewhere.remote, other.coffer.account.open().address(), enclave: SoftwareEnclave(), name: "x"
    ).enrolmentWords
    #expect(elsewhereWords != words)
    #expect(
      try other.coffer.account.open().waitingDevices(at: elsewhere.remote).devices.first?.words
        == elsewhereWords)
    #expect(throws: SyncError.notThere) {
      try SyncedCoffer().coffer.account.askToJoin(
        at: elsewhere.remote, address(), enclave: SoftwareEnclave(), name: "x")
    }
    try second.coffer.account.forget()
    #expect(try !second.coffer.account.exists())
  }

  @Test("A wrong passphrase approves nobody, and a device that is in already stays as it is")
  func refusals() throws {
    try ask(second)
    let device = try #require(try waiting().first)
    #expect(throws: SyncError.wrongSecret) {
      try first.coffer.account.open().approve(
        device, with: AccountSecret(SyncedCoffer.passphrase("Another-horse-8-battery")), at: folder.remote)
    }
    #expect(try second.sync(at: folder.remote).outcome == .notMember)
    try approve(device)
    let count = try folder.files().keys.count { $0.contains("/control/") }
    #expect(try approve(device).outcome == .complete)
    #expect(try folder.files().keys.count { $0.contains("/control/") } == count)
    // Who was revoked does not come back by an old request, also if the approving device had not heard of it.
    try JoinRequests(folder.remote, address()).put(
      JoinRequest(device: device.entry, madeAt: UInt64(Date().timeIntervalSince1970)),
      id: RequestID(beginningOf: SystemRandom.publicBytes(count: 16)))
    _ = try first.coffer.account.open().revoke(
      device.entry.id, with: AccountSecret(SyncedCoffer.passphrase()), at: folder.remote)
    #expect(try waiting().isEmpty)
    #expect(throws: SyncError.refused(.keyInUse)) { try approve(device) }
    #expect(try second.sync(at: folder.remote).outcome == .revoked)
    #expect(throws: SyncError.hasAccount) { try ask(second) }
  }

  @Test("A device whose approval a new card has overtaken asks anew")
  func overtaken() throws {
    try second.add("of the second")
    try ask(second)
    let third = try SyncedCoffer()
    try third.join(first, at: folder.remote, name: "third")
    try first.sync(at: folder.remote)
    // Two devices do both at once: the approval is by an owner key that is not in force any more.
    let elsewhere = try RemoteFolder()
    try folder.copy(into: elsewhere)
    let passphrase = AccountSecret(try SyncedCoffer.passphrase())
    let waiting = try #require(
      try third.coffer.account.open().waitingDevices(at: elsewhere.remote).devices.first)
    _ = try third.coffer.account.open().approve(waiting, with: passphrase, at: elsewhere.remote)
    _ = try first.coffer.account.open().changeSlots(
      adding: passphrase, removing: { _ in [] }, changesCard: true, costs: SyncedCoffer.costs(),
      with: passphrase, at: folder.remote)
    try elsewhere.copy(into: folder)
    for coffer in [first, third, second] { try coffer.sync(at: folder.remote) }
    #expect(try second.sync(at: folder.remote).outcome == .notMember)
    try ask(second)
    try approve(#require(try self.waiting().first))
    #expect(try second.sync(at: folder.remote).outcome == .complete)
    #expect(try second.shown().count == 4)
  }

  @Test("A request of an exchanged key has other words; torn, foreign, old and large ones ask for nobody")
  func requests() throws {
    let asking = try ask(second)
    let entry = asking.history.deviceEntry
    let now = UInt64(Date().timeIntervalSince1970)
    let requests = try JoinRequests(folder.remote, address())
    let forged = DeviceEntry(
      id: entry.id, signingKey: P256PrivateKey().publicKey, agreementKey: entry.agreementKey,
      level: entry.level, name: entry.name, replaces: nil)
    func id() -> RequestID { RequestID(beginningOf: SystemRandom.publicBytes(count: 16)) }
    try requests.put(JoinRequest(device: forged, madeAt: now), id: id())
    var stranger = P256PrivateKey()
    func foreign(_ madeAt: UInt64) -> JoinRequest {
      JoinRequest(
        device: DeviceEntry(
          id: DeviceID(beginningOf: SystemRandom.publicBytes(count: 16)), signingKey: stranger.publicKey,
          agreementKey: P256PrivateKey().publicKey, level: 1, name: "stranger", replaces: nil), madeAt: madeAt
      )
    }
    try requests.put(foreign(now - 8 * 86_400), id: id())
    stranger = P256PrivateKey()
    for (name, replaces) in [("", nil), ("rejoins", entry.id)] as [(String, DeviceID?)] {
      let odd = DeviceEntry(
        id: DeviceID(beginningOf: SystemRandom.publicBytes(count: 16)), signingKey: stranger.publicKey,
        agreementKey: P256PrivateKey().publicKey, level: 1, name: name, replaces: replaces)
      try requests.put(JoinRequest(device: odd, madeAt: now), id: id())
    }
    let prefix = Hexadecimal.text(try address().account.bytes) + "/"
    let torn = foreign(now).seal(id: id(), account: try address().account, urlSecret: try address().secret)
    for bytes in [torn, Array(torn.dropLast()), [UInt8](repeating: 0, count: 1_000), []] {
      try folder.remote.put(prefix + ObjectName.request(id()).path, bytes)
    }
    let found = try first.coffer.account.open().waitingDevices(at: folder.remote)
    #expect(found.devices.count == 2 && found.unreadableCount == 6)
    #expect(Set(found.devices.map(\.words)).count == 2)
    #expect(found.devices.contains { $0.words == asking.enrolmentWords })
    // The user takes the one whose words the device shows.
    try approve(#require(found.devices.first { $0.words == asking.enrolmentWords }))
    #expect(try second.sync(at: folder.remote).outcome == .complete)
  }

  @Test("A process that ends at any request of asking, approving or joining loses nothing")
  func interruptions() throws {
    try second.add("of the second")
    var limit = 0
    while true {
      let stopping = StoppingRemote(folder.remote, after: limit, carriesLastOut: limit % 2 == 0)
      if (try? second.coffer.account.askToJoin(
        at: stopping, address(), enclave: SoftwareEnclave(), name: "second")) != nil
      {
        break
      }
      limit += 1
    }
    #expect(limit >= 3)
    let device = try #require(try waiting().first)
    #expect(device.words == (try second.coffer.account.open().enrolmentWords))
    limit = 0
    while true {
      let stopping = StoppingRemote(folder.remote, after: limit, carriesLastOut: limit % 2 == 0)
      let report = try? first.coffer.account.open().approve(
        device, with: AccountSecret(SyncedCoffer.passphrase()), at: stopping)
      if report?.outcome == .complete { break }
      limit += 1
    }
    #expect(limit > 5)
    limit = 0
    while try second.sync(
      at: StoppingRemote(folder.remote, after: limit, carriesLastOut: limit % 2 == 0)
    ).outcome != .complete { limit += 1 }
    #expect(limit > 5)
    try first.sync(at: folder.remote)
    #expect(try first.shown() == second.shown() && first.shown().count == 4)
    #expect(try first.coffer.account.open().devices.count == 2)
  }

  @Test("Nothing at the place shows who asks")
  func nothingShows() throws {
    try ask(second, name: "the-name-of-the-second-one")
    let request = try folder.files()
    try approve(#require(try waiting().first))
    try second.sync(at: folder.remote)
    for (path, data) in try request.merging(folder.files(), uniquingKeysWith: { old, _ in old }) {
      #expect(data.range(of: Data("the-name-of-the-second-one".utf8)) == nil, "\(path)")
    }
  }

  @Test("A sweep deletes requests that are void or were granted, and leaves the others")
  func sweep() throws {
    try ask(second)
    let third = try SyncedCoffer()
    try ask(third, name: "third")
    let granted = try #require(try waiting().first { $0.entry.name == "second" })
    try approve(granted)
    let now = UInt64(Date().timeIntervalSince1970)
    let requests = try JoinRequests(folder.remote, address())
    for madeAt in [now, now - 8 * 86_400] {
      let key = P256PrivateKey().publicKey
      let entry =
        madeAt == now
        ? granted.entry
        : DeviceEntry(
          id: DeviceID(beginningOf: SystemRandom.publicBytes(count: 16)), signingKey: key, agreementKey: key,
          level: 1, name: "old", replaces: nil)
      try requests.put(
        JoinRequest(device: entry, madeAt: madeAt),
        id: RequestID(beginningOf: SystemRandom.publicBytes(count: 16)))
    }
    #expect(try requestFiles.count == 3)
    let report = try first.coffer.account.open().sweep(at: folder.remote, allows: { _ in true })
    #expect(report.outcome == .complete)
    #expect(try requestFiles.count == 1)
    #expect(try waiting().map(\.entry.name) == ["third"])
  }
}
