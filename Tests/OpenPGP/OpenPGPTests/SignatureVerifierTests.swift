// SPDX-License-Identifier: Apache-2.0
//
// What signatures over documents are worth. Each pitfall that other implementations fell into has its test.

import Testing

@testable import OpenPGP

@Suite("Grading signatures over documents")
struct SignatureVerifierTests {
  typealias Holder = SigningFixture

  /// Two holders, made once.
  static let version4 = Result { try Holder(version: 4) }
  static let version6 = Result { try Holder(version: 6, .ed448) }
  static func holder(_ version: UInt8) throws -> Holder { try (version == 6 ? version6 : version4).get() }

  static func verifier(_ certificates: Certificate...) -> SignatureVerifier {
    SignatureVerifier(certificates: certificates, policy: .standard, time: Holder.now)
  }

  /// The verification on a signature over `document`.
  static func verification(
    _ signature: Signature, _ verifier: SignatureVerifier, document: [UInt8] = SignedDocument.bytes
  ) throws -> SignatureVerification {
    try DetachedVerification(verifier).verify([signature], over: MemorySource(document))[0]
  }

  static func result(_ recipe: SignatureFixture, _ holder: Holder) throws -> SignatureVerification.Result {
    try verification(try recipe.made(), verifier(holder.certificate)).result
  }

  @Test("A signature is good, and says which key made it and when", arguments: [UInt8(4), 6])
  func good(version: UInt8) throws {
    let stranger = try Self.holder(version == 4 ? 6 : 4)
    let holder = try Self.holder(version)
    for key in [holder.primary, holder.subkey] {
      let signature = try SignatureFixture(key).made()
      let verification = try Self.verification(
        signature, Self.verifier(stranger.certificate, holder.certificate))
      #expect(verification.result == .good)
      let verified = try #require(verification.verified)
      #expect(verified.creationTime == Holder.signingTime)
      #expect(verified.signingKey == key.publicKey.fingerprint)
      #expect(verified.primaryKey == holder.certificate.fingerprint)
      #expect(verified.certificateIndex == 1)
      #expect(!verified.isOverText)
      #expect(!verified.keyHasExpiredSince)
    }
  }

  @Test("A changed document, digest prefix, salt or signature value is bad", arguments: [UInt8(4), 6])
  func tampered(version: UInt8) throws {
    let holder = try Self.holder(version)
    let verifier = Self.verifier(holder.certificate)
    let signature = try SignatureFixture(holder.subkey).made()
    let changedDocument = try Self.verification(signature, verifier, document: SignedDocument.other)
    #expect(changedDocument.result == .bad)
    #expect(changedDocument.verified == nil)
    let prefix = [signature.digestPrefix[0], signature.digestPrefix[1] ^ 1]
    #expect(try Self.verification(signature.changed(digestPrefix: prefix), verifier).result == .bad)
    if version == 6 {
      let salt = [UInt8](repeating: 8, count: 32)
      #expect(try Self.verification(signature.changed(salt: salt), verifier).result == .bad)
    }
    let other = try SignatureFixture(holder.primary).made()
    #expect(try Self.verification(signature.changed(material: other.material), verifier).result == .bad)
  }

  @Test("Nobody's key is unknown, and the document is not read for it")
  func unknownKey() throws {
    let signature = try SignatureFixture(try Self.holder(4).primary).made()
    let source = MemorySource(SignedDocument.bytes)
    let verifier = Self.verifier(try Self.holder(6).certificate)
    let verifications = try DetachedVerification(verifier).verify([signature], over: source)
    #expect(verifications.map(\.result) == [.unknownKey])
    #expect(try source.readByteIfAny() == SignedDocument.bytes[0])
  }

  @Test("An announced signature is known by its issuer, or when it names nobody")
  func announced() throws {
    let holder = try Self.holder(4)
    let verifier = Self.verifier(holder.certificate)
    let key = holder.subkey.publicKey
    let stranger = try Self.holder(6).primary.publicKey
    #expect(verifier.knows(issuerOf: .version3(issuer: key.keyID)))
    #expect(verifier.knows(issuerOf: .version6(issuer: key.fingerprint, salt: [])))
    #expect(verifier.knows(issuerOf: .version3(issuer: .anonymous)))
    #expect(!verifier.knows(issuerOf: .version3(issuer: stranger.keyID)))
    #expect(!verifier.knows(issuerOf: .version6(issuer: stranger.fingerprint, salt: [])))
  }

