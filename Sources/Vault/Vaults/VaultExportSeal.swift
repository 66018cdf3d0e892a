// SPDX-License-Identifier: Apache-2.0
//
// The seal by which a vault recognises its own exports (Specs/vault.md, "Seal of an export"):
//
//   key  = HKDF-SHA256(ikm: state key, salt: empty, info: "coffer vault exports v1", L 32)
//   code = HMAC-SHA256(key, length of headers (8) ‖ headers ‖ content)

public import MessageFormats
internal import Primitives
internal import Secrets

/// Seals the messages of an export, and recognises them.
public struct VaultExportSeal: ExportSeal {
  private let key: SharedSecretBytes

  init(stateKey: SharedSecretBytes) {
    key = SharedSecretBytes(stateKey.withBytes { HKDF.secret(from: $0, info: "coffer vault exports v1") })
  }

  /// The authentication code of a message in an export.
  public func code(headers: RawSpan, content: RawSpan) -> [UInt8] {
    var hmac = HMACSHA256()
    key.withBytes { hmac.start(key: $0) }
    var length: [UInt8] = []
    length.append(bigEndian: Int64(headers.byteCount))
    hmac.update(length.rawSpan)
    hmac.update(headers)
    hmac.update(content)
    var code = [UInt8](repeating: 0, count: HMACSHA256.byteCount)
    var span = code.mutableSpan
    var output = unsafe span.mutableBytes
    hmac.finish(into: &output)
    return code
  }
}

extension Vault {
  /// The seal for this vault's exports. Rotations of the vault key do not change it.
  public func exportSeal() throws(VaultError) -> VaultExportSeal {
    VaultExportSeal(stateKey: try keys().state)
  }
}
