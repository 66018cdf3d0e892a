// SPDX-License-Identifier: Apache-2.0
//
// Values of the account's formats, the same in each run.

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

/// One account's things, drawn from a seed.
struct Samples {
  var machine = SeededMachine(run: 1)
  let account: AccountID
  let otherAccount: AccountID
  let device: DeviceID
  let otherDevice: DeviceID
  let keys: EpochKeys
  let otherKeys: EpochKeys

  init() {
    account = AccountID(beginningOf: machine.random(16))
    otherAccount = AccountID(beginningOf: machine.random(16))
    device = DeviceID(beginningOf: machine.random(16))
    otherDevice = DeviceID(beginningOf: machine.random(16))
    keys = EpochKeys(number: 7, key: machine.randomSecret(32))
    otherKeys = EpochKeys(number: 7, key: machine.randomSecret(32))
  }

  mutating func hash<Kind>() -> HashName<Kind> { HashName(hashing: machine.random(32)) }

  mutating func record() -> RecordID {
    guard let record = RecordID(machine.random(16).rawSpan) else { preconditionFailure("16 bytes") }
    return record
  }

  mutating func version(_ lamport: UInt64) -> Version {
    Version(lamport: lamport, tag: Identifier(beginningOf: machine.random(16)))
  }

  mutating func addition() -> Addition {
    let (record, frame): (RecordID, FrameHash) = (record(), hash())
    let replaces = [version(3), version(4)]
    return Addition(
      record: record, storedAt: 1_760_000_000,
      version: Addition.version(
        lamport: 9, device: device, record: record, storedAt: 1_760_000_000, replaces: replaces,
        frameHash: frame),
      replaces: replaces, frameHash: frame, place: Place(pack: 0, entry: 1))
  }

  /// A segment with one operation of each kind.
  mutating func segment() -> Segment {
    let heads: [ControlID] = [hash(), hash()]
    return Segment(
      account: account, device: device, number: 5, previous: hash(), time: 1_760_000_123, lamport: 9,
      frontier: frontier(), controlHeads: heads.sorted(), digest: hash(),
      packs: [
        PackReference(hash: hash(), byteCount: 4_096), PackReference(hash: hash(), byteCount: 1 << 24),
      ],
      operations: [
        .add(addition()), .remove(Removal(record: record(), versions: [version(1), version(2)])),
        .place(
          NewPlace(
            record: record(), version: version(6), frameHash: hash(), place: Place(pack: 1, entry: 65_536))),
        .unknown(kind: 6, body: [1, 2, 3]), .unknown(kind: 255, body: []),
      ])
  }

  /// The smallest segment: the first of a chain.
  mutating func firstSegment() -> Segment {
    Segment(
      account: account, device: device, number: 1, previous: .zero, time: 0, lamport: 1, frontier: [],
      controlHeads: [hash()], digest: hash(), packs: [], operations: [])
  }

  mutating func frontier() -> [SegmentName] {
    [
      SegmentName(device: device, number: 4, hash: hash()),
      SegmentName(device: otherDevice, number: 8, hash: hash()),
      SegmentName(device: otherDevice, number: 9, hash: hash()),
    ].sorted()
  }

  mutating func deviceEntry(replaces: DeviceID? = nil) -> DeviceEntry {
    DeviceEntry(
      id: DeviceID(beginningOf: machine.random(16)), signingKey: point(), agreementKey: point(), level: 1,
      name: "Küche", replaces: replaces)
  }

  mutating func slotEntry(_ kind: SlotEntry.Kind = .words) -> SlotEntry {
    SlotEntry(
      id: SlotID(beginningOf: machine.random(16)), kind: kind, agreementKey: point(), object: hash())
  }

  /// Bytes that can be a point, as far as the formats look.
  mutating func point() -> [UInt8] { [4] + machine.random(64) }

  mutating func genesis() -> ControlOperation {
    ControlOperation(
      account: nil, random: machine.random(16), generation: 1, number: 0, parents: [], frontier: [],
      envelopesHash: ControlSeal.hash(ofEnvelopes: []), handsOut: [],
      kind: .genesis(Genesis(ownerKey: point(), device: deviceEntry(), epochCommitment: machine.random(32))))
  }

  mutating func operation(_ kind: ControlOperation.Kind, envelopes: [[UInt8]] = []) -> ControlOperation {
    let parents: [ControlID] = [hash(), hash()]
    return ControlOperation(
      account: account, random: machine.random(16), generation: 2, number: 6, parents: parents.sorted(),
      frontier: frontier(), envelopesHash: ControlSeal.hash(ofEnvelopes: envelopes), handsOut: [keys.name],
      kind: kind)
  }

  mutating func rekey(newOwner: Bool = true) -> Rekey {
    let devices = [device, otherDevice].sorted()
    let slots = [slotEntry(), slotEntry(.passphrase)].sorted { $0.id < $1.id }
    let removed = [SlotID(beginningOf: machine.random(16)), SlotID(beginningOf: machine.random(16))]
    let heads = [
      SegmentName(device: devices[0], number: 3, hash: hash()),
      SegmentName(device: devices[0], number: 4, hash: hash()),
    ]
    return Rekey(
      revocations: [
        Rekey.Revocation(device: devices[0], heads: heads), Rekey.Revocation(device: devices[1], heads: []),
      ], removedSlots: removed.sorted(), addedSlots: slots, newOwnerKey: newOwner ? point() : nil,
      epochCommitment: machine.random(32))
  }

  /// Signed with bytes that look like signatures.
  mutating func signed(_ operation: ControlOperation) -> SignedControlOperation {
    var second: [UInt8]?
    if case .rekey(let rekey) = operation.kind, rekey.newOwnerKey != nil { second = machine.random(64) }
    return SignedControlOperation(operation, signature: machine.random(64), newOwnerSignature: second)
  }
}

/// Checks that every changed byte of `object` is refused.
func expectEachByteGuards(
  _ object: [UInt8], _ open: ([UInt8]) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) {
  for offset in object.indices {
    var changed = object
    changed[offset] ^= offset.isMultiple(of: 2) ? 1 : 0x80
    #expect(throws: FormatError.self, "byte \(offset)", sourceLocation: sourceLocation) { try open(changed) }
  }
}

/// Checks that `object` is refused wherever it is cut off, and with a byte more.
func expectNoOtherLength(
  _ object: [UInt8], _ open: ([UInt8]) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) {
  for count in object.indices {
    #expect(throws: FormatError.self, "\(count) bytes", sourceLocation: sourceLocation) {
      try open(Array(object[..<count]))
    }
  }
  #expect(throws: FormatError.self, sourceLocation: sourceLocation) { try open(object + [0]) }
}

/// SHA-256 in hexadecimal, by which an example is pinned.
func digest(_ bytes: [UInt8]) -> String { Hexadecimal.text(SHA256.hash(bytes.rawSpan)) }
