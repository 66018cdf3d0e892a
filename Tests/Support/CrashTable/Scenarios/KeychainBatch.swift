// SPDX-License-Identifier: Apache-2.0

import CrashDisk
import Foundation
import Keychains
import Secrets

/// Several items replaced at once, one deleted and one made: as a change of all private keys is.
final class KeychainBatch: CrashScenario {
  let operation: String
  var store: String { kind.name }
  private let kind: KeychainKind
  private let count: Int

  /// - Parameter count: how many items are replaced.
  init(_ kind: KeychainKind, count: Int) {
    self.kind = kind
    self.count = count
    operation = count == 1 ? "keychain batch, 1 item" : "keychain batch, \(count) items"
  }

  private static let itemCount = 6

  private var before: [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: (1...Self.itemCount).map { ("item.\($0)", Self.value($0, 0)) })
  }

  private var after: [String: [UInt8]] {
    var items = before
    for number in 1...count { items["item.\(number)"] = Self.value(number, 1) }
    items["item.\(Self.itemCount)"] = nil
    items["item.new"] = Self.value(0, 1)
    return items
  }

  /// As long as an envelope of a private key.
  private static func value(_ number: Int, _ version: UInt8) -> [UInt8] {
    [UInt8](repeating: UInt8(number), count: 300) + [version]
  }

  func prepare(_ home: String) throws {
    try OpenKeychain.create(home, kind) { opened in
      for (account, value) in before { try opened.keychain.save(Data(value), forKey: account) }
    }
  }

  func open(_ home: String) throws -> OpenKeychain { try OpenKeychain.open(home, kind) }

  func operate(_ store: OpenKeychain) throws {
    let after = after
    var changes = ((1...count).map { "item.\($0)" } + ["item.new"]).map { account in
      let value = after[account] ?? []
      return SecretChange.save(
        SharedSecretBytes(SecretBytes(copying: value.span.bytes)), account: account,
        accessibility: .afterFirstUnlockThisDeviceOnly)
    }
    changes.append(.delete(account: "item.\(Self.itemCount)"))
    try store.keychain.apply(changes)
  }

  func judge(_ store: OpenKeychain) throws -> CrashVerdict {
    let items = try store.items()
    if items == before { return .before }
    if items == after { return .after }
    throw CrashFinding.mixed("the items are neither those before the batch nor those after it")
  }

  func close(_ store: OpenKeychain) { store.file.close() }
}
