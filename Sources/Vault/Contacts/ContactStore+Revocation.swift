// SPDX-License-Identifier: Apache-2.0
//
// A file that only revokes a key, as an owner who has lost it gives away (RFC 9580, section 10.1.3): it counts as a
// newer copy of the public part that a contact has. Whether it holds is judged like everything in a copy.

internal import OpenPGP
internal import ProtectedData
public import Secrets

extension ContactStore {
  /// The certificates of a file, or the stored one that the file revokes.
  /// - Parameter bytes: armored or not.
  /// - Throws: as `PublicParts.init`; `ContactError.unknown` for the revocation of a key that no contact has;
  ///   `ProtectedDataError`.
  public func parts(_ bytes: SharedSecretBytes) throws -> PublicParts {
    do throws(ContactError) { return try PublicParts(bytes) } catch {
      guard case .unreadable = error, let revocation = Self.revocation(bytes) else { throw error }
      return try revoked(by: revocation)
    }
  }

  private static func revocation(_ bytes: SharedSecretBytes) -> Signature? {
    let list = try? SignatureList(reading: OpenPGPInput.packets(MemorySource(bytes), .allBlocks))
    guard let list, list.signatures.count == 1, list.signatures[0].type == .keyRevocation else { return nil }
    return list.signatures[0]
  }

  private func revoked(by revocation: Signature) throws -> PublicParts {
    let named = revocation.issuerFingerprints
    let keys = try domains.read(ContactsSnapshot.self).contacts.flatMap(\.keys)
    let key = keys.first { key in
      named.isEmpty
        ? revocation.issuerKeyIDs.contains(key.fingerprint.keyID) : named.contains(key.fingerprint)
    }
    guard let key else { throw ContactError.unknown }
    let sink = ArraySink()
    do { try Certificate.stored(key).adding(revocation, to: .primaryKey).write(to: sink) } catch let error
      as OpenPGPError
    {
      throw ContactError.unreadable(error)
    }
    return try PublicParts(SharedSecretBytes(SecretBytes(copying: sink.bytes.rawSpan)))
  }
}
