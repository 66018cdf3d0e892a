// SPDX-License-Identifier: Apache-2.0
//
// Security keys as the guard, through libfido2 and an authenticator in software: what they open, what an attacker has
// without them, and changes that fail.

#if SecurityKeys
  import Enclaves
  import Keychains
  import MemorySearch
  import Primitives
  import ProtectedData
  import Secrets
  import SecurityKeys
  import SoftwareSecurityKey
  import Testing

  @testable import KeyCustody

  @Suite("Security keys as the guard")
  struct SecurityKeyGuardTests {
    private static let pin = SecurityKeyVerification.pin(GuardKeyFixture.pin)

    @Test(
      "Each use takes the passphrase and one of the keys; no TPM is needed; leaving it removes the record")
    func wholeLife() throws {
      let fixture = try GuardKeyFixture(keys: 2)
      let (custody, own) = (fixture.custody, fixture.own)
      #expect(try own.custody.mode() == .highSecurityWithGuard)
      #expect(try custody.guardWays() == [.securityKey, .securityKey])
      #expect(try custody.guardKeys()?.keys.map(\.label) == ["key 1", "key 2"])
      #expect(try own.modesOfKeys() == [.highSecurityWithGuard])
      #expect(try own.pendingCount() == 0)
      try custody.checkGuard()
      for number in 0..<2 {
        let both = try fixture.with(number)
        #expect(try own.read(0, both) == CustodyFixture.secret(0))
        #expect(try own.read(1, both) == CustodyFixture.secret(1))
      }
      #expect(throws: CustodyError.guardRequired) { try own.read(1, own.passcode) }
      #expect(throws: CustodyError.passcodeRequired) { try own.read(1, own.finger()) }
      #expect(throws: CustodyError.guardRequired) {
        _ = try custody.openGuard(pin: GuardKeyFixture.pin)
      }
      try custody.switchMode(to: .standard, try fixture.with(1))
      #expect(try own.modesOfKeys() == [.standard])
      #expect(try own.items()[GuardRecord.account] == nil)
      #expect(try custody.guardKeys() == nil)
      #expect(try own.read(0, own.passcode) == CustodyFixture.secret(0))
    }

    @Test("A key that is added opens, and one that is removed opens nothing any more")
    func change() throws {
      let fixture = try GuardKeyFixture(keys: 1)
      let own = fixture.own
      let former = try fixture.with(0)
      let second = try fixture.enrol("blue")
      try fixture.enter([try fixture.guardKey(0), second.guardKey], former)
      #expect(try own.custody.guardKeys()?.keys.map(\.label) == ["key 1", "blue"])
      fixture.software.append(second.software)
      #expect(try own.read(0, try fixture.with(1)) == CustodyFixture.secret(0))
      #expect(throws: CustodyError.guardRequired) { try own.read(0, former) }
      // Without the second, the first is alone.
      let (lost, record) = (try fixture.answer(1), try CustodyItems(own.keychain).guardRecord())
      try fixture.enter([try fixture.guardKey(0)], try fixture.with(0))
      #expect(throws: SecurityKeyError.otherKey) { _ = try fixture.answer(1) }
      #expect(throws: CustodyError.guardRequired) { _ = try own.custody.openGuard(lost) }
      // Its guard, from a copy of the former record, is not the one of the envelopes.
      let old = try record.open(lost.secret, of: lost.credential)
      #expect(throws: CustodyError.guardRequired) { try own.read(0, own.passcode.with(guard: old)) }
      #expect(try own.read(0, try fixture.with(0)) == CustodyFixture.secret(0))
    }

    @Test("One key, and a private key without a backup: refused whatever is acknowledged; with two it is not")
    func oneKeyWithoutBackup() throws {
      let fixture = try GuardKeyFixture(keys: 0)
      let own = fixture.own
      let before = try own.items()
      let made = try [fixture.enrol("key 1"), fixture.enrol("key 2")]
      for acknowledged in [false, true] {
        let one = try own.custody.newGuard(keys: [made[0].guardKey], salt: fixture.salt)
        #expect(throws: CustodyError.secondKeyRequired(keysWithoutBackup: 2)) {
          try own.custody.switchMode(
            to: .highSecurityWithGuard, own.passcode, guard: one, acknowledgesMissingBackup: acknowledged)
        }
      }
      let two = try own.custody.newGuard(keys: made.map(\.guardKey), salt: fixture.salt)
      #expect(throws: CustodyError.acknowledgementRequired(keysWithoutBackup: 2)) {
        try own.custody.switchMode(to: .highSecurityWithGuard, own.passcode, guard: two)
      }
      #expect(try own.items() == before)
      own.records.noteBackup(0..<2)
      let one = try own.custody.newGuard(keys: [made[0].guardKey], salt: fixture.salt)
      try own.custody.switchMode(to: .highSecurityWithGuard, own.passcode, guard: one)
      #expect(try own.custody.mode() == .highSecurityWithGuard)
    }

    @Test(
      "Labels and keys are there once, labels are short and shown as they are, and there is at least one key")
    func invalid() throws {
      let fixture = try GuardKeyFixture(keys: 0)
      let (one, other) = (try fixture.enrol("key 1"), try fixture.enrol("key 1"))
      for keys in [[], [one.guardKey, one.guardKey], [one.guardKey, other.guardKey]] {
        #expect(throws: CustodyError.invalidInput) {
          _ = try fixture.custody.newGuard(keys: keys, salt: fixture.salt)
        }
      }
      for label in ["", " a", "a ", "a\u{1B}b", String(repeating: "a", count: 41)] {
        #expect(!StoredSecurityKey.isLabel(label), "\(label)")
      }
      #expect(StoredSecurityKey.isLabel("schlüssel am bund"))
    }

    // MARK: What an attacker tries

    @Test(
      "Machine, class keys, owner key and passphrase, with a program of one's own: none opens a private key")
    func ownProgram() throws {
      let fixture = try GuardKeyFixture(keys: 2)
      let own = fixture.own
      let items = try CustodyItems(own.keychain)
      let envelope = try items.envelope(CustodyFixture.fingerprint(0))
      let record = try items.guardRecord()
      let passcode = CustodyAuthorization.passcode(owner: own.owner)
      // The enclave agrees: that is the passphrase's part. What it gives does not open the envelope.
      let agreed = try own.enclave.sharedSecret(
        envelope.key, with: envelope.sealed.ephemeralKey, authorization: .passcode(passcode))
      let way = record.securityKeyWays[0]
      let known = [
        own.owner, passcode, SharedSecretBytes(agreed), GuardTexts.secret([UInt8](repeating: 0, count: 32)),
        GuardTexts.secret(record.check), GuardTexts.secret(way.salt),
        GuardTexts.secret(Array(way.credential.id.prefix(32))),
      ]
      for guess in known {
        let guessed = OpenGuard(digest: record.digest(), key: guess)
        #expect(throws: CustodyError.corrupt) {
          _ = try envelope.open(in: own.enclave, authorization: .passcode(passcode), guard: guessed)
        }
        for way in record.securityKeyWays {
          #expect(throws: CustodyError.corrupt) { _ = try way.open(guess, check: record.check).count }
          #expect(throws: CustodyError.corrupt) { _ = try record.open(guess, of: way.credential) }
        }
      }
    }

    @Test(
      "Another authenticator does not answer, the right one with a wrong PIN neither, and none without a touch"
    )
    func otherKeys() throws {
      let fixture = try GuardKeyFixture(keys: 1)
      let keys = try #require(try fixture.custody.guardKeys())
      let credentials = keys.keys.map(\.credential)
      #expect(throws: SecurityKeyError.otherKey) {
        _ = try SoftwareSecurityKey(pin: GuardKeyFixture.pin).device()
          .secret(of: credentials, salt: keys.salt, Self.pin, SecurityKeyAttempt())
      }
      let other = SecurityKeyVerification.pin(GuardTexts.secret("not-the-pin"))
      #expect(throws: SecurityKeyError.wrongPIN(triesLeft: 7)) {
        _ = try fixture.software[0].device()
          .secret(of: credentials, salt: keys.salt, other, SecurityKeyAttempt())
      }
      fixture.software[0].behaviour.touch = .timesOut
      #expect(throws: SecurityKeyError.noTouch) { _ = try fixture.answer(0) }
      // A key of one's own, whose answer is put in the place of the guard's.
      let foreign = try fixture.enrol("mine")
      #expect(throws: CustodyError.guardRequired) { _ = try fixture.custody.openGuard(foreign.answer) }
      let posing = SecurityKeyAnswer(credential: credentials[0], secret: foreign.answer.secret)
      #expect(throws: CustodyError.corrupt) { _ = try fixture.custody.openGuard(posing) }
    }

    @Test("A guard record or an envelope from before does not come back, and no other kind takes its place")
    func downgrade() throws {
      let fixture = try GuardKeyFixture(keys: 1)
      let own = fixture.own
      let envelope = CustodyItems.Place.permanent.account(CustodyFixture.fingerprint(0))
      let guarded = try own.items()
      let mine = try fixture.enrol("mine")
      let other = try GuardRecord.make(keys: [mine.guardKey], salt: fixture.salt)
      try own.change(GuardRecord.account) { _ in other.bytes().withBytes { [UInt8](copying: $0) } }
      #expect(throws: CustodyError.corrupt) { _ = try fixture.custody.openGuard(mine.answer) }
      #expect(try fixture.custody.examine() == 2)
      try own.change(GuardRecord.account) { _ in guarded[GuardRecord.account] }
      try fixture.custody.switchMode(to: .standard, try fixture.with(0))
      try own.change(envelope) { _ in guarded[envelope] }
      #expect(throws: CustodyError.corrupt) { try own.read(0, own.passcode) }
    }

    @Test("Every flipped byte of a guard record is noticed, and a shorter or longer one is refused")
    func flips() throws {
      let fixture = try GuardKeyFixture(keys: 2)
      let record = try CustodyItems(fixture.own.keychain).guardRecord()
      let answer = try fixture.answer(1)
      let bytes = record.bytes().withBytes { [UInt8](copying: $0) }
      #expect(try GuardRecord(bytes.span.bytes) == record)
      // The second way is what the answer opens.
      let start = bytes.count - record.securityKeyWays[1].bytes.count - 3
      for offset in bytes.indices {
        var changed = bytes
        changed[offset] ^= 0x01
        let read = try? GuardRecord(changed.span.bytes)
        #expect(read?.digest() != record.digest(), "byte \(offset)")
        guard offset < 41 || offset >= start else { continue }
        #expect(throws: CustodyError.self, "byte \(offset)") {
          _ = try GuardRecord(changed.span.bytes).open(answer.secret, of: answer.credential)
        }
      }
      for other in [Array(bytes.dropLast()), bytes + [0], []] {
        #expect(throws: CustodyError.corrupt) { _ = try GuardRecord(other.span.bytes) }
      }
    }

    @inline(never)
    private func use() throws -> [(String, Needle)] {
      let fixture = try GuardKeyFixture(keys: 1)
      let answer = try fixture.answer(0)
      let opened = try fixture.custody.openGuard(answer)
      let both = fixture.own.passcode.with(guard: opened)
      #expect(try fixture.own.read(0, both) == CustodyFixture.secret(0))
      let gone = [
        ("secret of the key", answer.secret.withBytes { Needle($0) }),
        ("guard key", opened.key.withBytes { Needle($0) }),
      ]
      for (name, needle) in gone { #expect(try !ProcessMemory.places(of: needle).isEmpty, "\(name)") }
      return gone
    }

    @Test("No secret of a key and no guard key stays, once they were used")
    func nothingStays() async {
      await #expect(processExitsWith: .success) {
        recordingErrors {
          for (name, needle) in try SecurityKeyGuardTests().use() {
            try ProcessMemory.expectGone(needle, "\(name)")
          }
        }
      }
    }

    // MARK: Changes that fail

    @Test("A store that fails at any batch leaves mode, guard and keys as they were", arguments: 0..<2)
    func storeFails(after count: Int) throws {
      let fixture = try GuardKeyFixture(keys: 1)
      let own = fixture.own
      let before = try own.items()
      let (present, second) = (try fixture.with(0), try fixture.enrol("blue"))
      let kept = try fixture.guardKey(0)
      own.store.plan.withLock { $0.batchesLeft = count }
      #expect(throws: CustodyError.keychain(.saveFailed(10))) {
        try fixture.enter([kept, second.guardKey], present)
      }
      own.store.plan.withLock { $0.batchesLeft = nil }
      #expect(try own.custody.recover() == (count == 0 ? .nothingPending : .rolledBack))
      #expect(try own.items() == before)
      #expect(try own.read(0, try fixture.with(0)) == CustodyFixture.secret(0))
    }
  }

  enum GuardTexts {
    static func secret(_ text: String) -> SharedSecretBytes { secret(Array(text.utf8)) }

    static func secret(_ bytes: [UInt8]) -> SharedSecretBytes {
      SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
    }
  }

  /// Two private keys in an enclave in software, under a guard of security keys.
  final class GuardKeyFixture {
    static let pin = GuardTexts.secret("864201")

    let own: CustodyFixture
    let salt = PrivateKeyCustody.newGuardSalt()
    var software: [SoftwareSecurityKey] = []

    var custody: PrivateKeyCustody { own.custody }

    /// One that was enrolled.
    struct Enrolled {
      let software: SoftwareSecurityKey
      let guardKey: GuardKey
      let answer: SecurityKeyAnswer
    }

    /// - Parameter keys: 0 for mode *standard*.
    init(keys count: Int) throws {
      own = try CustodyFixture(SoftwareEnclave())
      try own.wrap(2)
      guard count > 0 else { return }
      let made = try (1...count).map { try enrol("key \($0)") }
      software = made.map(\.software)
      own.records.noteBackup(0..<2)
      try enter(made.map(\.guardKey), own.passcode)
    }

    func enrol(_ label: String) throws -> Enrolled {
      let key = SoftwareSecurityKey(pin: Self.pin)
      let made = try key.device().enrol(.pin(Self.pin), besides: [], salt: salt, SecurityKeyAttempt())
      return Enrolled(
        software: key, guardKey: try GuardKey(label, made),
        answer: SecurityKeyAnswer(credential: made.credential, secret: made.secret))
    }

    func enter(_ keys: [GuardKey], _ authorization: CustodyAuthorization) throws {
      try custody.switchMode(
        to: .highSecurityWithGuard, authorization, guard: try custody.newGuard(keys: keys, salt: salt))
    }

    /// The answer of a key to the present guard.
    func answer(_ number: Int) throws -> SecurityKeyAnswer {
      let keys = try #require(try custody.guardKeys())
      return try software[number].device()
        .secret(of: keys.keys.map(\.credential), salt: keys.salt, .pin(Self.pin), SecurityKeyAttempt())
    }

    func guardKey(_ number: Int) throws -> GuardKey { try GuardKey("key \(number + 1)", answer(number)) }

    /// Passphrase and key.
    func with(_ number: Int) throws -> CustodyAuthorization {
      own.passcode.with(guard: try custody.openGuard(answer(number)))
    }
  }
#endif
