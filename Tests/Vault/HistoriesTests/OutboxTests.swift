// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import SeededGenerators
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Changes that wait, and the digest")
struct OutboxTests {
  private func add(_ record: RecordID, _ lamport: Int) -> LocalChange {
    .add(
      PendingAddition(
        record: record, storedAt: UInt64(lamport), version: version(lamport),
        replaces: lamport > 0 ? [version(lamport - 1)] : [],
        frameHash: FrameHash(hashing: [UInt8(lamport % 250)])))
  }

  private func version(_ lamport: Int) -> Version {
    Version(lamport: UInt64(lamport), tag: Identifier(beginningOf: [UInt8](repeating: 7, count: 16)))
  }

  @Test("The hash of a request is that of its kind and name, so that no object is read for it")
  func requests() {
    let name = ObjectName.slot(ObjectHash(hashing: [1]))
    let other = ObjectName.slot(ObjectHash(hashing: [2]))
    let put = Request.put(name, [1])
    #expect(put.hashValue == Request.put(name, [2]).hashValue)
    #expect(put != .put(name, [2]))
    let all: [Request] = [put, .put(other, [1]), .get(name), .stat(name), .delete(name), .list(.slots)]
    #expect(Set(all.map(\.hashValue)).count == all.count)
  }

  @Test("What waits is a list with holes, whatever is taken and taken back") func list() {
    var generator = SeededGenerator(stream: 4)
    let records = (0..<5).map { _ in RecordID() }
    var (outbox, list): (Outbox, [LocalChange]) = ([], [])
    for number in 0..<2_000 {
      let record = records[Int.random(in: 0..<5, using: &generator)]
      switch Int.random(in: 0..<8, using: &generator) {
      case 0..<4:
        outbox.append(add(record, number))
        list.append(add(record, number))
      case 4:
        outbox += [.remove(record: record, versions: [version(number)])]
        list.append(.remove(record: record, versions: [version(number)]))
      case 5, 6:
        let adds = list.indices.filter { list[$0].record == record && list[$0].content != nil }
        guard let index = adds.randomElement(using: &generator),
          case .add(let added) = list[index]
        else { continue }
        let back = outbox.takeBack(added.version, of: record)
        #expect(back?.replaces == added.replaces && back?.isWhole == true)
        #expect(outbox.takeBack(added.version, of: record) == nil)
        list.remove(at: index)
      default:
        let count = min(list.count, Int.random(in: 0..<6, using: &generator))
        outbox.removeFirst(count)
        list.removeFirst(count)
      }
      #expect(Array(outbox) == list)
      #expect(outbox.count == list.count && outbox.isEmpty == list.isEmpty)
      #expect(outbox.changes(of: record) == list.filter { $0.record == record })
    }
  }

  @Test("The digest is that of the specification, however it came to be") func digest() {
    var generator = SeededGenerator(stream: 5)
    var buckets = DigestBuckets()
    var all: [RecordID: [(version: Version, isGone: Bool)]] = [:]
    let records = (0..<3_000).map { _ in RecordID() }
    for round in 0..<9_000 {
      let record = records[Int.random(in: 0..<records.count, using: &generator)]
      let versions = (0..<Int.random(in: 0..<4, using: &generator)).map {
        (version: version($0 * 3 + round % 3), isGone: Bool.random(using: &generator))
      }
      all[record] = versions
      buckets.set(record, to: versions.shuffled(using: &generator))
      if round % 1_000 == 0 { #expect(buckets.digest() == Self.specified(all)) }
    }
    #expect(buckets.digest() == Self.specified(all))
    for record in records { buckets.set(record, to: []) }
    #expect(buckets.digest() == StateDigest(hashing: Array("coffer state v1".utf8)))
  }

  /// Specs/remote.md, "State digest".
  private static func specified(_ all: [RecordID: [(version: Version, isGone: Bool)]]) -> StateDigest {
    var buckets: [Int: [(id: [UInt8], bytes: [UInt8])]] = [:]
    for (record, versions) in all where !versions.isEmpty {
      let hash = SHA256.hash(record.octets.rawSpan)
      var bytes = record.octets
      bytes.append(bigEndian: UInt32(versions.count))
      for (version, isGone) in versions.sorted(by: { $0.version < $1.version }) {
        bytes.append(version)
        bytes.append(isGone ? 1 : 0)
      }
      buckets[Int(hash[0]) * 16 + Int(hash[1]) / 16, default: []].append((record.octets, bytes))
    }
    var digest = Array("coffer state v1".utf8)
    for (number, records) in buckets.sorted(by: { $0.key < $1.key }) {
      digest.append(bigEndian: UInt16(number))
      let bytes = records.sorted { $0.id.lexicographicallyPrecedes($1.id) }.flatMap(\.bytes)
      digest += SHA256.hash(bytes.rawSpan)
    }
    return StateDigest(hashing: digest)
  }

  @Test("What a copy of this device has sent is removed, also if it waits here") func copied() {
    var simulation = RuleTests.pair()
    simulation.perform(.add(device: 0, content: 1))
    simulation.perform(.copy(device: 0, sameRandomness: true))
    simulation.perform(.run(device: 2, .sync, seed: 0))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(simulation.computers[0].history.isCloned)
    #expect(simulation.computers[0].history.outbox.count == 1)
    simulation.perform(.remove(device: 0, record: 0))
    #expect(simulation.shownRecords(0).isEmpty)
    guard case .remove = simulation.computers[0].history.pendingChanges.first else {
      Issue.record("nothing removes what the copy sent")
      return
    }
    simulation.perform(.crash(device: 0, sent: 0))
    #expect(simulation.shownRecords(0).isEmpty)
  }

  @Test("A message that was never sent goes without a trace, and one that was sent by a removal")
  func removal() {
    var simulation = RuleTests.pair()
    simulation.perform(.add(device: 0, content: 1))
    simulation.perform(.edit(device: 0, record: 0, content: 2))
    #expect(simulation.computers[0].history.outbox.count == 2)
    simulation.perform(.remove(device: 0, record: 0))
    // The first version went with the second one that replaced it, or is removed with it.
    #expect(simulation.shownRecords(0).isEmpty)
    simulation.perform(.add(device: 0, content: 3))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    simulation.perform(.remove(device: 0, record: 0))
    #expect(simulation.computers[0].history.outbox.count == 1)
    for device in 0..<2 { simulation.perform(.run(device: device, .sync, seed: 0)) }
    #expect(simulation.shownRecords(1).isEmpty)
    #expect(simulation.computers[1].outcome == .complete)
  }
}
