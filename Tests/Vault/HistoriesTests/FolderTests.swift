// SPDX-License-Identifier: Apache-2.0
//
// Histories with real keys over a real folder: the driver that a command needs, in its shortest form.

import Foundation
import Primitives
import Remotes
import Secrets
import TemporaryHomes
import Testing

@testable import Histories
@testable import HistoriesSimulator

/// A device whose requests a folder answers.
private struct FolderDevice {
  var history: History
  var machine: SimulatedMachine
  let remote: FolderRemote

  /// Carries out an event with all that follows from it.
  /// - Returns: how the run ended; nil for an event without one.
  @discardableResult
  mutating func perform(_ event: Event) -> Outcome? {
    var (events, outcome): ([Event], Outcome?) = ([event], nil)
    while let next = events.popLast() {
      for effect in history.step(next, on: &machine) {
        switch effect {
        case .keep(let content, let frame): machine.keep(frame, of: content)
        case .carry: break
        case .drop(let record, let version): machine.drop(RecordVersion(record: record, version: version))
        case .request(let request): events.append(.answer(request, answer(request), at: 1_700_000_000))
        case .ended(let end): outcome = end
        }
      }
    }
    return outcome
  }

  private func answer(_ request: Request) -> Answer {
    let account = Hexadecimal.text(history.account.bytes) + "/"
    do throws(RemoteError) {
      switch request {
      case .list(let folder):
        let list = try remote.list(account + folder.path)
        let objects = list.objects.compactMap { object in
          ObjectName(path: String(object.name.dropFirst(account.count))).map {
            ListedObject(name: $0, byteCount: object.byteCount, date: object.date)
          }
        }
        return .listed(objects, at: list.time)
      case .get(let name):
        return try remote.get(account + name.path).map { .got(ReceivedObject($0)) } ?? .missing
      case .put(let name, let bytes):
        try remote.put(account + name.path, bytes)
        return .done
      case .stat(let name):
        return try remote.stat(account + name.path).map { .found(byteCount: $0) } ?? .missing
      case .delete(let name):
        try remote.delete(account + name.path)
        return .done
      }
    } catch {
      return .failed
    }
  }

  mutating func sync() -> Outcome? { perform(.begin(.sync, at: 1_700_000_000)) }

  mutating func add(_ text: String) {
    let frame = SharedSecretBytes(testing: Array(text.utf8))
    perform(.add(record: RecordID(), frame: frame, replacing: [], at: 1_700_000_000))
  }

  /// What is shown, sorted.
  var texts: [String] {
    history.shownRecords.compactMap { record in
      history.shownVersions(of: record).first.flatMap {
        machine.content(of: RecordVersion(record: record, version: $0.version))
      }
      .map { String(decoding: $0, as: UTF8.self) }
    }.sorted()
  }
}

@Suite("Histories over a folder")
struct FolderTests {
  @discardableResult
  private func makeFolder(_ path: String) throws -> String {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// A new account of one device with one slot.
  private func found(_ folder: String) throws -> (device: FolderDevice, slot: OpenedSlot) {
    var machine = SimulatedMachine(run: 1, table: KeyTable(), isReal: true)
    let owner = machine.makeKeyPair()
    let slot = OpenedSlot(
      id: Identifier(beginningOf: machine.random(16)), agreement: machine.makeKeyPair(), owner: owner,
      anchor: nil)
    let history = History.found(
      entry: entry(&machine), owner: owner, urlSecret: machine.randomSecret(16),
      slots: { _, _, _ in [(slot.entry, slot.object)] },
      on: &machine)
    return (
      FolderDevice(history: history, machine: machine, remote: try #require(FolderRemote(path: folder))), slot
    )
  }

  private func entry(_ machine: inout SimulatedMachine) -> DeviceEntry {
    DeviceEntry(
      id: Identifier(beginningOf: machine.random(16)), signingKey: machine.signing.publicKey,
      agreementKey: machine.agreement.publicKey, level: 2, name: "device", replaces: nil)
  }

  @Test("Two devices come to the same messages, and the folder shows none of them")
  func twoDevices() throws {
    let home = try TemporaryHome()
    let folder = try makeFolder(home.path + "/remote")
    var (first, slot) = try found(folder)
    first.add("the barometer falls")
    first.add("a second note")
    #expect(first.sync() == .complete)

    var machine = SimulatedMachine(run: 2, table: KeyTable(), isReal: true)
    let joining = entry(&machine)
    #expect(first.perform(.account(.approve(joining), slot, at: 1_700_000_000)) == .complete)
    #expect(first.sync() == .complete)
    var second = FolderDevice(
      history: History(joining: first.history.account, entry: joining), machine: machine, remote: first.remote
    )
    #expect(second.sync() == .complete)
    #expect(second.texts == ["a second note", "the barometer falls"])

    second.add("from the other device")
    #expect(second.sync() == .complete)
    #expect(first.sync() == .complete)
    #expect(first.texts == second.texts)
    #expect(first.history.position.frontier == second.history.position.frontier)
    #expect(first.history.alarms.isEmpty && second.history.alarms.isEmpty)

    var fileCount = 0
    for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
      guard let bytes = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
      fileCount += 1
      #expect(bytes.range(of: Data("barometer".utf8)) == nil, "\(name) shows a message")
    }
    #expect(fileCount >= 7, "control operations, segments, packs and a slot")
  }

  @Test("A folder that is not there is unreachable, and nothing is lost when it comes back")
  func pulledOut() throws {
    let home = try TemporaryHome()
    let folder = try makeFolder(home.path + "/stick")
    var (device, _) = try found(folder)
    #expect(device.sync() == .complete)
    device.add("written on the way")
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
    #expect(device.sync() == .unreachable)
    #expect(device.texts == ["written on the way"])
    #expect(!FileManager.default.fileExists(atPath: folder))
    // Another stick in its place: the account is not there.
    try makeFolder(folder)
    #expect(device.sync() == .empty)
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.moveItem(atPath: folder + "-away", toPath: folder)
    #expect(device.perform(.begin(.verify, at: 1_700_000_000)) == .complete)
    #expect(device.history.alarms.isEmpty)
    #expect(device.texts == ["written on the way"])
  }
}
