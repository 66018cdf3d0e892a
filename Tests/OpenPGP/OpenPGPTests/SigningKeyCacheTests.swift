// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenPGP

struct SigningKeyCacheTests {
  @Test("Copies of a signature, however many, ask the certificate once")
  func copies() throws {
    let holder = try SignatureVerifierTests.holder(6)
    let verifier = SignatureVerifierTests.verifier(holder.certificate)
    let cache = SigningKeyCache()
    let document = SignedDocument.bytes
    for key in [holder.primary, holder.primary, holder.subkey, holder.primary] {
      let signature = try SignatureFixture(key).made()
      let hash = try DocumentHash(signature.hash, isText: false, salt: signature.salt)
      hash.update(document.span.bytes)
      #expect(verifier.verify(signature, hash, intendedFor: nil, cache: cache).result == .good)
    }
    #expect(cache.count == 2)
  }
}
