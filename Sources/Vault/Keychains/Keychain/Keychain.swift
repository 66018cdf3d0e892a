// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A sealed value, as a keychain store holds it. No store holds a key that could open it.
public struct SealedItem: Equatable, Sendable {
  /// The item's name.
  public var account: String
  /// Which class key seals it.
  public var accessibility: AccessibilityClass
  /// A sealed value (Specs/keychain.md).
  public var sealed: Data

  /// An item with these fields.
  public init(account: String, accessibility: AccessibilityClass, sealed: Data) {
    self.account = account
    self.accessibility = accessibility
    self.sealed = sealed
  }

  /// Whether this is the item's name, byte for byte. Swift's `==` treats a composed and a decomposed letter
  /// as equal; a store of bytes does not.
  func isNamed(_ name: String) -> Bool { account.utf8.elementsEqual(name.utf8) }
}

/// Where the sealed items of a coffer are. The numbers are stored.
public enum KeychainPlace: UInt8, Sendable, CaseIterable {
  /// In the coffer's own file.
  case file = 1
  /// In the desktop's Secret Service.
  case secretService = 2
}

/// One step of a batch.
public enum KeychainChange: Equatable, Sendable {
  /// Stores the item in place of any other of that name.
  case set(SealedItem)
  /// Removes the item of that name.
  case delete(account: String)
}

/// A store of sealed items. Every write is an atomic batch, computed from the current items.
public protocol Keychain: Sendable {
  /// Every item, at one moment.
  func items() throws(KeychainError) -> [SealedItem]

  /// Passes every item to `body` and applies the changes that it returns: all of them or none, with no other
  /// writer in between. When `body` throws, nothing changes.
  func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError)
}
