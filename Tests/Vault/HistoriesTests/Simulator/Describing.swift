// SPDX-License-Identifier: Apache-2.0
//
// What a world looks like, for whoever reads the message of a failure.

@testable import Histories

extension World {
  /// Every device with its control log, its chains and its alarms; identifiers by their first two bytes.
  var summary: String {
    devices.indices.map { index in
      let history = devices[index].history
      var lines: [String] = [
        "device \(index) = \(short(history.device.bytes)), "
          + (history.membership.isMember(history.device)
            ? "member" : history.membership.revocations[history.device] == nil ? "no member" : "revoked")
          + (history.isCloned ? ", cloned" : "")
          + ", outbox \(history.outbox.count), closed \(history.closedControl.count)"
      ]
      for entry in history.log.ordered {
        let recipients = history.log.recipients(of: entry)
        lines.append(
          "  \(short(entry.id.bytes)) N=\(entry.operation.number) gen \(entry.operation.generation) "
            + "parents \(entry.operation.parents.map { short($0.bytes) }) \(kind(entry))"
            + (entry.begins.map { " begins \($0.number)" + (history.keys[$0] == nil ? " (no key)" : "") }
              ?? "")
            + (entry.begins == nil ? "" : " to \(recipients.devices.sorted().map { short($0.bytes) })")
            + (history.membership.counting.contains(entry.id) ? "" : " DOES NOT COUNT"))
      }
      for head in history.chains.frontier {
        lines.append(
          "  chain \(short(head.device.bytes)) to \(head.number)-\(short(head.hash.bytes)), "
            + "\(history.chains.line(to: head).filter { history.counting.contains($0) }.count) count")
      }
      for (version, _) in history.holds.segments {
        lines.append("  held \(short(version.device.bytes)) \(version.number)")
      }
      for alarm in history.alarms { lines.append("  alarm \(alarm)") }
      return lines.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private func kind(_ entry: LogEntry) -> String {
    switch entry.operation.kind {
    case .genesis(let genesis): "genesis \(short(genesis.device.id.bytes))"
    case .addDevice(let device): "add \(short(device.id.bytes))"
    case .addSlot(let slot): "slot \(short(slot.id.bytes))"
    case .rekey(let rekey):
      "rekey\(rekey.newOwnerKey == nil ? "" : " new owner") revoking "
        + "\(rekey.revocations.map { short($0.device.bytes) + "@" + "\($0.heads.map(\.number))" }) "
        + "removing \(rekey.removedSlots.map { short($0.bytes) })"
    }
  }

  private func short(_ bytes: [UInt8]) -> String {
    bytes.prefix(2).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
