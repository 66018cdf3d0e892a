// SPDX-License-Identifier: Apache-2.0
//
// What must hold in every world. Each invariant compares the devices with the world's own model, or with each other, and
// asks the rules nothing that they could answer wrongly in the same way.

import Primitives
import Secrets

@testable import Histories

/// An invariant that does not hold, and what was found.
struct Violation: Error, CustomStringConvertible {
  let invariant: String
  let found: String
  /// The world at that moment.
  var world = ""

  var description: String { "\(invariant): \(found)" }
}

extension World {
  /// Devices that belong to the account as they themselves and all others know it. A revoked device may never read that
  /// it is one: it lacks the epoch under which that is said, if it was added while that began.
  var members: [Int] {
    devices.indices.filter { index in
      let id = devices[index].history.device
      return devices[index].history.membership.isMember(id)
        && devices.allSatisfy { $0.history.membership.revocations[id] == nil }
    }
  }

  /// S2: devices at one position have one digest.
  func checkDigests() throws {
    var digests: [HistoryPosition: StateDigest] = [:]
    for index in devices.indices {
      var history = devices[index].history
      guard history.membership.fork == nil, history.settled.isEmpty else { continue }
      let digest = history.digest()
      if let other = digests[history.position], other != digest {
        throw Violation(invariant: "S2", found: "device \(index) has another digest at the same position")
      }
      digests[history.position] = digest
    }
  }

  /// S1: what a run acknowledged is shown on every member, with its content, unless somebody who had seen it removed it,
  /// or its author was revoked.
  func checkAcknowledged() throws {
    for (name, stored) in stored.sorted(by: { $0.key < $1.key })
    where stored.isAcknowledged && !removed.contains(name) {
      for index in members where devices[index].history.membership.revocations[stored.author] == nil {
        let shown = devices[index].history.shownVersions(of: name.record)
        let frames = shown.map { devices[index].machine.frame(of: name.record, version: $0.version) }
        guard frames.contains(stored.frame) else {
          throw Violation(
            invariant: "S1",
            found:
              "device \(index) shows \(frames.count { $0 != nil }) of \(shown.count) versions of a message, "
              + "and not the one that was acknowledged")
        }
      }
    }
  }

  /// S4: every version that counts and is shown has its content at the remote, in a pack that opens.
  func checkContents() throws {
    for index in members {
      let history = devices[index].history
      for (record, versions) in history.records.versions {
        for (version, entry) in versions where history.counts(entry) {
          guard history.shownVersions(of: record).contains(where: { $0.version == version }) else { continue }
          let isThere = entry.places.contains { place in
            guard let pack = history.pack(at: place),
              let object = remote.objects[.pack(place.segment.device, pack.hash)]?.bytes,
              let epoch = try? Pack.epoch(of: object), let keys = history.keys[epoch],
              let frame = try? Pack.entry(place.place.entry, of: object, keys: keys, account: history.account)
            else { return false }
            return FrameHash(hashing: frame) == entry.frameHash
          }
          guard isThere else {
            throw Violation(invariant: "S4", found: "no pack holds a message that device \(index) shows")
          }
        }
      }
    }
  }

  /// S5: of a revoked device nothing counts beyond the heads that the revocations name.
  func checkRevoked() throws {
    for index in devices.indices {
      let history = devices[index].history
      for name in history.counting {
        for entry in history.log.entries.values where history.membership.counting.contains(entry.id) {
          for revocation in entry.rekey?.revocations ?? [] where revocation.device == name.device {
            guard revocation.heads.contains(where: { history.chains.line(to: $0).contains(name) }) else {
              throw Violation(
                invariant: "S5", found: "a segment after a revocation counts on device \(index)")
            }
          }
        }
      }
    }
  }

  /// S9: no content, no identifier of a record, no key is in any byte that the remote ever stored.
  func checkSecrecy() throws {
    var secrets: [[UInt8]] = []
    for (name, stored) in stored { secrets += [Array(stored.frame.prefix(24)), name.record.octets] }
    for device in devices { secrets += device.history.keys.values.map { $0.key.testBytes } }
    let beginnings = Set(secrets.map { Array($0.prefix(8)) })
    for object in remote.everything {
      for offset in object.indices.dropLast(8) where beginnings.contains(Array(object[offset..<offset + 8])) {
        throw Violation(invariant: "S9", found: "a secret is in an object at the remote")
      }
    }
  }

  /// S12: without a fault that could be its reason, no alarm is open.
  func checkAlarms() throws {
    guard !hadCopies else { return }
    for index in members {
      if let alarm = devices[index].history.alarms.first(where: { $0 != .ownerForked }) {
        throw Violation(invariant: "S12", found: "device \(index) says \(alarm)")
      }
    }
  }

  /// S13: what was sealed by a device that knew of a revocation opens with nothing that the revoked device ever held.
  func checkRevokedKeys() throws {
    for (revoked, epoch) in sealedAfterRevocation {
      for device in devices where device.history.device == revoked {
        if device.history.keys[epoch] != nil {
          throw Violation(invariant: "S13", found: "a revoked device holds the key of epoch \(epoch.number)")
        }
      }
    }
  }

  /// S14: devices, slots and epochs come from the control log alone.
  func checkMembership() throws {
    for index in devices.indices {
      let history = devices[index].history
      let added = history.log.entries.values.compactMap { $0.operation.newDevice?.id }
      guard Set(history.membership.devices.keys).isSubset(of: added) else {
        throw Violation(invariant: "S14", found: "device \(index) knows a member that nobody added")
      }
    }
  }

  /// Rounds in which devices that forked, were dropped or lack keys come to rest, with a user who opens slots when asked.
  static let roundLimit = 20

  private var isAtRest: Bool {
    Set(members.map { devices[$0].history.position }).count <= 1
      && members.allSatisfy { devices[$0].history.membership.fork == nil }
      && devices.allSatisfy { !$0.history.mustEnrolAgain }
  }

  /// The invariants that hold at every moment.
  func checkAlways() throws {
    try checkDigests()
    try checkRevoked()
    try checkRevokedKeys()
    try checkMembership()
  }

  /// Everything is brought to rest without further faults: S11, and what holds at rest.
  mutating func checkAtRest() throws {
    endNoise()
    perform(.wait(seconds: 3 * 86_400))
    var round = 0
    repeat {
      for index in devices.indices {
        // Everybody has heard of everything by the third round, so that the user chooses between the same branches.
        if round > 1, devices[index].history.membership.fork != nil { settle(index) }
        runQuietly(index, round == 3 ? .verify : .sync)
        let history = devices[index].history
        let isRevoked = history.membership.revocations[history.device] != nil
        if history.isCloned || history.mustEnrolAgain || (isRevoked && hadCopies) {
          rejoin(index)
        } else if history.needsSlot {
          perform(.rekey(by: index))
        } else {
          continue
        }
        runQuietly(index, .sync)
      }
      round += 1
    } while round < 5 || (round < World.roundLimit && !isAtRest)
    for index in devices.indices { perform(.confirm(device: index)) }
    for index in devices.indices { runQuietly(index, .sync) }
    guard isAtRest else { throw Violation(invariant: "S11", found: "members are at different positions") }
    try checkAlways()
    try checkAcknowledged()
    try checkContents()
    try checkSecrecy()
    try checkAlarms()
  }
}

extension History {
  /// It was approved by an operation that does not count.
  var mustEnrolAgain: Bool {
    membership.devices[device] == nil && log.device(device) != nil && membership.fork == nil
  }
}
