// SPDX-License-Identifier: Apache-2.0
//
// What a genuine signature says of itself, and what its certificate says of the key, decide too.

import Testing

@testable import OpenPGP

@Suite("Rules for genuine signatures")
struct SignaturePropertiesTests {
  typealias Holder = SigningFixture

  static func holder() throws -> Holder { try SignatureVerifierTests.holder(4) }

  static func result(
    _ holder: Holder, at time: Timestamp = Holder.signingTime,
    _ change: (inout SignatureFixture, inout SignatureVerifier) -> Void = { _, _ in }
  ) throws -> SignatureVerification.Result {
    var recipe = SignatureFixture(holder.primary, at: time)
    var verifier = SignatureVerifierTests.verifier(holder.certificate)
    change(&recipe, &verifier)
    return try SignatureVerifierTests.verification(try recipe.made(), verifier).result
  }

  @Test(
    "A critical subpacket that nobody knows is refused, private ones too", arguments: [99, 101] as [UInt8])
  func criticalSubpackets(type: UInt8) throws {
    let holder = try Self.holder()
    for isCritical in [true, false] {
      let octet = isCritical ? type | 0x80 : type
      let subpacket = try Subpacket(typeOctet: octet, body: [1, 2, 3], isEmbedded: false)
      let hashed = try Self.result(holder) { recipe, _ in recipe.hashed.append(subpacket) }
      #expect(hashed == (isCritical ? .refused(.criticalSubpacket) : .good))
      // Anybody can write there, and would spoil every signature.
      #expect(try Self.result(holder) { recipe, _ in recipe.unhashed.append(subpacket) } == .good)
    }
  }

  @Test("A critical notation is refused unless the caller knows its name")
  func criticalNotations() throws {
    let holder = try Self.holder()
    let name = Array("level@example.org".utf8)
    let notation = Notation(isHumanReadable: true, name: name, value: [65])
    for isCritical in [true, false] {
      let subpacket = Subpacket(.notation(notation), isCritical: isCritical)
      let unknown = try Self.result(holder) { recipe, _ in recipe.hashed.append(subpacket) }
      #expect(unknown == (isCritical ? .refused(.criticalSubpacket) : .good))
      let known = try Self.result(holder) { recipe, verifier in
        recipe.hashed.append(subpacket)
        verifier.policy.knownNotations = [name]
      }
      #expect(known == .good)
    }
  }

  @Test("The time of creation must be in the hashed area")
  func creationTime() throws {
    let holder = try Self.holder()
    let missing = try Self.result(holder) { recipe, _ in recipe.hashed.removeFirst() }
    #expect(missing == .refused(.creationTimeMissing))
    let unhashed = try Self.result(holder) { recipe, _ in recipe.unhashed = [recipe.hashed.removeFirst()] }
    #expect(unhashed == .refused(.creationTimeMissing))
  }

  @Test("A signature from the future is refused, but for what clocks differ")
  func future() throws {
    let holder = try Self.holder()
    let tolerated = Holder.now.adding(seconds: Policy.clockToleranceSeconds)
    #expect(try Self.result(holder, at: tolerated) == .good)
    #expect(try Self.result(holder, at: tolerated.adding(seconds: 1)) == .refused(.signatureFromTheFuture))
  }

  @Test("A signature that has expired is refused; zero seconds are for ever")
  func expiry() throws {
    let holder = try Self.holder()
    let yearLater = Holder.now.secondsSince1970 - Holder.signingTime.secondsSince1970
    for (seconds, result) in [
      (UInt32(0), SignatureVerification.Result.good), (yearLater, .refused(.signatureExpired)),
      (yearLater + 1, .good), (.max, .good), (1, .refused(.signatureExpired)),
    ] {
      let subpacket = Subpacket(.signatureExpirationTime(seconds: seconds))
      #expect(try Self.result(holder) { recipe, _ in recipe.hashed.append(subpacket) } == result)
      #expect(try Self.result(holder) { recipe, _ in recipe.unhashed.append(subpacket) } == .good)
    }
  }

  @Test("A signature older than its key is refused")
  func olderThanKey() throws {
    let before = Timestamp(secondsSince1970: Holder.creationTime.secondsSince1970 - 1)
    #expect(try Self.result(try Self.holder(), at: before) == .refused(.signatureOlderThanKey))
    #expect(try Self.result(try Self.holder(), at: Holder.creationTime) == .good)
  }

  @Test("Bounds of the caller include their own seconds")
  func requestedTime() throws {
    let holder = try Self.holder()
    let time = Holder.signingTime.secondsSince1970
    let bounds: [(UInt32?, UInt32?, Bool)] = [
      (time, time, true), (time + 1, nil, false), (nil, time - 1, false), (time - 1, time + 1, true),
    ]
    for (notBefore, notAfter, isInside) in bounds {
      let result = try Self.result(holder) { _, verifier in
        verifier.notBefore = notBefore.map { Timestamp(secondsSince1970: $0) }
        verifier.notAfter = notAfter.map { Timestamp(secondsSince1970: $0) }
      }
      #expect(result == (isInside ? .good : .refused(.outsideRequestedTime)))
    }
  }

