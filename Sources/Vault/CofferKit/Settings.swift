// SPDX-License-Identifier: Apache-2.0
//
// The settings of a coffer, in one keychain item (Specs/keychain.md, "Items of Coffer"):
//
//   version 2 (1) ‖ passphrase policy (1) ‖ last recovery drill (8, 0 for never) ‖ idle limit (4, 0 for the agent's own)
//   ‖ absolute limit (4, 0 for the agent's own)
//
// Version 1 ends before the absolute limit; it is read, and never written.

internal import Agent
public import Keychains
internal import Primitives
internal import Secrets

/// Settings of a coffer.
public struct Settings: Equatable, Sendable {
  /// What a passphrase must satisfy.
  public var policy: PassphrasePolicy
  /// When the recovery phrase was last shown to open this coffer; seconds since 1970, UTC.
  public var lastRecoveryDrill: Int64?
  /// When a session ends; nil for the agent's own limits. They are settings of their own, whatever each use of a
  /// private part asks for (AM-20).
  public var limits = SessionLimits()

  static let account = "coffer.settings"
  private static let policies: [PassphrasePolicy] = [.standard, .strict, .long]

  init(policy: PassphrasePolicy) { self.policy = policy }

  /// - Throws: `KeychainError.invalidData` when the item is missing or damaged. Every coffer has it, and there are
  ///   no defaults.
  static func load(_ keychain: KeychainService) throws(KeychainError) -> Settings {
    guard let bytes = try keychain.loadSecret(forKey: account) else { throw .invalidData }
    return try bytes.withBytes { bytes throws(KeychainError) in
      var cursor = ByteCursor()
      do {
        let version = try cursor.readByte(bytes)
        guard version == 1 || version == 2 else { throw KeychainError.invalidData }
        let policy = Int(try cursor.readByte(bytes))
        let drill = try cursor.readInt64(bytes)
        let idle = Int(try cursor.readUInt32(bytes))
        let absolute = version == 1 ? 0 : Int(try cursor.readUInt32(bytes))
        guard policies.indices.contains(policy), cursor.isAtEnd(of: bytes),
          max(idle, absolute) <= AgentOptions.limitBounds.upperBound
        else {
          throw KeychainError.invalidData
        }
        var settings = Settings(policy: policies[policy])
        settings.lastRecoveryDrill = drill == 0 ? nil : drill
        settings.limits.idleSeconds = idle == 0 ? nil : idle
        settings.limits.absoluteSeconds = absolute == 0 ? nil : absolute
        return settings
      } catch {
        throw .invalidData
      }
    }
  }

  func save(_ keychain: KeychainService) throws(KeychainError) {
    var bytes: [UInt8] = [2, UInt8(Self.policies.firstIndex(of: policy) ?? 0)]
    bytes.append(bigEndian: lastRecoveryDrill ?? 0)
    bytes.append(bigEndian: UInt32(clamping: limits.idleSeconds ?? 0))
    bytes.append(bigEndian: UInt32(clamping: limits.absoluteSeconds ?? 0))
    try keychain.save(
      SecretBytes(copying: bytes.rawSpan), forKey: Self.account,
      accessibility: .whenUnlockedThisDeviceOnly)
  }
}
