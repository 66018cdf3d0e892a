// SPDX-License-Identifier: Apache-2.0
//
// What a device keeps of its history besides the objects (Specs/local-history.md). Whoever stores it seals it.
//
//   "COFHST01" (8) ‖ account (16) ‖ device: length (2), as in `device.add` ‖ another copy writes (1)
//   ‖ former identifiers ‖ segments not said again ‖ versions not said again ‖ choices of owners ‖ alarms ‖ held segments ‖ confirmed segments
//   ‖ late removals ‖ latest run (8) ‖ packs given up ‖ places read back ‖ the remote ‖ outbox
//
// Every list is a count (4) and its entries, which rise.

internal import Primitives

/// The fields of a local state.
struct LocalState: Sendable {
  var account: AccountID
  var entry: DeviceEntry
  var isCloned = false
  var former: Set<DeviceID> = []
  var unrepeatable: Set<SegmentName> = []
  var unsaid: Set<RecordVersion> = []
  var settled: [ControlID: OwnerChoice] = [:]
  var alarms: Set<Alarm> = []
  var held: [SegmentName: Holds.Reason] = [:]
  var confirmed: Set<SegmentName> = []
  var late: [SegmentName: LateRemovals.Moment] = [:]
  var latestRun: UInt64 = 0
  var givenUp: Set<ObjectHash> = []
  var readBack: [KnownPlace: UInt64] = [:]
  var remote = RemoteKnowledge()
  var outbox: [LocalChange] = []

  static let magic = Array("COFHST01".utf8)
}

extension History {
  /// What has to be kept besides the objects, as bytes that are not sealed yet. They name no content and hold no key, but
  /// the records of changes that wait.
  ///
  /// Packs that were sealed and that no segment names yet count as given up: a history that is restored seals others.
  public func localState() -> [UInt8] {
    var state = LocalState(account: account, entry: entry)
    state.isCloned = isCloned
    state.former = former
    state.unrepeatable = unrepeatable
    state.unsaid = unsaid
    state.settled = settled
    state.alarms = alarms
    state.held = holds.segments
    state.confirmed = holds.confirmed
    state.late = late.beginnings
    state.latestRun = latestRun
    state.givenUp = givenUp.union(staged?.packs.map(\.hash) ?? [])
    state.readBack = readBack
    state.remote = remote
    state.outbox = pendingChanges
    return state.bytes()
  }
}

// MARK: Bytes

extension LocalState {
  func bytes() -> [UInt8] {
    var bytes = Self.magic + account.bytes
    let device = entry.body
    bytes.append(bigEndian: UInt16(device.count))
    bytes += device
    bytes.append(isCloned ? 1 : 0)
    bytes.append(former.sorted()) { $0 += $1.bytes }
    bytes.append(unrepeatable.sorted()) { $0.append($1) }
    bytes.append(unsaid.sorted()) { bytes, name in
      bytes.append(name.record)
      bytes.append(name.version)
    }
    bytes.append(settled.sorted { $0.key < $1.key }) { bytes, entry in
      bytes += entry.key.bytes
      switch entry.value {
      case .successor(let id):
        bytes.append(1)
        bytes += id.bytes
      case .former(let rejected):
        bytes.append(2)
        bytes.append(rejected.sorted()) { $0 += $1.bytes }
      }
    }
    bytes.append(alarms.map(\.stateBytes).sorted { $0.lexicographicallyPrecedes($1) }) { $0 += $1 }
    bytes.append(held.sorted { $0.key < $1.key }) { bytes, entry in
      bytes.append(entry.key)
      bytes.append(entry.value == .brake ? 1 : 2)
    }
    bytes.append(confirmed.sorted()) { $0.append($1) }
    bytes.append(late.sorted { $0.key < $1.key }) { bytes, entry in
      bytes.append(entry.key)
      bytes.append(bigEndian: entry.value.time)
      bytes.append(bigEndian: UInt64(entry.value.segmentCount))
    }
    bytes.append(bigEndian: latestRun)
    bytes.append(givenUp.sorted()) { $0 += $1.bytes }
    bytes.append(readBack.sorted { $0.key.stateOrder < $1.key.stateOrder }) { bytes, entry in
      bytes.append(entry.key.segment)
      bytes.append(bigEndian: entry.key.place.pack)
      bytes.append(bigEndian: entry.key.place.entry)
      bytes.append(bigEndian: entry.key.lamport)
      bytes.append(bigEndian: entry.value)
    }
    remote.write(to: &bytes)
    bytes.append(bigEndian: UInt32(outbox.count))
    for change in outbox { change.write(to: &bytes) }
    return bytes
  }

  init(_ bytes: [UInt8]) throws(FormatError) {
    guard bytes.starts(with: Self.magic) else { throw .unknownVersion }
    var fields = FieldReader(bytes, from: Self.magic.count)
    account = try fields.identifier()
    var device = try fields.part(Int(try fields.integer() as UInt16))
    entry = try DeviceEntry(from: &device)
    try device.finish()
    isCloned = try fields.flag()
    former = Set(try fields.list { fields throws(FormatError) in try fields.identifier() })
    unrepeatable = Set(try fields.list { fields throws(FormatError) in try fields.segmentName() })
    unsaid = Set(
      try fields.list { fields throws(FormatError) in
        RecordVersion(record: try fields.record(), version: try fields.version())
      })
    for (id, choice) in try fields.list({ fields throws(FormatError) in try fields.ownerChoice() }) {
      settled[id] = choice
    }
    alarms = Set(try fields.list { fields throws(FormatError) in try fields.alarm() })
    let held = try fields.list { fields throws(FormatError) in
      (try fields.segmentName(), try fields.byte())
    }
    for (name, reason) in held {
      guard reason == 1 || reason == 2 else { throw .malformed }
      self.held[name] = reason == 1 ? .brake : .alarm
    }
    confirmed = Set(try fields.list { fields throws(FormatError) in try fields.segmentName() })
    let moments = try fields.list { fields throws(FormatError) in
      (try fields.segmentName(), try fields.time(), try fields.integer() as UInt64)
    }
    for (name, time, count) in moments {
      guard let count = Int(exactly: count) else { throw .malformed }
      late[name] = LateRemovals.Moment(time: time, segmentCount: count)
    }
    latestRun = try fields.time()
    givenUp = Set(try fields.list { fields throws(FormatError) in try fields.hash() })
    let places = try fields.list { fields throws(FormatError) in
      let segment = try fields.segmentName()
      let place = Place(pack: try fields.integer(), entry: try fields.integer())
      return (KnownPlace(segment: segment, place: place, lamport: try fields.integer()), try fields.time())
    }
    for (place, time) in places { readBack[place] = time }
    remote = try RemoteKnowledge(from: &fields)
    outbox = try fields.list { fields throws(FormatError) in try LocalChange(from: &fields) }
    try fields.finish()
  }
}

extension KnownPlace {
  fileprivate var stateOrder: (SegmentName, UInt64, UInt64) {
    (segment, UInt64(place.pack) << 32 | UInt64(place.entry), lamport)
  }
}

extension FieldReader {
  fileprivate mutating func ownerChoice() throws(FormatError) -> (ControlID, OwnerChoice) {
    let id: ControlID = try hash()
    switch try byte() {
    case 1: return (id, .successor(try hash()))
    case 2:
      return (id, .former(rejecting: Set(try list { fields throws(FormatError) in try fields.hash() })))
    default: throw .malformed
    }
  }
}
