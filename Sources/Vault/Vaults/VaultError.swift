// SPDX-License-Identifier: Apache-2.0

public import Keychains

/// What can go wrong in a vault. Descriptions carry no identifiers.
@nonexhaustive
public enum VaultError: Error, Sendable {
  /// The key could not be derived; enter the passphrase again.
  case keyDerivationFailed
  case encryptionFailed
  /// The message is not what was stored: changed bytes, or a row that belongs elsewhere.
  case dataTampered(MessageID)
  /// The message is not readable for another reason.
  case decryptionFailed(MessageID, underlying: any Error)
  /// The coffer is locked: its keychain gives no key.
  case keychainAccessDenied
  /// The keychain does not answer, or is locked itself; what it says.
  case keychainNotAvailable(KeychainError)
  case weakPassphrase
  /// No such message; the vault's count says that none is missing.
  case messageNotFound
  /// The vault as a whole is not what was stored: a row has vanished or appeared.
  case corrupt
  /// More than a hundred messages failed to open in an hour: authenticate again.
  case lockedAfterFailures
  case messageTooLarge(limit: Int)
  /// A title, a tag, the type or the date is too long or too far.
  case metadataOutOfBounds
  case noRotationUnderWay
  /// No former key is kept.
  case nothingToRollBack

  /// The code of the requirements, for programs.
  public var code: String {
    switch self {
    case .keyDerivationFailed: "KEY_DERIVATION_FAILED"
    case .encryptionFailed: "ENCRYPTION_FAILED"
    case .dataTampered: "DATA_TAMPERED"
    case .decryptionFailed: "DECRYPTION_FAILED"
    case .keychainAccessDenied: "KEYCHAIN_ACCESS_DENIED"
    case .keychainNotAvailable: "KEYCHAIN_NOT_AVAILABLE"
    case .weakPassphrase: "WEAK_PASSPHRASE"
    case .messageNotFound: "MESSAGE_NOT_FOUND"
    case .corrupt: "VAULT_CORRUPT"
    case .lockedAfterFailures: "VAULT_LOCKED"
    case .messageTooLarge: "MESSAGE_TOO_LARGE"
    case .metadataOutOfBounds: "METADATA_OUT_OF_BOUNDS"
    case .noRotationUnderWay: "NO_ROTATION"
    case .nothingToRollBack: "NOTHING_TO_ROLL_BACK"
    }
  }

  /// Whether trying again may help, and when.
  public var retry: RetryRule {
    switch self {
    case .encryptionFailed: .onceAfterOneSecond
    // Somebody has to unlock it; or nothing starts a service here, but one that died may be started anew.
    case .keychainNotAvailable(.serviceLocked): .never
    case .keychainNotAvailable(.serviceUnavailable): .onceAfterOneSecond
    case .keychainNotAvailable: .exponentialBackoff
    default: .never
    }
  }
}

/// Whether an operation that failed is tried again by itself: something transient once after a second, a
/// keychain that is away with growing pauses, authentication and integrity never.
public enum RetryRule: Sendable, Equatable {
  case never
  case onceAfterOneSecond
  /// After 1, 2, 4 and 8 seconds.
  case exponentialBackoff

  /// The pauses before each further try, in seconds.
  public var pausesSeconds: [Int] {
    switch self {
    case .never: []
    case .onceAfterOneSecond: [1]
    case .exponentialBackoff: [1, 2, 4, 8]
    }
  }

  /// Runs `operation`, again as often as the error it throws allows.
  ///
  /// - Parameter pause: waits for a number of seconds.
  static func apply<R: ~Copyable>(
    pause: (Int) -> Void, _ operation: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var tries = 0
    while true {
      do throws(VaultError) {
        return try operation()
      } catch {
        let pauses = error.retry.pausesSeconds
        guard tries < pauses.count else { throw error }
        pause(pauses[tries])
        tries += 1
      }
    }
  }
}
