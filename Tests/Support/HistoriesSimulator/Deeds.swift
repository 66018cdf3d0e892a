// SPDX-License-Identifier: Apache-2.0
//
// What can happen in a simulation, as small values: a list of them with a seed is a scenario that always does the same.
// Devices and choices are numbers, taken modulo what there is, so that a shortened list still has a meaning.

@testable import Histories

/// One thing that happens.
enum Deed: Hashable, Sendable {
  case add(device: Int, content: Int)
  case edit(device: Int, record: Int, content: Int)
  case remove(device: Int, record: Int)
  /// The user asks for the parts of all captures.
  case fetch(device: Int)
  /// The user removes everything that is shown.
  case removeAll(device: Int)
  case begin(device: Int, Purpose)
  /// So many requests are answered; order and faults come from the seed, 0 is in order and without faults.
  case answers(device: Int, count: Int, seed: UInt64)
  /// A run from its beginning to its end.
  case run(device: Int, Purpose, seed: UInt64)
  /// The process ends. So many of the requests under way were still carried out.
  case crash(device: Int, sent: Int)
  case pass(seconds: UInt64)
  /// The clock of a device is so much ahead.
  case setClock(device: Int, seconds: Int64)
  case enrol(by: Int)
  /// A new device gets everything from the remote, with one of the slots.
  case restore(slot: Int)
  /// Segments but the last `without` count.
  case revoke(device: Int, by: Int, without: Int)
  case handOutKeys(by: Int)
  case addSlot(by: Int)
  case replaceSlot(by: Int)
  /// Orders and tests alone do this.
  case removeSlot(slot: Int, by: Int)
  /// The disk of a device is copied, and the copy runs too. The random state may be the same.
  case copy(device: Int, sameRandomness: Bool)
  case save(device: Int)
  case putBack(device: Int)
  case confirm(device: Int)
  /// The user does what a device asks for.
  case attend(device: Int)
  case misbehave(device: Int, Misdeed, choice: Int)
  case server(ServerDeed)
}

/// What a bad member writes.
enum Misdeed: Int, CaseIterable, Hashable, Sendable {
  case placesToNoise, wideRemoval, wideReplacement, highLamport, overflowingLamport, falseDigest, missingPack
  case packOfEarlierSegment, foreignPack, fork, unknownFrontier
  /// An addition of a content in parts that nobody says the places of.
  case missingParts
}

/// What a server does that is broken or hostile.
enum ServerDeed: Hashable, Sendable {
  /// Lists are so many writes late until it becomes honest.
  case late(Int)
  case backup(steps: Int)
  case swap(Int, Int)
  case truncate(Int)
  case flip(Int)
  case delete(ObjectClass, Int)
  case withhold(ObjectClass, Int)
  case olderState(device: Int, steps: Int)
  case nothing
  case split(Int)
  case replay(Int)
  case ownAccount
  case junk(Int)
  case honest
}

enum ObjectClass: Int, CaseIterable, Hashable, Sendable {
  case control, segment, pack, slot

  func includes(_ name: ObjectName) -> Bool {
    switch (self, name) {
    case (.control, .control), (.segment, .segment), (.pack, .pack), (.slot, .slot): true
    default: false
    }
  }
}

/// Faults that were injected, so that an alarm can be told from a false one.
enum Injected: Hashable, Sendable {
  case lostRequests, torn, lateLists, backup, tampering, loss, withholding, nothingShown, copies, badMember,
    clocks, crossedOwners
}

extension Alarm {
  /// Its case.
  var kind: String {
    switch self {
    case .tampered: "tampered"
    case .incomplete: "incomplete"
    case .rolledBack: "rolledBack"
    case .empty: "empty"
    case .forked: "forked"
    case .ownerForked: "ownerForked"
    case .digestDiffers: "digestDiffers"
    case .missing: "missing"
    }
  }

  /// The faults of which one explains this alarm.
  var causes: Set<Injected> {
    switch self {
    case .tampered: [.tampering, .badMember]
    case .incomplete: [.loss, .backup, .tampering, .withholding, .nothingShown, .badMember, .torn]
    case .rolledBack: [.loss, .backup, .withholding, .nothingShown, .tampering]
    case .empty: [.nothingShown, .backup, .loss, .withholding]
    case .forked: [.copies, .badMember]
    case .ownerForked: [.crossedOwners]
    case .digestDiffers: [.badMember]
    case .missing:
      [.lostRequests, .torn, .loss, .withholding, .backup, .tampering, .nothingShown, .clocks, .badMember]
    }
  }
}
