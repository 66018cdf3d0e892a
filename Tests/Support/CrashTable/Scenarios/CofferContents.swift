// SPDX-License-Identifier: Apache-2.0

import Captures
import CofferKit
import CrashDisk
import Foundation
import Keychains

/// What a coffer holds, in every respect but its audit log: a line of that may be missing after a crash.
struct CofferContents: Equatable {
  /// The secrets that open it, of those that are tried.
  var opening: Set<String>
  var slotCount: Int
  /// When the recovery phrase was tried.
  var drill: Int64?
  /// All keychain items but those that stand for the audit log and the settings.
  var items: [String: [UInt8]]
  var messageCount: Int
  /// For each capture the hashes of photo, depth and metadata, and its title if it has one.
  var captures: Set<[String]>

  /// The item with the date of the last backup, which may be missing when a backup is there.
  static let lastBackup = "coffer.last-backup"
  /// The item with the generations of protected data.
  static let generations = "com.cypherair.v1.protected-data.generations"

  /// Reads it all; what is sealed is opened.
  init(_ coffer: Coffer, opening: Set<String>) throws {
    self.opening = opening
    slotCount = try coffer.slots().count
    drill = try coffer.settings().lastRecoveryDrill
    items = [:]
    for account in try coffer.keychain.accounts()
    where account != "coffer.audit" && account != "coffer.settings" {
      items[account] = Array(try coffer.keychain.require(forKey: account))
    }
    messageCount = try coffer.vault.status().messageCount
    captures = []
    for capture in try coffer.captures.list() {
      _ = try coffer.captures.verify(capture.id)
      let parts = try coffer.captures.info(capture.id).parts
        .filter { [.photo, .depth, .metadata].contains($0.part) }
      captures.insert(parts.map(\.sha256).sorted() + [capture.label.title].filter { !$0.isEmpty })
    }
    let diagnosis = try coffer.examine(isDeep: true)
    guard diagnosis.isHealthy else {
      throw CrashFinding.lost(diagnosis.findings.map(\.text).joined(separator: "; "))
    }
  }

  /// The names of what differs.
  func differences(from other: CofferContents) -> [String] {
    [
      ("secrets that open", opening == other.opening), ("slots", slotCount == other.slotCount),
      ("settings", drill == other.drill), ("items", items == other.items),
      ("messages", messageCount == other.messageCount), ("captures", captures == other.captures),
    ].filter { !$0.1 }.map(\.0)
  }
}
