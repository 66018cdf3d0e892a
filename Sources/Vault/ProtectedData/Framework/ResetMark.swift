// SPDX-License-Identifier: Apache-2.0
//
// Telling a reset that was cut off from tampering. Both leave a registry that the root secret did not
// authenticate; the mark, which is stored together with the new root secret, names the registry that the reset
// was about to replace.

internal import Keychains
internal import Primitives
internal import Secrets

enum ResetMark {
  static let account = "com.cypherair.v1.protected-data.reset"

  /// What says that `record` is to be replaced.
  static func item(replacing record: [UInt8]) -> SecretChange { RootSecret.item(digest(record), account) }

  /// Whether a reset that was to replace `record` has begun.
  /// - Throws: `.keychainLocked`, `.keychainUnavailable`. A damaged mark counts as absent.
  static func names(_ record: [UInt8], _ keychain: KeychainService) throws(ProtectedDataError) -> Bool {
    let mark: SharedSecretBytes?
    do throws(ProtectedDataError) {
      mark = try keychain.protectedItem(account, damaged: .registryTampered)
    } catch {
      guard case .frameworkRecovery = error else { throw error }
      return false
    }
    return mark?.withBytes { [UInt8](copying: $0) } == digest(record)
  }

  private static func digest(_ record: [UInt8]) -> [UInt8] { unsafe SHA256.hash(record.span.bytes) }
}
