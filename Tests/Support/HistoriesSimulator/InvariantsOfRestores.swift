// SPDX-License-Identifier: Apache-2.0
//
// What a new device must show that gets everything from the server.

import Primitives
import Secrets

@testable import Histories

extension Simulation {
  /// S3, S4 and S8: a new device that gets everything from the server in another order shows what a member shows.
  /// Each slot in force opens everything.
  func checkRestores() throws(Breach) {
    guard let member = goodMembers.first, !computers[member].history.needsSlot else { return }
    let inForce = computers[member].history.membership.slots
    var digests: [StateDigest] = []
    for (number, slot) in slots.filter({ inForce[$0.id] != nil }).suffix(2).enumerated() {
      var world = self
      world.breach = nil
      guard let index = world.restore(slot, order: UInt64(number + 1), limit: 99) else {
        throw Breach(
          invariant: .s8,
          found: "a slot in force does not let a new device in: \(world.lastRefusal.map { "\($0)" } ?? "-")")
      }
      world.runQuietly(index, .sync, order: UInt64(number + 1))
      if let breach = world.breach { throw breach }
      for author in Set(world.computers.map(\.history.device)).sorted() {
        world.step(index, .confirm(author, at: world.clock(index)))
      }
      world.runQuietly(index, .sync)
      world.fetch(index)
      digests.append(world.computers[index].history.digestNow)
      for record in shownRecords(member) {
        let theirs = contents(of: record, on: member)
        let new = world.contents(of: record, on: index)
        guard new.isSuperset(of: theirs) else {
          throw Breach(
            invariant: .s4,
            found: "a restored device does not show a message that device \(member) shows: "
              + "\(theirs.subtracting(new).map { String(decoding: $0.suffix(12), as: UTF8.self) }), shown \(world.computers[index].history.shownVersions(of: record).count); places \(world.placesOf(record, on: index))"
          )
        }
      }
      // Settled branches are a choice of this user's devices; a new device chooses with its slot.
      guard computers[member].history.settled.isEmpty else { continue }
      if computers[member].history.digestNow != world.computers[index].history.digestNow {
        throw Breach(
          invariant: .s3,
          found: "a device that got everything in another order has another digest than device \(member)")
      }
    }
  }

  func contents(of record: RecordID, on index: Int) -> Set<[UInt8]> {
    Set(
      computers[index].history.shownVersions(of: record).compactMap {
        computers[index].machine.content(of: RecordVersion(record: record, version: $0.version))
      })
  }
}

extension History {
  fileprivate var digestNow: StateDigest {
    var history = self
    return history.digest()
  }
}

extension Simulation {
  /// Where a device looks for the contents of a record, for messages of failures.
  fileprivate func placesOf(_ record: RecordID, on index: Int) -> [String] {
    let history = computers[index].history
    return history.shownVersions(of: record).flatMap { shown in
      (history.records.entry(record, shown.version)?.places(ofPart: 0) ?? []).map { place in
        guard let pack = history.pack(at: place) else { return "no pack" }
        let object = server.current(.pack(place.segment.device, pack.hash))
        let epoch = object.flatMap { try? Pack.epoch(of: $0) }
        return "\(place.segment.device.short)/\(place.segment.number) "
          + (object == nil ? "absent" : object?.count == Int(pack.byteCount) ? "whole" : "torn")
          + (epoch.map { history.keys[$0] == nil ? " no key" : "" } ?? " no epoch")
      }
    }
  }
}
