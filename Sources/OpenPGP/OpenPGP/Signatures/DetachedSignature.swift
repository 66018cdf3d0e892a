// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.5 and 10.4: detached signatures, made and verified in constant memory and one pass.
// They are a sequence of signature packets; one that cannot be used never spoils the others. DocumentSigner
// also makes the signatures inside messages (sections 5.4 and 10.3.2).

/// Makes detached signatures over a stream, in constant memory and one pass.
public struct DetachedSigning {
  /// The keys that sign.
  public let signers: [any Signer]
  /// The creation time of the signatures.
  public let time: Timestamp
  /// Replaced by a longer one where a signer's algorithm demands it.
  public var hash: HashAlgorithm = .documentDefault
  /// Whether the document is text: UTF-8, signed with line ends as CR LF.
  public var isText = false

  /// Signatures by these keys.
  public init(_ signers: [any Signer], time: Timestamp) {
    self.signers = signers
    self.time = time
  }

  /// One signature of each signer over `document`, in the signers' order; it is read ahead on another thread.
  /// - Throws: ``OpenPGPError/notText`` for text that is not UTF-8, ``OpenPGPError/keyCannot(_:)`` when one is
  ///   no signing key, and what `document` and the signers throw.
  public func sign(_ document: any ByteSource) throws(OpenPGPError) -> [Signature] {
    let signer = try DocumentSigner(signers, type: isText ? .text : .binary, hash: hash, time: time)
    try ReadAheadSource(document).forEach(signer.update)
    return try signer.finish().reversed()
  }
}

/// Verifies detached signatures over a stream, in constant memory and one pass.
public struct DetachedVerification {
  /// Whose signatures count, and when.
  public let verifier: SignatureVerifier
  /// The primary key of who decrypted the document: signatures that name others are refused. Nil if it was not encrypted.
  public var intendedFor: Fingerprint?

  /// A verification with this verifier.
  public init(_ verifier: SignatureVerifier) { self.verifier = verifier }

  /// Verifies each of the signatures, in their order; the document is read ahead on another thread. Those that
  /// can be judged without the document are not hashed for; when that is all of them, the document is not read.
  /// Signatures with salts beyond ``Limits/saltedHashCount`` are refused.
  /// - Throws: ``OpenPGPError/overLimit(_:)`` for more than ``Limits/signatureCount`` signatures, and what
  ///   `document` throws.
  public func verify(
    _ signatures: [Signature], over document: any ByteSource
  ) throws(OpenPGPError) -> [SignatureVerification] {
    try verify(signatures) { (hashes) throws(OpenPGPError) in
      try ReadAheadSource(document).forEach(hashes.update)
    }
  }

  /// The same over a document that `hash` gives to the hashes.
  func verify(
    _ signatures: [Signature], hashingWith hash: (DocumentHashes) throws(OpenPGPError) -> Void
  ) throws(OpenPGPError) -> [SignatureVerification] {
    guard signatures.count <= Limits.signatureCount else { throw .overLimit(.signatureCount) }
    let hashes = DocumentHashes(saltedLimit: Limits.saltedHashCount)
    var early: [SignatureVerification?] = []
    for signature in signatures {
      var verification = verifier.resultWithoutDocument(signature)
      if verification == nil {
        do {
          _ = try hashes.prepare(for: signature)
        } catch .overLimit(.saltedHashCount) {
          verification = SignatureVerification(.refused(.tooManySalts), signature)
        }
      }
      early.append(verification)
    }
    if !hashes.isEmpty { try hash(hashes) }
    let cache = SigningKeyCache()
    var verifications: [SignatureVerification] = []
    for (signature, verification) in zip(signatures, early) {
      if let verification {
        verifications.append(verification)
      } else {
        let hash = try hashes.prepare(for: signature)
        verifications.append(verifier.verify(signature, hash, intendedFor: intendedFor, cache: cache))
      }
    }
    return verifications
  }
}

/// The signatures of a detached signature.
///
/// [RFC 9580, section 10.4](https://www.rfc-editor.org/rfc/rfc9580#section-10.4)
public struct SignatureList: Sendable {
  /// The signatures that could be read, in their order.
  public private(set) var signatures: [Signature] = []
  /// Broken packets: each counts as a bad signature.
  public private(set) var malformedCount = 0
  /// Of ``malformedCount``, those that end where packets can no longer be told apart: there is no packet to speak of.
  public private(set) var isCutOff = false
  /// Signatures of unknown versions, which were passed over.
  public private(set) var unknownVersionCount = 0
  /// Signatures that are there, and of which nothing can be said.
  public var unreadableCount: Int { malformedCount + unknownVersionCount }
  private var subpacketByteCount = 0

  /// Signatures that are there already.
  public init(_ signatures: [Signature]) { self.signatures = signatures }

