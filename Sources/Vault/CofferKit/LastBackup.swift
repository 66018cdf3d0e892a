// SPDX-License-Identifier: Apache-2.0
//
// When the whole coffer was last backed up, in one keychain item (Specs/backup.md, "The last backup"):
//
//   version 1 (1) ‖ made (8) ‖ with private parts (1)

internal import Keychains
internal import Primitives
internal import Secrets
internal import Vaults

/// The last whole backup of a coffer that was read back.
public struct LastBackup: Equatable, Sendable {
  /// When it was made; seconds since 1970, UTC.
  public let made: Int64
  /// Whether the private parts of the identities are in it.
  public let hasPrivateParts: Bool

  static let account = "coffer.last-backup"

  init(made: Int64, hasPrivateParts: Bool) {
    self.made = made
    self.hasPrivateParts = hasPrivateParts
  }

  /// - Throws: `KeychainError.invalidData` when the item is damaged; nil is for a coffer that has no backup.
  static func load(_ keychain: KeychainService) throws(KeychainError) -> LastBackup? {
    guard let bytes = try keychain.loadSecret(forKey: account) else { return nil }
    return try bytes.withBytes { bytes throws(KeychainError) in
      var cursor = ByteCursor()
      do {
        guard try cursor.readByte(bytes) == 1 else { throw KeychainError.invalidData }
        let made = try cursor.readInt64(bytes)
        let flag = try cursor.readByte(bytes)
        guard flag <= 1, cursor.isAtEnd(of: bytes) else { throw KeychainError.invalidData }
        return LastBackup(made: made, hasPrivateParts: flag == 1)
      } catch { throw .invalidData }
    }
  }

  func save(_ keychain: KeychainService) throws(KeychainError) {
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: made)
    bytes.append(hasPrivateParts ? 1 : 0)
    try keychain.save(
      SecretBytes(copying: bytes.rawSpan), forKey: Self.account,
      accessibility: .whenUnlockedThisDeviceOnly)
  }
}

extension Coffer {
  /// The last whole backup; nil when there is none yet.
  public func lastBackup() throws -> LastBackup? { try LastBackup.load(keychain) }

  /// What somebody should know about the last backup; nil when all is well.
  func backupAdvice() throws -> String? {
    guard let last = try lastBackup() else { return "there is no whole backup yet: run 'coffer backup FILE'" }
    let days = (clock.now() - last.made) / 86_400
    guard days > Self.backupPatienceDays else { return nil }
    return "the last whole backup is \(days) days old: run 'coffer backup FILE'"
  }

  private static let backupPatienceDays: Int64 = 30
}