  @Test("A v4 signature by a v6 key is refused, and the reverse", arguments: [UInt8(4), 6])
  func versions(version: UInt8) throws {
    let holder = try Self.holder(version)
    var recipe = SignatureFixture(holder.primary)
    recipe.version = version == 6 ? 4 : 6
    recipe.salt = version == 6 ? [] : [UInt8](repeating: 7, count: 32)
    recipe.hashed.removeLast()
    recipe.unhashed = [Subpacket(.issuerKeyID(holder.primary.publicKey.keyID))]
    #expect(try Self.result(recipe, holder) == .refused(.versionMismatch))
  }

  @Test("An issuer of another version than the signature's makes it malformed")
  func issuerVersion() throws {
    let holder = try Self.holder(4)
    var recipe = SignatureFixture(holder.primary)
    let foreign = Fingerprint(version: 6, bytes: [UInt8](repeating: 1, count: 32))
    recipe.hashed.append(Subpacket(.issuerFingerprint(foreign)))
    #expect(try Self.result(recipe, holder) == .bad)
    // Wherever it stands: the standard makes no difference, and a key of version 6 makes none of version 4.
    recipe.unhashed = [recipe.hashed.removeLast()]
    #expect(try Self.result(recipe, holder) == .bad)
  }

  @Test(
    "Only binary and text signatures count over documents",
    arguments: [0x02, 0x10, 0x13, 0x18, 0x1F, 0x20, 0x40, 0x50, 0x60, 0xFF] as [UInt8])
  func types(type: UInt8) throws {
    let holder = try Self.holder(4)
    var recipe = SignatureFixture(holder.primary)
    recipe.type = SignatureType(rawValue: type)
    #expect(try Self.result(recipe, holder) == .refused(.signatureType(recipe.type)))
  }

  @Test("MD5, SHA-1 and RIPEMD-160 are refused", arguments: [HashAlgorithm.md5, .sha1, .ripemd160])
  func weakHashes(hash: HashAlgorithm) throws {
    let holder = try Self.holder(4)
    var recipe = SignatureFixture(holder.primary)
    recipe.hashed[1] = Subpacket(.issuerFingerprint(holder.primary.publicKey.fingerprint))
    let draft = Signature(
      version: 4, type: .binary, algorithm: .ed25519, hash: hash, hashedArea: SubpacketArea(recipe.hashed),
      unhashedArea: SubpacketArea(), digestPrefix: [0, 0], salt: [],
      material: .ed25519([UInt8](repeating: 1, count: 64)))
    let verification = try Self.verification(draft, Self.verifier(holder.certificate))
    #expect(verification.result == .refused(.hashAlgorithm(hash)))
  }

  @Test("A hash shorter than the key's algorithm demands is refused")
  func shortHash() throws {
    let holder = try Self.holder(6)
    let verifier = Self.verifier(holder.certificate)
    let full = try SignatureFixture(holder.primary).made()
    let short = Signature(
      version: 6, type: .binary, algorithm: .ed448, hash: .sha256, hashedArea: full.hashedArea,
      unhashedArea: SubpacketArea(), digestPrefix: full.digestPrefix, salt: [UInt8](repeating: 1, count: 16),
      material: full.material)
    #expect(try Self.verification(short, verifier).result == .refused(.hashAlgorithm(.sha256)))
  }

  @Test("A signature that names nobody, or the key ID zero, is refused, and the document is not read for it")
  func noIssuer() throws {
    for version in [UInt8(4), 6] {
      let holder = try Self.holder(version)
      let nobody = Subpacket(.issuerKeyID(.anonymous))
      for (hashed, unhashed) in [([], []), ([], [nobody]), ([nobody], [])] as [([Subpacket], [Subpacket])] {
        var recipe = SignatureFixture(holder.subkey)
        recipe.hashed.removeLast()
        recipe.hashed += hashed
        recipe.unhashed = unhashed
        let source = MemorySource(SignedDocument.bytes)
        let verifications = try DetachedVerification(Self.verifier(holder.certificate)).verify(
          [try recipe.made()], over: source)
        #expect(verifications.map(\.result) == [.refused(.issuerMissing)])
        #expect(try source.readByteIfAny() == SignedDocument.bytes[0])
      }
      var named = SignatureFixture(holder.subkey)
      named.unhashed = [nobody]
      #expect(try Self.result(named, holder) == .good)
    }
  }