  /// Reads the packets of `source`, which is not armored, to its end, or to where they can no longer be told
  /// apart.
  /// - Throws: ``OpenPGPError/malformed(_:)`` when there are other packets than signatures, as in a
  ///   certificate; ``OpenPGPError/overLimit(_:)`` for more than ``Limits/signatureCount`` signatures, or more of
  ///   subpackets than ``Limits/subpacketByteCount``; the source's own errors.
  public init(reading source: any ByteSource) throws(OpenPGPError) {
    let reader = PacketReader(source)
    while let packet = try next(reader) {
      try take(packet)
      // Padding and what else means nothing may be there in any number (section 5.14).
      guard signatures.count + unknownVersionCount + malformedCount <= Limits.signatureCount else {
        throw .overLimit(.signatureCount)
      }
    }
  }

  /// Whether there is any signature, though none of it may be readable.
  public var hasSignature: Bool {
    !signatures.isEmpty || unknownVersionCount > 0 || malformedCount > (isCutOff ? 1 : 0)
  }

  private mutating func take(_ packet: Packet) throws(OpenPGPError) {
    switch packet {
    case .signature(let signature):
      subpacketByteCount += signature.areasByteCount
      guard subpacketByteCount <= Limits.subpacketByteCount else { throw .overLimit(.subpacketByteCount) }
      signatures.append(signature)
    // A marker is ignored whatever is in it (section 5.8).
    case .marker, .unknown(.marker, _, _), .padding, .trust: break
    case .unknown(.signature, _, why: .unsupported): unknownVersionCount += 1
    case .unknown(let type, _, why: .unsupported) where !type.isCritical: break
    case .unknown(.signature, _, _): malformedCount += 1
    default: throw .malformed(.signature)
    }
  }

  /// The next packet that can be read; nil at the end.
  private mutating func next(_ reader: PacketReader) throws(OpenPGPError) -> Packet? {
    for _ in 0...Limits.signatureCount {
      do {
        return try reader.nextPacket()
      } catch .overLimit(.packetByteCount) {
        malformedCount += 1
      } catch .malformed(.armor) {
        // The source's own error: armor that is cut off or broken says nothing about a packet.
        throw .malformed(.armor)
      } catch .malformed {
        malformedCount += 1
        isCutOff = true
        return nil
      } catch {
        throw error
      }
    }
    throw .overLimit(.signatureCount)
  }
}

/// Signs a document while it passes, with one or several keys.
final class DocumentSigner {
  private struct Part {
    let signer: any Signer
    let draft: Signature
    let hash: DocumentHash
  }

  private let parts: [Part]
  private let hashes = DocumentHashes()
  /// Of a text: it is signed as UTF-8 (section 5.2.4).
  private var text: UTF8Check?

  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when one cannot sign, ``OpenPGPError/refused(_:)`` for a
  ///   hash that is too weak, ``OpenPGPError/overLimit(_:)`` for more than ``Limits/signatureCount`` signers.
  init(
    _ signers: [any Signer], type: SignatureType, hash: HashAlgorithm, time: Timestamp,
    intendedRecipients: [Fingerprint] = []
  ) throws(OpenPGPError) {
    precondition(type.isOverDocument, "a signature of this type is not over a document")
    guard signers.count <= Limits.signatureCount else { throw .overLimit(.signatureCount) }
    let builder = SignatureBuilder(
      type: type, hash: hash, creationTime: time,
      subpackets: intendedRecipients.map { Subpacket(.intendedRecipientFingerprint($0)) })
    var parts: [Part] = []
    for signer in signers {
      let draft = try builder.draft(for: signer.publicKey)
      parts.append(Part(signer: signer, draft: draft, hash: try hashes.prepare(for: draft)))
    }
    self.parts = parts
    text = type == .text ? UTF8Check() : nil
  }

  /// To be written before the document, in this order.
  var onePassSignatures: [OnePassSignature] {
    parts.enumerated().map { index, part in
      let key = part.signer.publicKey
      return OnePassSignature(
        key.version == 6
          ? .version6(issuer: key.fingerprint, salt: part.draft.salt) : .version3(issuer: key.keyID),
        type: part.draft.type, hash: part.draft.hash, algorithm: part.draft.algorithm,
        isLast: index == parts.count - 1)
    }
  }

  /// Takes in the next octets of the document.
  func update(_ bytes: RawSpan) {
    text?.update(bytes)
    hashes.update(bytes)
  }

  /// To be written after the document, in this order (the reverse of the one-pass packets').
  /// - Throws: ``OpenPGPError/notText`` when a text is not UTF-8, and what the signers throw.
  func finish() throws(OpenPGPError) -> [Signature] {
    if let text, !text.isComplete { throw .notText }
    var signatures: [Signature] = []
    for part in parts.reversed() {
      signatures.append(
        try part.draft.signed(digest: part.hash.digest(for: part.draft), with: part.signer))
    }
    return signatures
  }
}
