// SPDX-License-Identifier: Apache-2.0
//
// What a simulation looks like, for whoever reads the message of a failure.

@testable import Histories

extension Simulation {
  /// Every device with its control log, its chains and its alarms; identifiers by their first bytes.
  var summary: String {
    computers.indices.map { index in
      let history = computers[index].history
      let state =
        history.membership.isMember(history.device)
        ? "member" : history.membership.revocations[history.device] == nil ? "no member" : "revoked"
      var lines = [
        "device \(index) = \(history.device.short), \(state)\(history.isCloned ? ", cloned" : "")"
          + "\(computers[index].isBad ? ", bad" : "")\(stolen.contains(history.device) ? ", stolen" : "")"
          + ", outbox \(history.outbox.count), closed \(history.closedControl.count), wanted \(history.wanted.count), "
          + "last \(computers[index].outcome.map { "\($0)" } ?? "-")"
      ]
      for entry in history.log.ordered {
        let parents = entry.operation.parents.map { short($0.bytes) }
        var line = "  \(short(entry.id.bytes)) N=\(entry.operation.number) gen \(entry.operation.generation)"
        line += " parents \(parents) \(kind(entry))"
        if let epoch = entry.begins {
          let recipients = history.log.recipients(of: entry).devices.sorted().map { $0.short }
          line += " begins \(epoch.number)\(history.keys[epoch] == nil ? " (no key)" : "") to \(recipients)"
        }
        if !history.membership.counting.contains(entry.id) { line += " DOES NOT COUNT" }
        lines.append(line)
      }
      for head in history.chains.frontier {
        lines.append(
          "  chain \(head.device.short) to \(head.number)-\(short(head.hash.bytes)), "
            + "\(history.chains.lines(to: [head]).filter { history.counts($0) }.count) count")
      }
      for entry in history.chains.ordered {
        lines.append(
          "    \(entry.name.device.short)/\(entry.name.number)\(history.counts(entry.name) ? "" : " (does not count)"): "
            + entry.segment.operations.map(describe).joined(separator: ", "))
      }
      for version in history.holds.segments.keys.sorted() {
        lines.append("  held \(version.device.short) \(version.number)")
      }
      lines.append(contentsOf: ownWords(history))
      for alarm in history.alarms { lines.append("  alarm \(alarm)") }
      return lines.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  /// What it says again or not, and what it has given up.
  private func ownWords(_ history: History) -> [String] {
    func names(_ segments: some Sequence<SegmentName>) -> [String] {
      segments.sorted().map { "\($0.device.short)/\($0.number)" }
    }
    var lines: [String] = []
    if !history.former.isEmpty { lines.append("  former \(history.former.sorted().map { $0.short })") }
    if !history.unrepeatable.isEmpty { lines.append("  not said again \(names(history.unrepeatable))") }
    let unsaid = history.unsaid.sorted().map { $0.version.tag.short }
    if !unsaid.isEmpty { lines.append("  unsaid \(unsaid)") }
    for name in history.remote.passedOver.sorted() { lines.append("  passed over \(name.path)") }
    for name in history.remote.missingSince.keys.sorted() { lines.append("  missing \(name.path)") }
    return lines
  }

  private func describe(_ operation: Histories.Operation) -> String {
    switch operation {
    case .add(let addition):
      "add \(short(addition.record.octets))@\(addition.version.lamport)-\(addition.version.tag.short) in \(addition.place.pack).\(addition.place.entry) replacing \(addition.replaces.map { $0.tag.short })"
    case .remove(let removal):
      "remove \(short(removal.record.octets)) \(removal.versions.map { $0.tag.short })"
    case .place(let place):
      "place \(short(place.record.octets)) \(place.version.tag.short) in \(place.place.pack).\(place.place.entry)"
    case .unknown: "unknown"
    }
  }

  private func kind(_ entry: LogEntry) -> String {
    switch entry.operation.kind {
    case .genesis(let genesis): "genesis \(genesis.device.id.short)"
    case .addDevice(let device): "add \(device.id.short)"
    case .addSlot(let slot): "slot \(slot.id.short)"
    case .rekey(let rekey):
      "rekey\(rekey.newOwnerKey == nil ? "" : " new owner") revoking "
        + "\(rekey.revocations.map { $0.device.short + "@" + "\($0.heads.map(\.number))" }) "
        + "removing \(rekey.removedSlots.map { $0.short })"
    }
  }

  private func short(_ bytes: [UInt8]) -> String {
    bytes.prefix(2).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
