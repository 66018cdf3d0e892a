// SPDX-License-Identifier: Apache-2.0
//
// Detached signatures from the making to the verification, and the one-pass packets of several signers.

import MemorySearch
import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Detached signatures")
struct DetachedSignatureTests {
  typealias Holder = SigningFixture

  static func sign(
    _ signers: [any Signer], isText: Bool = false, _ hash: HashAlgorithm = .sha512,
    document: [UInt8] = SignedDocument.bytes
  ) throws -> [Signature] {
    var signing = DetachedSigning(signers, time: Holder.signingTime)
    signing.isText = isText
    signing.hash = hash
    return try signing.sign(MemorySource(document))
  }

  /// The packets of the signatures, read again.
  static func reread(_ signatures: [Signature]) throws -> SignatureList {
    let sink = ArraySink()
    for signature in signatures { try Packet.signature(signature).write(to: sink) }
    return try SignatureList(reading: MemorySource(sink.bytes))
  }

  @Test(
    "Each algorithm's signatures are written, read and verified",
    arguments: [
      (KeyAlgorithm.ed25519, UInt8(4)), (.ed25519, 6), (.ed448, 4), (.ed448, 6), (.eddsaLegacy, 4),
      (.ecdsa(.p256), 4), (.ecdsa(.p384), 4), (.ecdsa(.p521), 6), (.rsa(bitCount: 3072), 4),
    ])
  func algorithms(algorithm: KeyAlgorithm, version: UInt8) throws {
    let holder = try Holder(version: version, algorithm)
    let verification = DetachedVerification(SignatureVerifierTests.verifier(holder.certificate))
    for isText in [false, true] {
      let signatures = try Self.sign([holder.primary, holder.subkey], isText: isText, .sha256)
      let list = try Self.reread(signatures)
      #expect(list.signatures == signatures)
      let good = try verification.verify(list.signatures, over: MemorySource(SignedDocument.bytes))
      #expect(good.map(\.result) == [.good, .good])
      #expect(good.map { $0.verified?.isOverText } == [isText, isText])
      let bad = try verification.verify(list.signatures, over: MemorySource(SignedDocument.other))
      #expect(bad.map(\.result) == [.bad, .bad])
    }
  }

  @Test("Signers of both versions sign in one pass, and each names its own hash")
  func severalSigners() throws {
    let old = try SignatureVerifierTests.holder(4)
    let new = try SignatureVerifierTests.holder(6)
    let signatures = try Self.sign([old.primary, new.primary, old.subkey], .sha256)
    #expect(signatures.map(\.version) == [4, 6, 4])
    #expect(signatures.map(\.hash) == [.sha256, .sha512, .sha256])
    let verifier = SignatureVerifierTests.verifier(old.certificate, new.certificate)
    let verifications = try DetachedVerification(verifier).verify(
      signatures, over: MemorySource(SignedDocument.bytes))
    #expect(verifications.map { $0.verified?.certificateIndex } == [0, 1, 0])
  }

  @Test("One-pass packets announce the signatures in reverse, and the last of them is marked")
  func onePassPackets() throws {
    let old = try SignatureVerifierTests.holder(4)
    let new = try SignatureVerifierTests.holder(6)
    let signer = try DocumentSigner(
      [old.primary, new.subkey, new.primary], type: .binary, hash: .sha512, time: Holder.signingTime,
      intendedRecipients: [old.certificate.fingerprint])
    let packets = signer.onePassSignatures
    let document = SignedDocument.bytes
    signer.update(document.span.bytes)
    let signatures = Array(try signer.finish().reversed())
    #expect(packets.map(\.version) == [3, 6, 6])
    #expect(packets.map(\.isLast) == [false, false, true])
    #expect(packets[0].variant == .version3(issuer: old.primary.publicKey.keyID))
    #expect(packets[1].variant == .version6(issuer: new.subkey.publicKey.fingerprint, salt: packets[1].salt))
    for (packet, signature) in zip(packets, signatures) {
      #expect(packet.salt == signature.salt)
      #expect(packet.hash == signature.hash)
      #expect(packet.type == signature.type)
      #expect(packet.algorithm == signature.algorithm)
      #expect(signature.intendedRecipients == [old.certificate.fingerprint])
    }
    #expect(signatures[1].salt != signatures[2].salt)
  }

  @Test("Text that is not UTF-8 is not signed as text")
  func notText() throws {
    let holder = try SignatureVerifierTests.holder(4)
    let octets: [UInt8] = [0x41, 0xFF, 0x0A]
    #expect(throws: OpenPGPError.notText) {
      _ = try Self.sign([holder.primary], isText: true, document: octets)
    }
    #expect(try Self.sign([holder.primary], document: octets).count == 1)
  }

  @Test("A key that cannot sign signs nothing")
  func encryptionKey() throws {
    let key = try UnlockedKey.generate(.x25519, version: 6, creationTime: Holder.creationTime)
    #expect(throws: OpenPGPError.keyCannot(.sign)) { _ = try Self.sign([key]) }
  }

  @Test("Nothing of a text remains in memory when it has been signed")
  func nothingRemains() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let needle = try DetachedSignatureTests().signSecretText()
        try ProcessMemory.expectGone(needle)
      }
    }
  }

  @inline(never)
  private func signSecretText() throws -> Needle {
    let holder = try SignatureVerifierTests.holder(4)
    let random = SystemRandom.secretBytes(count: 64)
    // Letters, with a line end behind them.
    let line = SecretBytes(byteCount: 65) { output in
      random.withBytes { random in
        for index in 0..<64 {
          let letter = UInt8(ascii: "a") + random.unsafeLoad(fromByteOffset: index, as: UInt8.self) % 26
          output.storeBytes(of: letter, toByteOffset: index, as: UInt8.self)
        }
        output.storeBytes(of: UInt8(ascii: "\n"), toByteOffset: 64, as: UInt8.self)
      }
    }
    let needle = line.withBytes { Needle($0.extracting(0..<64)) }
    var signing = DetachedSigning([holder.primary], time: Holder.signingTime)
    signing.isText = true
    let signatures = try signing.sign(MemorySource(SharedSecretBytes(line)))
    #expect(signatures.count == 1)
    return needle
  }
}
