// SPDX-License-Identifier: Apache-2.0
//
// The count of wrong fingers over all commands and processes: version (1) ‖ count (1), a sealed item
// (Specs/envelopes.md, "Fingers").

public import Keychains
internal import Logging
internal import Primitives
internal import Secrets
public import UserAuthentication

/// The count of wrong fingers that a coffer keeps (AM-02).
public struct KeychainFingerCount: FingerCount {
  static let account = "com.cypherair.v1.finger-count"
  private static let version: UInt8 = 1

  private let keychain: KeychainService

  /// The count of a coffer. It must be unlocked: without its class key there is no finger to count.
  public init(_ keychain: KeychainService) { self.keychain = keychain }

  /// Counts one more, unless there are `limit` already. It is on the disk when this returns.
  /// - Throws: `AuthenticationError.countUnavailable` when the count cannot be read or written.
  public func takeTry(limit: Int) throws(AuthenticationError) -> Bool {
    do { return try change { $0 < limit ? $0 + 1 : nil } } catch { throw .countUnavailable }
  }

  /// Takes the last one back; if that fails, it stays counted.
  public func giveBack() { attempt { max($0 - 1, 0) } }

  /// Begins at none; if that fails, the count stays.
  public func reset() { attempt { $0 == 0 ? nil : 0 } }

  /// How many fingers in a row were wrong.
  /// - Throws: `KeychainError.invalidData` when the item is missing or damaged, and other errors of the keychain.
  public func value() throws(KeychainError) -> Int {
    guard let stored = try keychain.loadSecret(forKey: Self.account) else { throw .invalidData }
    return try stored.withBytes { bytes throws(KeychainError) in try Self.count(bytes) }
  }

  /// The item of a new coffer.
  static var initial: SecretChange {
    .save(
      SharedSecretBytes(bytes(0)), account: account, accessibility: CustodyItems.accessibility)
  }

  private func attempt(_ next: (Int) -> Int?) {
    do { _ = try change(next) } catch {
      PrivateKeyCustody.log.warning("the count of wrong fingers cannot be written and stays as it is")
    }
  }

  /// Writes what `next` makes of the count, unless that is nil.
  /// - Returns: whether it was written.
  private func change(_ next: (Int) -> Int?) throws(KeychainError) -> Bool {
    // Most commands change nothing, and must not write.
    guard next(try value()) != nil else { return false }
    var isChanged = false
    try keychain.replaceSecret(forKey: Self.account) { bytes throws(KeychainError) in
      let former = try Self.count(bytes)
      let changed = next(former)
      isChanged = changed != nil
      return Self.bytes(changed ?? former)
    }
    return isChanged
  }

  private static func bytes(_ count: Int) -> SecretBytes {
    let bytes = [version, UInt8(clamping: count)]
    return SecretBytes(copying: bytes.rawSpan)
  }

  private static func count(_ bytes: RawSpan) throws(KeychainError) -> Int {
    let bytes = [UInt8](copying: bytes)
    guard bytes.count == 2, bytes[0] == version else { throw .invalidData }
    return Int(bytes[1])
  }
}
