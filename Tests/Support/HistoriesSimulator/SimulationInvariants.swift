// SPDX-License-Identifier: Apache-2.0
//
// What must hold in every simulation (design/remote.md, 14). Each invariant compares devices with the simulation's own
// model, with each other, or with the bytes at the server.

import Primitives
import Secrets

@testable import Histories

enum Invariant: String, Sendable {
  case s1 = "S1", s2 = "S2", s3 = "S3", s4 = "S4", s5 = "S5", s6 = "S6", s7 = "S7", s8 = "S8", s9 = "S9"
  case s11 = "S11", s12 = "S12", s13 = "S13", s14 = "S14"
}

/// An invariant that does not hold, and what was found.
struct Breach: Error, Sendable, CustomStringConvertible {
  let invariant: Invariant
  let found: String

  var description: String { "\(invariant.rawValue): \(found)" }
}

// MARK: At every moment

extension Simulation {
  func checkAlways() throws(Breach) {
    if let breach { throw breach }
    try checkDigests()
    try checkRevoked()
    try checkCauses()
    try checkRevokedKeys()
    try checkMembership()
  }

  /// S2: devices at one position have one digest, unless the user chose between branches of owner keys.
  func checkDigests() throws(Breach) {
    var digests: [HistoryPosition: (StateDigest, Int)] = [:]
    for index in computers.indices {
      var history = computers[index].history
      guard history.membership.fork == nil, history.settled.isEmpty, history.log.genesis != nil else {
        continue
      }
      let digest = history.digest()
      if let (other, first) = digests[history.position], other != digest {
        throw Breach(invariant: .s2, found: "devices \(first) and \(index) have one position and two digests")
      }
      digests[history.position] = (digest, index)
    }
  }

  /// S5: of a revoked device, nothing counts that a revocation in the log of a device does not leave; compared with the
  /// names in the operations, and with all segments that were ever written: nobody may have a head any more.
  func checkRevoked() throws(Breach) {
    for index in computers.indices {
      let history = computers[index].history
      for entry in history.log.entries.values where history.membership.counting.contains(entry.id) {
        for revocation in entry.rekey?.revocations ?? [] {
          var left: Set<SegmentName> = []
          for head in revocation.heads {
            var next: SegmentName? = head
            while let name = next {
              left.insert(name)
              next = madeSegments[name] ?? nil
            }
          }
          let all = history.chains.segments(of: revocation.device)
          if all.contains(where: { history.counts($0) && !left.contains($0) }) {
            throw Breach(invariant: .s5, found: "a segment after a revocation counts on device \(index)")
          }
        }
      }
    }
  }

  /// S6: what a device has verified was written by members, with everything that it names before it.
  func checkCauses() throws(Breach) {
    for index in computers.indices where !computers[index].isBad {
      let history = computers[index].history
      for (name, entry) in history.chains.entries {
        guard madeSegments[name] != nil else {
          throw Breach(invariant: .s6, found: "device \(index) took a segment that nobody wrote")
        }
        if let before = entry.segment.predecessor, history.chains.entries[before] == nil {
          throw Breach(invariant: .s6, found: "device \(index) took a segment without its predecessor")
        }
        // What a revocation leaves of a cause's past is here, even if the cause is not.
        for cause in entry.segment.frontier
        where history.chains.entries[cause] == nil && !history.isBeyondRevocation(cause) {
          throw Breach(invariant: .s6, found: "device \(index) took a segment without a cause")
        }
      }
    }
  }

  /// S13: what was sealed by a device that knew of a revocation opens with no key that the revoked device ever held.
  func checkRevokedKeys() throws(Breach) {
    for (sealed, name) in sealedAfter where heldKeys[sealed.revoked]?.contains(sealed.epoch) == true {
      throw Breach(
        invariant: .s13,
        found: "a revoked device has the key of epoch \(sealed.epoch.number), under which \(name.kind) "
          + "was sealed by somebody who knew of the revocation")
    }
  }

  /// S14: operations of the control log are those that the user asked for, and members, slots and epochs come from them.
  func checkMembership() throws(Breach) {
    for index in computers.indices {
      let history = computers[index].history
      guard history.log.entries.keys.allSatisfy(madeOperations.contains) else {
        throw Breach(
          invariant: .s14, found: "device \(index) has a control operation that the user did not ask for")
      }
      let devices = Set(history.log.entries.values.compactMap { $0.operation.kind.newDevice?.id })
      let slots = Set(history.log.entries.values.flatMap { $0.operation.kind.newSlots.map(\.id) })
      guard devices.isSuperset(of: history.membership.devices.keys),
        slots.isSuperset(of: history.membership.slots.keys)
      else { throw Breach(invariant: .s14, found: "device \(index) knows a member that no operation added") }
    }
  }
}
