// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("What a device keeps of its history")
struct LocalStateTests {
  private static func identifier<Kind>(_ byte: UInt8) -> Identifier<Kind> {
    Identifier(beginningOf: [UInt8](repeating: byte, count: 16))
  }

  private static func hash<Kind>(_ byte: UInt8) -> HashName<Kind> { HashName(hashing: [byte]) }

  private static let segment = SegmentName(device: identifier(2), number: 3, hash: hash(4))
  private static let version = Version(lamport: 5, tag: identifier(6))

  /// Every field has something in it.
  private static func full() -> LocalState {
    let octets = [UInt8](repeating: 18, count: 16)
    let record = RecordID(octets.rawSpan) ?? RecordID()
    let key = [4] + [UInt8](repeating: 7, count: 64)
    var state = LocalState(
      account: identifier(1),
      entry: DeviceEntry(
        id: identifier(2), signingKey: key, agreementKey: key, level: 2, name: "name",
        replaces: nil))
    state.isCloned = true
    state.former = [identifier(8)]
    state.unrepeatable = [segment]
    state.unsaid = [RecordVersion(record: record, version: version)]
    state.settled = [hash(9): .successor(hash(10)), hash(11): .former(rejecting: [hash(12)])]
    let pack = ObjectName.pack(identifier(2), hash(13))
    state.alarms = [
      .tampered(pack), .incomplete(pack), .rolledBack(pack), .empty, .forked(identifier(2)), .ownerForked,
      .digestDiffers(segment), .missing(pack),
    ]
    state.held = [segment: .brake, SegmentName(device: identifier(2), number: 4, hash: hash(4)): .alarm]
    state.confirmed = [segment]
    state.late = [segment: LateRemovals.Moment(time: 23, segmentCount: 24)]
    state.latestRun = 25
    state.givenUp = [hash(13)]
    state.readBack = [KnownPlace(segment: segment, place: Place(pack: 1, entry: 2), lamport: 3): 4]
    state.remote.noteSeen(pack)
    state.remote.refused = [.control(number: 1, hash(14))]
    state.remote.passedOver = [.slot(hash(15))]
    state.remote.fullListing = 16
    state.remote.missingSince = [pack: 17]
    state.outbox = [
      .add(
        PendingAddition(
          kind: .capture, record: record, storedAt: 19, version: version, replaces: [version],
          frameHash: hash(20),
          further: [hash(21), hash(22)])),
      .remove(record: record, versions: [version]),
      .place(kind: .capture, record: record, version: version, part: 2, frameHash: hash(22)),
    ]
    return state
  }

  @Test("A state is written as the page says, and reads as it was")
  func roundTrip() throws {
    let state = Self.full()
    let bytes = state.bytes()
    #expect(
      Hexadecimal.text(SHA256.hash(bytes.rawSpan))
        == "f8d7b60dfcfc91975da3a04e725715765ea1d431568ad9e8041968bd78d87ec5")
    let read = try LocalState(bytes)
    #expect(read.bytes() == bytes)
    #expect(read.alarms == state.alarms && read.outbox == state.outbox && read.settled == state.settled)
    #expect(read.latestRun == state.latestRun)
    #expect(read.held == state.held && read.late == state.late && read.unsaid == state.unsaid)
    #expect(read.remote.seen == state.remote.seen)
  }

  @Test("Places that were read back rise, whatever order a set has them in")
  func placesRise() throws {
    var state = Self.full()
    for lamport in 0..<UInt64(20) {
      state.readBack[KnownPlace(segment: Self.segment, place: Place(pack: 1, entry: 2), lamport: lamport)] =
        lamport
    }
    let bytes = state.bytes()
    #expect(try LocalState(bytes).bytes() == bytes)
    let rising = (0..<UInt64(20)).flatMap { lamport in
      var entry: [UInt8] = []
      entry.append(Self.segment)
      entry.append(bigEndian: UInt16(1))
      entry.append(bigEndian: UInt32(2))
      entry.append(bigEndian: lamport)
      entry.append(bigEndian: lamport)
      return entry
    }
    #expect(bytes.firstRange(of: rising) != nil)
  }

  @Test("What is cut off, longer or of another version is no state, and a wrong count reserves no memory")
  func damage() throws {
    let bytes = Self.full().bytes()
    for count in 0..<bytes.count {
      #expect(throws: FormatError.self) { try LocalState(Array(bytes[..<count])) }
    }
    #expect(throws: FormatError.self) { try LocalState(bytes + [0]) }
    for offset in 0..<8 {
      var changed = bytes
      changed[offset] ^= 1
      #expect(throws: FormatError.unknownVersion) { try LocalState(changed) }
    }
    // Any other byte: an error or another state, never a crash.
    for offset in 8..<bytes.count {
      var changed = bytes
      changed[offset] ^= 0xFF
      if let read = try? LocalState(changed) { #expect(read.bytes() != bytes) }
    }
  }

  @Test("An object whose bytes are not what its name says is damage")
  func damagedObject() throws {
    var machine = SimulatedMachine(run: 1, table: KeyTable(), isReal: false)
    var history = History.found(
      entry: DeviceEntry(
        id: Self.identifier(2), signingKey: machine.signing.publicKey,
        agreementKey: machine.agreement.publicKey,
        level: 2, name: "", replaces: nil), owner: machine.makeKeyPair(), urlSecret: machine.randomSecret(16),
      slots: { _, _, _ in [] },
      on: &machine)
    let objects = history.takeNewObjects()
    #expect(objects.count == 1)
    let (state, keys) = (history.localState(), history.epochKeys)
    _ = try History(restoring: state, objects: objects, keys: keys, on: machine)
    var bytes = objects[0].object
    bytes[bytes.count / 2] ^= 1
    let changed = StoredObject(name: objects[0].name, object: bytes)
    #expect(throws: HistoryDamage.object(changed.name)) {
      try History(restoring: state, objects: [changed], keys: keys, on: machine)
    }
    #expect(throws: HistoryDamage.state) {
      try History(restoring: Array(state.dropLast()), objects: objects, keys: keys, on: machine)
    }
  }
}
