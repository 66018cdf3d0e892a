// SPDX-License-Identifier: Apache-2.0
//
// What the keychain items of enclave keys, and protected data, hold that is secret. Where there is no chip,
// the handle of a key holds the private key itself (Specs/enclaves.md, "Body of a software handle").

import Enclaves
import Keychains
import Primitives
import ProtectedData
import Secrets
import Storage

extension Workspace {
  /// Tells of the private keys in the handles and envelopes of a software enclave, and of the finger key.
  func tellEnclaveItems(_ keychain: KeychainService) throws {
    for account in try keychain.accounts() {
      let item = try keychain.requireSecret(forKey: account)
      item.withBytes { item in
        switch account {
        case "rial.attestation.key": tellScalar("attestation key", item)
        case "com.cypherair.v1.protected-data.binding-key": tellScalar("binding key", item)
        case "com.cypherair.v1.finger-key": SecretReport.tell("finger key", item.extracting(first: 32))
        case let name where name.hasPrefix("com.cypherair.v1.se-key."):
          // COFPKEY1, payload, a fingerprint of 20 bytes, the length of the handle (Specs/envelopes.md). COFPKEY2 has
          // the digest of the guard record before that length.
          let isGuarded = item.unsafeLoad(fromByteOffset: 7, as: UInt8.self) == UInt8(ascii: "2")
          tellScalar("envelope's enclave key", item.extracting(droppingFirst: isGuarded ? 63 : 31))
        default: break
        }
      }
    }
  }

  /// Tells of the scalar in the handle of a software key that is not sealed under a passcode.
  private func tellScalar(_ name: StaticString, _ handle: RawSpan) {
    func byte(_ offset: Int) -> Int { Int(handle.unsafeLoad(fromByteOffset: offset, as: UInt8.self)) }
    let (kind, requirement) = (byte(8), byte(11))
    guard kind == Int(EnclaveKind.software.rawValue),
      requirement != Int(AccessControl.Requirement.devicePasscode.rawValue)
    else { return }
    // A head of 77 bytes, the salt, the derivation, the verifier's length, the verifier.
    let start = 77 + 32 + 2 + byte(110)
    SecretReport.tell(name, handle.extracting(start..<start + P256.scalarByteCount))
  }

  /// Tells of the root secret, of what is derived from it, and of the domains' keys.
  func tellProtectedData(_ file: DatabaseFile, _ keychain: KeychainService) throws {
    let prefix = "com.cypherair.v1.protected-data."
    guard let handle = try keychain.loadSecret(forKey: prefix + "binding-key"),
      let stored = try keychain.loadSecret(forKey: prefix + "root-secret")
    else { return }
    guard let kind = handle.withBytes({ EnclaveKind(handle: $0) }), let enclave = machine.enclave(kind),
      let envelope = RootSecretEnvelope(stored.withBytes { [UInt8](copying: $0) })
    else { throw Unexpected("no binding key") }
    let root = try envelope.open(handle.withBytes { try enclave.loadKey($0) }, in: enclave)
    SecretReport.tell("root secret", root)
    var hkdf = HKDF()
    let wrapping = root.withBytes {
      hkdf.deriveKey(ikm: $0, salt: RawSpan(), info: "coffer protected data v1 wrapping root")
    }
    let registry = wrapping.withBytes {
      hkdf.deriveKey(ikm: $0, salt: RawSpan(), info: "coffer protected data v1 registry")
    }
    wrapping.withBytes { SecretReport.tell("wrapping root key", $0) }
    registry.withBytes { SecretReport.tell("registry key", $0) }
    var sealer = SealedValue()
    _ = try file.read { transaction in
      try transaction.forEachRow("SELECT domain, wrappedKey FROM protectedDomains") { row in
        let context = Array("coffer protected data v1 domain key".utf8) + [UInt8(try row.integer(0))]
        // COFPDDK1 and the domain come before the sealed value (Specs/protected-data.md, "Domain key").
        let sealed = [UInt8](try row.bytes(1).dropFirst(9))
        let key = try wrapping.withBytes {
          try sealer.open(sealed.span.bytes, key: $0, context: context)
        }
        SecretReport.tell("domain key", key)
        return true
      }
    }
  }
}
