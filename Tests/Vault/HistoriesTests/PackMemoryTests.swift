// SPDX-License-Identifier: Apache-2.0
//
// What sealing and opening leave in memory: the plaintext of messages nowhere, once it is let go.

import MemorySearch
import Primitives
import Secrets
import SeededGenerators
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("What histories leave in memory")
struct PackMemoryTests {
  /// Contents are held as a driver holds them.
  private struct Driver {
    var history: History
    var machine: SeededMachine
    var objects: [ObjectName: [UInt8]] = [:]

    mutating func perform(_ event: Event) {
      var events = [event]
      while let next = events.popLast() {
        for effect in history.step(next, on: &machine) {
          switch effect {
          case .keep(let content, let frame): machine.keep(frame, of: content)
          case .drop, .carry: break
          case .request(let request): events.append(.answer(request, answer(request), at: 1_700_000_000))
          case .ended(let outcome): #expect(outcome == .complete)
          }
        }
      }
    }

    private mutating func answer(_ request: Request) -> Answer {
      switch request {
      case .list(let folder):
        return .listed(
          objects.filter { $0.key.folder == folder }.map {
            ListedObject(name: $0.key, byteCount: $0.value.count, date: nil)
          }, at: nil)
      case .get(let name): return objects[name].map { .got(ReceivedObject($0)) } ?? .missing
      case .stat(let name): return objects[name].map { .found(byteCount: $0.count) } ?? .missing
      case .put(let name, let bytes):
        objects[name] = bytes
        return .done
      case .delete(let name):
        objects[name] = nil
        return .done
      }
    }
  }

  /// A message small enough for a shared cell, one with a mapping of its own, one that no buffer takes, and what they become.
  @Test(
    "A message that was sent, and got by another device, is gone with its last owner",
    arguments: [48, 9_000, 1 << 20])
  func nothingLeft(byteCount: Int) async {
    await #expect(processExitsWith: .success) { [byteCount] in
      recordingErrors {
        let needle = try PackMemoryTests().exchange(byteCount)
        try ProcessMemory.expectGone(needle)
      }
    }
  }

  @inline(never)
  private func exchange(_ byteCount: Int) throws -> Needle {
    var machine = SeededMachine(run: UInt64(byteCount))
    let owner = machine.makeKeyPair()
    let slot = OpenedSlot(
      id: Identifier(beginningOf: machine.random(16)), agreement: machine.makeKeyPair(), owner: owner,
      anchor: nil)
    func entry(_ machine: inout SeededMachine) -> DeviceEntry {
      DeviceEntry(
        id: Identifier(beginningOf: machine.random(16)), signingKey: machine.signing.publicKey,
        agreementKey: machine.agreement.publicKey, level: 2, name: "device", replaces: nil)
    }
    let first = entry(&machine)
    let history = History.found(
      entry: first, owner: owner, urlSecret: machine.randomSecret(16),
      slots: { _, _, _ in [(slot.entry, slot.object)] }, on: &machine)
    var one = Driver(history: history, machine: machine)
    let content = SystemRandom.secretBytes(count: byteCount)
    // The middle: a cell that is handed back keeps nothing, nor does what a cipher read last.
    let needle = content.withBytes { Needle($0.extracting(first: 48)) }
    one.perform(.add(record: RecordID(), frame: SharedSecretBytes(content), replacing: [], at: 1_700_000_000))
    #expect(try !ProcessMemory.places(of: needle).isEmpty)
    one.perform(.begin(.sync, at: 1_700_000_000))
    var other = SeededMachine(run: UInt64(byteCount) + 1, firstPair: 1_000)
    let joining = entry(&other)
    one.perform(.account(.approve(joining), slot, at: 1_700_000_000))
    one.perform(.begin(.sync, at: 1_700_000_000))
    var two = Driver(
      history: History(joining: one.history.account, entry: joining), machine: other, objects: one.objects)
    two.perform(.begin(.sync, at: 1_700_000_000))
    let record = try #require(two.history.shownRecords.first)
    let version = try #require(two.history.shownVersions(of: record).first)
    #expect(two.machine.hasFrame(of: ContentName(record: record, version: version.version)))
    return needle
  }
}
