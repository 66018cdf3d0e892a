// SPDX-License-Identifier: Apache-2.0
//
// Small named secrets: generic-password items of the service `app.rial.keychain`, each sealed under the
// class key of its accessibility class. Nothing leaves this device. A log line has the operation, the error's fixed
// text and its native status, never a name or a value.

public import Foundation
internal import Logging
internal import Primitives
public import Secrets

/// Saves, loads and deletes keychain items.
///
/// A missing item gives nil, a locked one ``KeychainError/locked``, a damaged one
/// ``KeychainError/invalidData``.
public final class KeychainService: Sendable {
  /// The service that all items belong to.
  public static let serviceName = "app.rial.keychain"

  let keychain: any Keychain
  private let keys: ClassKeys

  /// - Parameters:
  ///   - keychain: where the sealed items are.
  ///   - keys: the class keys that are available; items of other classes are locked.
  public init(keychain: any Keychain, keys: ClassKeys) {
    self.keychain = keychain
    // Items do not need the owner key, and a service lives as long as the coffer is open.
    self.keys = keys.withoutOwner()
  }

  /// Makes a new, empty keychain. Once, before the first item.
  /// - Throws: `KeychainError.duplicateItem` when it has been made before.
  public func prepare() throws(KeychainError) {
    try change("prepare") { [self] current throws(KeychainError) in
      guard current.isEmpty else { throw .duplicateItem }
      var changes: [KeychainChange] = []
      for accessibility in AccessibilityClass.allCases {
        changes.append(.set(try indexItem(KeychainIndex(of: [], accessibility, key: key(accessibility)))))
      }
      return changes
    }
  }

  // MARK: Secrets

  /// Saves a secret; an item of that name is replaced, its accessibility class too.
  /// - Throws: `KeychainError.invalidData` for a name that is empty, holds a NUL or is reserved; `.locked`;
  ///   `.saveFailed`.
  public func save(
    _ secret: borrowing SecretBytes, forKey account: String,
    accessibility: AccessibilityClass = .afterFirstUnlockThisDeviceOnly
  ) throws(KeychainError) {
    let item = try secret.withBytes { secret throws(KeychainError) in
      try seal(secret, account, accessibility)
    }
    try change("save") { [self] current throws(KeychainError) in
      try batch([.set(item)], current)
    }
  }

  /// Saves a secret under a name that is not taken.
  /// - Throws: `KeychainError.duplicateItem` when it is.
  public func create(
    _ secret: borrowing SecretBytes, forKey account: String,
    accessibility: AccessibilityClass = .afterFirstUnlockThisDeviceOnly
  ) throws(KeychainError) {
    let item = try secret.withBytes { secret throws(KeychainError) in
      try seal(secret, account, accessibility)
    }
    try change("create") { [self] current throws(KeychainError) in
      guard !current.contains(where: { $0.isNamed(account) }) else { throw .duplicateItem }
      return try batch([.set(item)], current)
    }
  }

  /// The secret of that name, nil when there is none.
  public func loadSecret(forKey account: String) throws(KeychainError) -> SecretBytes? {
    do throws(KeychainError) {
      let items = try keychain.items()
      guard let item = items.first(where: { $0.isNamed(account) && !$0.isIndex }) else {
        // The item is missing in the unlocked classes; a locked class may have it.
        try checkIndexes(items)
        guard keys.whenUnlocked != nil, keys.afterFirstUnlock != nil else { throw .locked }
        return nil
      }
      let key = try key(item.accessibility)
      try checkIndex(items, item.accessibility)
      return try Self.open(item, key)
    } catch {
      throw logged(error, "load")
    }
  }

  /// The secret of that name, which is of a known class; nil when there is none. Works while the other class
  /// is locked.
  /// - Throws: `KeychainError.invalidData` also when the item is of another class.
  public func loadSecret(
    forKey account: String, in accessibility: AccessibilityClass
  ) throws(KeychainError) -> SecretBytes? {
    do throws(KeychainError) {
      let key = try key(accessibility)
      let items = try keychain.items()
      try checkIndex(items, accessibility)
      guard let item = items.first(where: { $0.isNamed(account) && !$0.isIndex }) else { return nil }
      guard item.accessibility == accessibility else { throw .invalidData }
      return try Self.open(item, key)
    } catch {
      throw logged(error, "load")
    }
  }

  /// The secret of that name.
  /// - Throws: `KeychainError.itemNotFound` when there is none.
  public func requireSecret(forKey account: String) throws(KeychainError) -> SecretBytes {
    guard let secret = try loadSecret(forKey: account) else { throw .itemNotFound }
    return secret
  }

  /// Deletes the item of that name; it is not an error if there is none.
  public func delete(forKey account: String) throws(KeychainError) {
    do throws(KeychainError) {
      try keychain.update { [self] current throws(KeychainError) in
        guard current.contains(where: { $0.isNamed(account) && !$0.isIndex }) else { return [] }
        return try batch([.delete(account: account)], current)
      }
    } catch {
      throw logged(Self.asDeletion(error), "delete")
    }
  }

  /// Whether there is an item of that name, whatever its class.
  ///
  /// Names are public, so this works while a class is locked. It does not detect that somebody removed an
  /// item from a locked class.
  func hasItem(forKey account: String) throws(KeychainError) -> Bool {
    try keychain.items().contains { $0.isNamed(account) && !$0.isIndex }
  }

  /// The names of all items, in order.
  public func accounts() throws(KeychainError) -> [String] {
    let items = try keychain.items()
    try checkIndexes(items)
    return items.filter { !$0.isIndex }.map(\.account)
  }

  // MARK: Data

