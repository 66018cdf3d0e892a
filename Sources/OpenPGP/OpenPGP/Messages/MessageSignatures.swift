// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.3: one-pass packets before the data and signatures after it pair like brackets;
// signatures in the old style are before the data by themselves. Signatures of unknown versions, and
// malformed ones, keep their places: they never count, and never spoil the others or the data (section
// 5.2.5).

/// The signatures of one message, and what they are worth.
final class MessageSignatures {
  /// Signatures in the order of their packets.
  private(set) var signatures: [Signature] = []
  /// Signatures in their places that could not be read.
  private(set) var unreadableCount = 0

  private let verifier: SignatureVerifier?
  private let intendedFor: Fingerprint?
  private let hashes = DocumentHashes(saltedLimit: Limits.saltedHashCount)
  /// The salts of signatures that are not hashed for, since there are too many.
  private var refusedSalts: Set<[UInt8]> = []
  /// Announcements that are not closed yet; nil for one that could not be read.
  private var open: [Announcement?] = []
  private var announcedCount = 0
  private var subpacketByteCount = 0
  private var judged: [Judgement] = []

  private struct Announcement {
    let packet: OnePassSignature
    let hash: DocumentHash?
  }

  /// A signature whose verification is due once the data has passed.
  private struct Judgement {
    let signature: Signature
    let hash: DocumentHash?
    /// Whether it is the signature that was announced.
    let isAnnounced: Bool
  }

  init(_ verifier: SignatureVerifier?, intendedFor: Fingerprint?) {
    self.verifier = verifier
    self.intendedFor = intendedFor
  }

  /// The data that is signed.
  func update(_ bytes: RawSpan) { hashes.update(bytes) }

  /// A message begins within the message: the number of those that are open around it.
  func beginLevel() -> Int { open.count }

  /// - Throws: ``OpenPGPError/malformed(_:)`` with `messageStructure` when a signature is missing.
  func endLevel(_ level: Int) throws(OpenPGPError) {
    guard open.count == level else { throw .malformed(.messageStructure) }
  }

  /// A one-pass packet before the data.
  func announce(_ packet: Packet) throws(OpenPGPError) {
    try count()
    switch packet {
    case .onePassSignature(let packet):
      let isKnown = verifier?.knows(issuerOf: packet.variant) ?? false
      open.append(
        Announcement(
          packet: packet,
          hash: isKnown ? hash(packet.hash, isText: packet.type == .text, salt: packet.salt) : nil))
    case .unknown: open.append(nil)
    default: throw .malformed(.messageStructure)
    }
  }

  /// A signature before the data.
  func prefix(_ packet: Packet) throws(OpenPGPError) {
    try count()
    guard let signature = try signature(packet) else { return }
    let isDecided = verifier.map { $0.resultWithoutDocument(signature) != nil } ?? true
    let hash =
      isDecided ? nil : hash(signature.hash, isText: signature.type == .text, salt: signature.salt)
    try add(signature, hash, isAnnounced: true)
  }

  /// A signature after the data: of the one-pass packet that was last.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `messageStructure` when there is none.
  func close(_ packet: Packet, in level: Int) throws(OpenPGPError) {
    guard open.count > level, let announcement = open.popLast() else { throw .malformed(.messageStructure) }
    guard let signature = try signature(packet) else { return }
    try add(
      signature, announcement?.hash, isAnnounced: announcement?.packet.announces(signature) ?? false)
  }

  /// Of the signatures in the same order; empty without a verifier.
  var verifications: [SignatureVerification] {
    guard let verifier else { return [] }
    let cache = SigningKeyCache()
    return judged.map { judgement in
      let signature = judgement.signature
      guard judgement.isAnnounced else { return SignatureVerification(.bad, signature) }
      if let verification = verifier.resultWithoutDocument(signature) { return verification }
      guard let hash = judgement.hash else {
        return SignatureVerification(
          refusedSalts.contains(signature.salt) ? .refused(.tooManySalts) : .bad, signature)
      }
      return verifier.verify(signature, hash, intendedFor: intendedFor, cache: cache)
    }
  }

  /// Nil for a signature that could not be read.
  private func signature(_ packet: Packet) throws(OpenPGPError) -> Signature? {
    switch packet {
    case .signature(let signature): return signature
    case .unknown:
      unreadableCount += 1
      return nil
    default: throw .malformed(.messageStructure)
    }
  }

  private func add(
    _ signature: Signature, _ hash: DocumentHash?, isAnnounced: Bool
  ) throws(OpenPGPError) {
    subpacketByteCount += signature.areasByteCount
    guard subpacketByteCount <= Limits.subpacketByteCount else { throw .overLimit(.subpacketByteCount) }
    signatures.append(signature)
    judged.append(Judgement(signature: signature, hash: hash, isAnnounced: isAnnounced))
  }

  /// Nil when nothing is to be verified, the algorithm is not there, or there are too many salts.
  private func hash(_ algorithm: HashAlgorithm, isText: Bool, salt: [UInt8]) -> DocumentHash? {
    guard verifier != nil else { return nil }
    do {
      return try hashes.prepare(algorithm, isText: isText, salt: salt)
    } catch {
      if error == .overLimit(.saltedHashCount) { refusedSalts.insert(salt) }
      return nil
    }
  }

  private func count() throws(OpenPGPError) {
    announcedCount += 1
    guard announcedCount <= Limits.signatureCount else { throw .overLimit(.signatureCount) }
  }
}

extension OnePassSignature {
  /// Whether `signature` is the one that this packet has announced: all that the packet says must be so.
  fileprivate func announces(_ signature: Signature) -> Bool {
    guard type == signature.type, hash == signature.hash, algorithm == signature.algorithm,
      (version == 6) == (signature.version == 6), salt == signature.salt
    else { return false }
    switch variant {
    case .version3(let id):
      let named = signature.issuerKeyIDs + signature.issuerFingerprints.map(\.keyID)
      return id == .anonymous || named.isEmpty || named.contains(id)
    case .version6(let fingerprint, _):
      let named = signature.issuerFingerprints
      return named.isEmpty || named.contains(fingerprint)
    }
  }
}
