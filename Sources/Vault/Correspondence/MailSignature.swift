// SPDX-License-Identifier: Apache-2.0
//
// Signatures of PGP/MIME mail (RFC 3156 section 5): over the octets of one part, which is all that they say anything
// about.

internal import Contacts
internal import Identities
public import MessageFormats
public import OpenPGP
internal import Secrets

extension SignatureJudge {
  /// Verifies the signature of a part.
  /// - Parameters:
  ///   - content: the part that is signed.
  ///   - signature: the part with the signature.
  ///   - reader: the identity that has decrypted the mail; nil if it was not encrypted. A signature for others does
  ///     not count then.
  /// - Throws: `OpenPGPError`, when the signature part has no signature.
  public func verifications(
    of content: Int, signature: Int, in tree: MailTree, _ mail: RawSpan, reader: Fingerprint?
  ) throws(OpenPGPError) -> [SignatureVerification] {
    let armored = SharedSecretBytes(tree.content(of: signature, in: mail))
    let list = try SignatureList(reading: OpenPGPInput.packets(MemorySource(armored)))
    guard !list.signatures.isEmpty else { throw .malformed(.armor) }
    var verification = DetachedVerification(verifier)
    verification.intendedFor = reader
    let signed = SharedSecretBytes(tree.signedBytes(of: content, in: mail))
    return try verification.verify(list.signatures, over: MemorySource(signed))
  }
}

extension SignatureFinding {
  /// The addresses that the owner of the key claims; nil if nobody here has it.
  public var addresses: [String]? {
    switch signer {
    case .contact(let contact):
      contact.keys.first { $0.summary.fingerprint == primaryKey }?.summary.addresses ?? []
    case .identity(let identity): identity.userIDs.compactMap(\.address)
    case .unknown: nil
    }
  }
}