  /// Saves `data`; an item of that name is replaced.
  public func save(
    _ data: Data, forKey account: String,
    accessibility: AccessibilityClass = .afterFirstUnlockThisDeviceOnly
  ) throws(KeychainError) {
    try save(SecretBytes(copying: data.bytes), forKey: account, accessibility: accessibility)
  }

  /// The item of that name, copied out of locked memory; nil when there is none.
  public func load(forKey account: String) throws(KeychainError) -> Data? {
    guard let secret = try loadSecret(forKey: account) else { return nil }
    return secret.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
  }

  /// The item of that name, which is of a known class, copied out of locked memory; nil when there is none.
  public func load(forKey account: String, in accessibility: AccessibilityClass) throws(KeychainError)
    -> Data?
  {
    guard let secret = try loadSecret(forKey: account, in: accessibility) else { return nil }
    return secret.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
  }

  /// The item of that name, copied out of locked memory.
  /// - Throws: `KeychainError.itemNotFound` when there is none.
  public func require(forKey account: String) throws(KeychainError) -> Data {
    guard let data = try load(forKey: account) else { throw .itemNotFound }
    return data
  }

  // MARK: Sealing and the index

  func seal(
    _ secret: RawSpan, _ account: String, _ accessibility: AccessibilityClass
  ) throws(KeychainError) -> SealedItem {
    guard Self.isPossible(account) else { throw .invalidData }
    let key = try key(accessibility)
    var sealer = SealedValue()
    let sealed = key.withBytes {
      sealer.seal(secret, key: $0, context: Self.context(account, accessibility))
    }
    return SealedItem(account: account, accessibility: accessibility, sealed: Data(sealed))
  }

  /// A name is not empty, not an index's, and without NUL: SQLite would end it there.
  static func isPossible(_ account: String) -> Bool {
    !account.isEmpty && !account.utf8.contains(0)
      && !account.utf8.starts(with: KeychainIndex.reservedPrefix.utf8)
  }

  static func open(_ item: SealedItem, _ key: SharedSecretBytes) throws(KeychainError) -> SecretBytes {
    var sealer = SealedValue()
    do {
      return try key.withBytes { key throws(SealedValue.Failure) in
        try sealer.open(item.sealed.bytes, key: key, context: context(item.account, item.accessibility))
      }
    } catch {
      // The class key is known to be right, the keybag says so: a key that does not fit is damage too.
      throw .invalidData
    }
  }

  /// service ‖ 0 ‖ class (1) ‖ account
  private static func context(_ account: String, _ accessibility: AccessibilityClass) -> [UInt8] {
    Array(serviceName.utf8) + [0, accessibility.rawValue] + account.utf8
  }

  func key(_ accessibility: AccessibilityClass) throws(KeychainError) -> SharedSecretBytes {
    guard let key = keys.key(for: accessibility) else { throw .locked }
    return key
  }

  /// Completes `changes` with the indexes of the classes they touch, after checking those as they are.
  func batch(
    _ changes: [KeychainChange], _ current: [SealedItem]
  ) throws(KeychainError) -> [KeychainChange] {
    var after = current
    var touched: Set<AccessibilityClass> = []
    for change in changes {
      let account: String
      switch change {
      case .set(let item):
        account = item.account
        touched.insert(item.accessibility)
      case .delete(let name): account = name
      }
      if let index = after.firstIndex(where: { $0.isNamed(account) }) {
        touched.insert(after[index].accessibility)
        after.remove(at: index)
      }
      if case .set(let item) = change { after.append(item) }
    }
    var all = changes
    for accessibility in touched {
      try checkIndex(current, accessibility)
      all.append(.set(try indexItem(KeychainIndex(of: after, accessibility, key: key(accessibility)))))
    }
    return all
  }

  private func indexItem(_ index: KeychainIndex) throws(KeychainError) -> SealedItem {
    let account = KeychainIndex.account(index.accessibility)
    let key = try key(index.accessibility)
    var sealer = SealedValue()
    let bytes = index.bytes
    let sealed = key.withBytes {
      sealer.seal(bytes.rawSpan, key: $0, context: Self.context(account, index.accessibility))
    }
    return SealedItem(account: account, accessibility: index.accessibility, sealed: Data(sealed))
  }

  private func checkIndexes(_ items: [SealedItem]) throws(KeychainError) {
    for accessibility in AccessibilityClass.allCases where keys.key(for: accessibility) != nil {
      try checkIndex(items, accessibility)
    }
  }

  func checkIndex(
    _ items: [SealedItem], _ accessibility: AccessibilityClass
  ) throws(KeychainError) {
    let key = try key(accessibility)
    let account = KeychainIndex.account(accessibility)
    guard let item = items.first(where: { $0.isNamed(account) && $0.accessibility == accessibility })
    else { throw .invalidData }
    let stored = try Self.open(item, key)
    let expected = KeychainIndex(of: items, accessibility, key: key).bytes
    guard stored.withBytes({ constantTimeEqual($0, expected.rawSpan) }) else { throw .invalidData }
  }

  func change(
    _ operation: StaticString, _ body: ([SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    do {
      try keychain.update(body)
    } catch {
      throw logged(error, operation)
    }
  }

  /// A store reports every failed write as `.saveFailed`.
  private static func asDeletion(_ error: KeychainError) -> KeychainError {
    if case .saveFailed(let status) = error { .deleteFailed(status) } else { error }
  }

  private static let log = Logger(label: "app.rial.keychain")

  func logged(_ error: KeychainError, _ operation: StaticString) -> KeychainError {
    // The fixed text: unlike a description of the value, it cannot begin to say more than is meant.
    var metadata: Logger.Metadata = ["error": "\(error.errorDescription ?? "")"]
    if let status = error.status { metadata["status"] = "\(status)" }
    Self.log.error("\(operation) failed", metadata: metadata)
    return error
  }
}
