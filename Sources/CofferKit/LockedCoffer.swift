// SPDX-License-Identifier: Apache-2.0
//
// A coffer before it is opened: what can be told of it without a key, and the way to unlock it.

internal import Foundation
public import Keychains
internal import Storage
public import Vaults

/// A coffer that is there and not open.
///
/// The slots carry a digest against accidents; the count of rows is what the file says, and is confirmed
/// only by opening.
public final class LockedCoffer: Sendable {
  public let home: String
  private let file: DatabaseFile
  private let keybag: Keybag

  /// - Throws: `StorageError`; `KeybagError.corrupt`.
  public init(home: String) throws {
    self.home = home
    file = try DatabaseFile.open(home: home)
    keybag = try file.read(Keybag.load)
  }

  public var slots: [KeySlot] { keybag.slots }

  /// Opens the coffer; may be tried again when it was the wrong passphrase.
  ///
  /// - Throws: `KeybagError.wrongSecret`, `.noSuchSlot`, `.corrupt`, `.derivation`; `VaultError.corrupt`.
  public func unlock(
    _ credential: borrowing SlotCredential, clock: VaultClock = .system
  ) throws -> Coffer {
    // The slots as they are now: somebody may have changed them while a prompt was waiting.
    try Coffer(file: file, unlocked: file.read(Keybag.load).unlock(credential), clock: clock)
  }

  /// How many messages the file seems to hold.
  public func messageRowCount() throws -> Int {
    Int(try file.read { try $0.firstRow("SELECT count(id) FROM messages") { try $0.integer(0) } } ?? 0)
  }

  /// Bytes of the database file.
  public var fileByteCount: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: home + "/" + DatabaseFile.name)
    return (attributes?[.size] as? Int) ?? 0
  }
}