  @Test("A signature for somebody else is refused in a message to us, and elsewhere it is not asked")
  func intendedRecipients() throws {
    let holder = try Self.holder()
    let us = try SignatureVerifierTests.holder(6).certificate.fingerprint
    let them = holder.certificate.fingerprint
    for (named, reader, isRefused) in [
      ([us], us, false), ([them, us], us, false), ([them], us, true), ([], us, false), ([them], nil, false),
    ] as [([Fingerprint], Fingerprint?, Bool)] {
      var recipe = SignatureFixture(holder.primary)
      recipe.hashed += named.map { Subpacket(.intendedRecipientFingerprint($0)) }
      let hash = try DocumentHash(recipe.hash, isText: false, salt: [])
      hash.update(recipe.document.span.bytes)
      let verifier = SignatureVerifierTests.verifier(holder.certificate)
      let verification = verifier.verify(
        try recipe.made(), hash, intendedFor: reader, cache: SigningKeyCache())
      #expect(verification.result == (isRefused ? .refused(.notIntendedRecipient) : .good))
    }
  }

  @Test("A key that is not flagged for signing does not sign")
  func keyFlags() throws {
    let statements = Holder.SelfSignatureContents(
      primary: [.keyFlags(.certify)], unhashed: [Subpacket(.keyFlags([.certify, .sign]))])
    #expect(try Self.result(try Holder(version: 4, .ed25519, statements)) == .refused(.keyFlags))
    #expect(try Self.result(try Holder(version: 6, .ed25519, statements)) == .refused(.keyFlags))
  }

  @Test("Expiry is judged by the signature's time: before it a signature stays good, after it none is")
  func keyExpiry() throws {
    let twoDays = Holder.SelfSignatureContents(
      primary: [.keyFlags([.certify, .sign]), .keyExpirationTime(seconds: 2 * 86_400)])
    for version in [UInt8(4), 6] {
      let holder = try Holder(version: version, .ed25519, twoDays)
      #expect(try Self.result(holder) == .goodButExpired)
      let signature = try SignatureFixture(holder.primary).made()
      let verification = try SignatureVerifierTests.verification(
        signature, SignatureVerifierTests.verifier(holder.certificate))
      #expect(verification.verified?.keyHasExpiredSince == true)
      let late = Holder.creationTime.adding(seconds: 2 * 86_400)
      #expect(try Self.result(holder, at: late) == .refused(.keyExpired))
    }
  }

  @Test("An end that was moved since does not count")
  func extendedExpiry() throws {
    let twoDays = Holder.SelfSignatureContents(
      primary: [.keyFlags([.certify, .sign]), .keyExpirationTime(seconds: 2 * 86_400)])
    var holder = try Holder(version: 6, .ed25519, twoDays)
    let builder = SignatureBuilder(
      type: .directKey, creationTime: Holder.signingTime.adding(seconds: 60),
      subpackets: [Subpacket(.keyFlags([.certify, .sign]))])
    holder.certificate.signatures.append(
      try builder.sign(.directKey(holder.primary.publicKey), with: holder.primary))
    #expect(try Self.result(holder) == .good)
  }

  @Test("Soft revocations end later signatures only, hard ones all")
  func revocation() throws {
    let before = Holder.creationTime.adding(seconds: 3600)
    let after = Holder.signingTime.adding(seconds: 3600)
    for (code, time, result) in [
      (RevocationReason.Code.superseded, after, SignatureVerification.Result.good),
      (.retired, after, .good), (.superseded, before, .revoked), (.compromised, after, .revoked),
      (.none, after, .revoked), (.compromised, before, .revoked),
    ] {
      var holder = try Self.holder()
      try holder.revoke(code, at: time)
      #expect(try Self.result(holder) == result)
    }
  }

  @Test("A revocation in one copy of a certificate counts beside a copy without it")
  func revokedCopy() throws {
    let holder = try Self.holder()
    var revoked = holder
    try revoked.revoke(.compromised, at: Holder.signingTime)
    let signature = try SignatureFixture(holder.primary).made()
    for verifier in [
      SignatureVerifierTests.verifier(holder.certificate, revoked.certificate),
      SignatureVerifierTests.verifier(revoked.certificate, holder.certificate),
    ] {
      #expect(try SignatureVerifierTests.verification(signature, verifier).result == .revoked)
    }
  }

  @Test("A key that nothing binds does not count")
  func unboundKeys() throws {
    var holder = try Self.holder()
    holder.certificate.subkeys[0].signatures = []
    let signature = try SignatureFixture(holder.subkey).made()
    let verifier = SignatureVerifierTests.verifier(holder.certificate)
    #expect(try SignatureVerifierTests.verification(signature, verifier).result == .refused(.keyNotBound))
    let bare = Certificate(primaryKey: holder.primary.publicKey)
    let primarySignature = try SignatureFixture(holder.primary).made()
    let verification = try SignatureVerifierTests.verification(
      primarySignature, SignatureVerifierTests.verifier(bare))
    #expect(verification.result == .refused(.keyNotBound))
  }
}
