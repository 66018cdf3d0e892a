// SPDX-License-Identifier: Apache-2.0
//
// A file that only revokes a key, as an owner who has lost it gives away (RFC 9580, section 10.1.3): it counts as a
// newer copy of the public part that a contact has. Whether it holds is judged like everything in a copy.

internal import OpenPGP
internal import ProtectedData
public import Secrets

extension ContactStore {
  /// The certificates of a file, or the stored one, a contact's or the user's own, that the file revokes.
  /// - Parameter bytes: armored or not.
  /// - Throws: as `PublicParts.init`; `ContactError.unknown` for the revocation of a key that nobody has;
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
    let known = try certificates() + ownCertificates()
    let maker = known.first { certificate in
      named.isEmpty
        ? revocation.issuerKeyIDs.contains(certificate.primaryKey.keyID)
        : named.contains(certificate.fingerprint)
    }
    // Its maker may have revoked the own key, or that of anybody who allows it.
    let candidates = [maker].compactMap(\.self) + known.filter { !$0.namedRevokers.isEmpty }
    let revoked =
      candidates.map { $0.knowing(known) }.first {
        $0.adding(revocation, to: .primaryKey).reducedToHolderStatements() != $0.reducedToHolderStatements()
      } ?? maker
    guard let revoked else { throw ContactError.unknown }
    let sink = ArraySink()
    do { try revoked.adding(revocation, to: .primaryKey).write(to: sink) } catch {
      throw ContactError.unreadable(error)
    }
    return try PublicParts(SharedSecretBytes(SecretBytes(copying: sink.bytes.rawSpan)))
  }
}
