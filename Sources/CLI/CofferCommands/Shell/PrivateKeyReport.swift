// SPDX-License-Identifier: Apache-2.0
//
// What 'coffer recovery-state' says of private keys: which of them cannot be opened, why, and what to do.

internal import Enclaves
internal import KeyCustody
internal import OpenPGP
internal import Primitives

struct PrivateKeyReport {
  struct LostKey {
    let fingerprint: String
    let loss: PrivateKeyLoss
  }

  /// Those that cannot be opened any more, by fingerprint.
  let lost: [LostKey]
  /// What the enclaves say that do not answer now.
  let away: [EnclaveError]
  let count: Int
  let guardLoss: PrivateKeyLoss?

  init(_ custody: PrivateKeyCustody) throws {
    let places = try custody.places()
    count = places.count
    lost = places.sorted { $0.key < $1.key }.compactMap { fingerprint, place in
      place.loss.map { LostKey(fingerprint: Hexadecimal.text(fingerprint.bytes), loss: $0) }
    }
    away = places.values.compactMap { if case .away(let error) = $0.state { error } else { nil } }
    guardLoss = try custody.guardLoss()
  }

  var isLost: Bool { !lost.isEmpty || guardLoss != nil }

  /// For programs; stable.
  var code: String { !lost.isEmpty ? "incomplete" : !away.isEmpty ? "unavailable" : "whole" }

  var lines: [ShownLine] {
    var lines: [ShownLine] = ["private keys    \(summary)"]
    for key in lost { lines.append("  \(key.fingerprint)  \(key.loss.sentence)") }
    if let guardLoss { lines.append("guard           lost: \(guardLoss.sentence)") }
    return lines
  }

  private var summary: String {
    if !lost.isEmpty { return "\(lost.count) of \(count) cannot be opened any more" }
    return away.isEmpty ? "whole" : "\(away.count) of \(count) in an enclave that does not answer now"
  }

  /// For people.
  var advice: [ShownLine] {
    var lines: [ShownLine] = []
    if guardLoss != nil { lines.append("leave the guard, which opens nothing any more: \(Self.leaveGuard)") }
    if !lost.isEmpty {
      lines.append("bring private keys back from their backups: \(Self.importBackup)")
      lines.append("or give one up: coffer identity delete FINGERPRINT --no-backup")
    }
    return lines
  }

  /// For programs.
  var steps: [String] {
    (guardLoss != nil ? [Self.leaveGuard] : []) + (lost.isEmpty ? [] : [Self.importBackup])
  }

  private static let leaveGuard = "coffer mode standard"
  private static let importBackup = "coffer identity import FILE"
}
