// SPDX-License-Identifier: Apache-2.0
//
// Identities that end with the process, on a custody in memory.

package import Correspondence
package import Enclaves
package import Identities
package import KeyCustody
internal import Keychains
internal import OpenPGP
internal import Primitives
internal import Secrets

/// Identities in memory, and the owner key that opens them: for the self-test, and for the tutorial's other people.
package struct InMemoryIdentities {
  let keychain = InMemoryKeychain()
  let custody: PrivateKeyCustody
  package let store: IdentityStore
  private let owner = SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount))

  package init(_ enclave: any Enclave) throws {
    let records = InMemoryCustodyRecords()
    custody = try PrivateKeyCustody(inMemory: keychain, records: records, enclave: enclave)
    store = IdentityStore(custody, records)
  }

  /// As the owner has it after a slot was opened.
  package var authorization: CustodyAuthorization { CustodyAuthorization(owner: owner) }

  /// As an agent has it.
  var handedOn: CustodyAuthorization {
    CustodyAuthorization(handedOn: CustodyAuthorization.passcode(owner: owner))
  }

  /// Lends private parts as commands do.
  package var lender: PrivatePartLender {
    let (custody, authorization) = (custody, authorization)
    return { fingerprint, body in
      try custody.withPrivateKey(fingerprint, authorization) { bytes, _ in try body(bytes) }
    }
  }

  /// Makes an identity that never ends.
  package func generate(
    _ userID: String = "Self-test <self-test@example.org>", isUniversal: Bool, at now: Int64
  ) throws -> Identity {
    try store.generate(
      NewIdentity(userIDs: [UserIDText(new: userID)], isUniversal: isUniversal, expiry: .never),
      authorization, at: now)
  }

  /// Decrypts a message for an identity of these.
  func decrypt(_ message: [UInt8], for identity: Identity) throws -> (text: [UInt8], DecryptedMessage) {
    let plan = ReadingPlan(try MessageRecipients(reading: MemorySource(message)), [identity])
    let keys = plan.keys(lender)
    var decryption = MessageDecryption()
    decryption.keys = keys.map { .init($0, certificate: $0.identity) }
    let sink = ArraySink()
    let result: DecryptedMessage
    do throws(OpenPGPError) { result = try decryption.decrypt(from: MemorySource(message), to: sink) } catch {
      // A refusal releases nothing, and is not one of custody's.
      try SelfTestMismatch.unless(sink.bytes.isEmpty && keys.allSatisfy { $0.failure == nil })
      throw error
    }
    return (sink.bytes, result)
  }
}