  @Test("SHA-224 counts with RSA, and not where an algorithm demands a longer digest")
  func sha224() throws {
    let rsa = try Holder(version: 4, .rsa(bitCount: 3072))
    var recipe = SignatureFixture(rsa.primary)
    recipe.hash = .sha224
    #expect(try Self.result(recipe, rsa) == .good)
    for algorithm in [KeyAlgorithm.ed25519, .eddsaLegacy, .ecdsa(.p256)] {
      let holder = try Holder(version: 4, algorithm)
      let full = try SignatureFixture(holder.primary).made()
      let short = Signature(
        version: 4, type: .binary, algorithm: full.algorithm, hash: .sha224, hashedArea: full.hashedArea,
        unhashedArea: SubpacketArea(), digestPrefix: full.digestPrefix, salt: [], material: full.material)
      let result = try Self.verification(short, Self.verifier(holder.certificate)).result
      #expect(result == .refused(.hashAlgorithm(.sha224)))
    }
  }

  @Test("Who signed may be named in the unhashed area, among others who did not")
  func unhashedIssuer() throws {
    let holder = try Self.holder(4)
    var recipe = SignatureFixture(holder.subkey)
    recipe.hashed.removeLast()
    recipe.unhashed = [
      Subpacket(.issuerKeyID(KeyID(bytes: [1, 2, 3, 4, 5, 6, 7, 8]))),
      Subpacket(.issuerFingerprint(holder.subkey.publicKey.fingerprint)),
      Subpacket(.issuerFingerprint(Fingerprint(version: 4, bytes: [UInt8](repeating: 9, count: 20)))),
    ]
    #expect(try Self.result(recipe, holder) == .good)
  }

  @Test("The first signature being bad or unusable does not keep the next from being tried")
  func laterSignature() throws {
    let holder = try Self.holder(4)
    let good = try SignatureFixture(holder.primary).made()
    let bad = good.changed(digestPrefix: [good.digestPrefix[0] ^ 1, 0])
    var odd = SignatureFixture(holder.primary)
    odd.hash = .sha256
    odd.type = .timestamp
    let verifications = try DetachedVerification(Self.verifier(holder.certificate)).verify(
      [bad, try odd.made(), good], over: MemorySource(SignedDocument.bytes))
    #expect(verifications.map(\.result) == [.bad, .refused(.signatureType(.timestamp)), .good])
  }

  @Test("A signature of an unknown algorithm or hash does not keep the next from being tried")
  func unknownAlgorithms() throws {
    let holder = try Self.holder(4)
    let good = try SignatureFixture(holder.primary).made()
    let sink = ArraySink()
    for (algorithm, hash) in [(UInt8(99), UInt8(10)), (27, 99), (99, 99)] {
      let unknown = Signature(
        version: 4, type: .binary, algorithm: PublicKeyAlgorithm(rawValue: algorithm),
        hash: HashAlgorithm(rawValue: hash), hashedArea: good.hashedArea, unhashedArea: good.unhashedArea,
        digestPrefix: [0, 0], salt: [],
        material: algorithm == 99 ? .unknown([1, 2, 3]) : .ed25519([UInt8](repeating: 1, count: 64)))
      try Packet.signature(unknown).write(to: sink)
    }
    try Packet.signature(good).write(to: sink)
    let list = try SignatureList(reading: MemorySource(sink.bytes))
    #expect(list.malformedCount == 0)
    let verifications = try DetachedVerification(Self.verifier(holder.certificate)).verify(
      list.signatures, over: MemorySource(SignedDocument.bytes))
    #expect(verifications.count == 4)
    #expect(verifications.dropLast().allSatisfy { $0.verified == nil })
    #expect(verifications.last?.result == .good)
  }

  @Test("A document's signature is none over a key, whatever the document holds")
  func crossUse() throws {
    let holder = try Self.holder(4)
    var recipe = SignatureFixture(holder.primary)
    recipe.document = holder.primary.publicKey.hashed
    let signature = try recipe.made()
    let key = holder.primary.publicKey
    #expect(try !signature.isValid(over: .directKey(key), by: key))
    let direct = try SignatureBuilder(type: .directKey, creationTime: Holder.signingTime).sign(
      .directKey(key), with: holder.primary)
    #expect(try direct.isValid(over: .directKey(key), by: key))
    let result = try Self.verification(direct, Self.verifier(holder.certificate), document: key.hashed).result
    #expect(result == .refused(.signatureType(.directKey)))
  }

  @Test("A text signature holds whatever the line ends, and a binary one does not")
  func lineEnds() throws {
    let holder = try Self.holder(6)
    let verifier = Self.verifier(holder.certificate)
    for (type, result) in [(SignatureType.text, SignatureVerification.Result.good), (.binary, .bad)] {
      var recipe = SignatureFixture(holder.subkey)
      recipe.type = type
      let verification = try Self.verification(
        try recipe.made(), verifier, document: SignedDocument.bytesWithCarriageReturns)
      #expect(verification.result == result)
    }
  }
}
