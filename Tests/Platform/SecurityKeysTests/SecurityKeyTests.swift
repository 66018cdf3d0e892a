// SPDX-License-Identifier: Apache-2.0
//
// The unmodified libfido2 against an authenticator in software.

#if SecurityKeys
  import Foundation
  import MemorySearch
  import Primitives
  import Secrets
  @testable import SecurityKeys
  import SoftwareSecurityKey
  import Testing

  @Suite("Security keys")
  struct SecurityKeyTests {
    private let software = SoftwareSecurityKey()
    private let salt = [UInt8](repeating: 7, count: 32)

    private func pin(_ text: String = "864201") -> SecurityKeyVerification {
      .pin(SharedSecretBytes(SecretBytes(copying: Array(text.utf8).rawSpan)))
    }

    private func enrolled(
      _ key: SoftwareSecurityKey? = nil, _ verification: SecurityKeyVerification? = nil,
      besides others: [SecurityKeyCredential] = []
    ) throws -> EnrolledSecurityKey {
      try (key ?? software).device()
        .enrol(verification ?? pin(), besides: others, salt: salt, SecurityKeyAttempt())
    }

    private func use(
      _ credential: SecurityKeyCredential, _ key: SoftwareSecurityKey? = nil,
      _ verification: SecurityKeyVerification? = nil, or other: SecurityKeyCredential? = nil,
      salt: [UInt8]? = nil
    ) throws -> SecurityKeyAnswer {
      let credentials = [credential] + (other.map { [$0] } ?? [])
      return try (key ?? software).device()
        .secret(of: credentials, salt: salt ?? self.salt, verification ?? pin(), SecurityKeyAttempt())
    }

    private func bytes(_ secret: SharedSecretBytes) -> [UInt8] { secret.withBytes { [UInt8](copying: $0) } }

    @Test(
      "A key that was enrolled gives the same secret again, with either protocol",
      arguments: [[2, 1], [1], [2]])
    func roundTrip(protocols: [Int]) throws {
      software.behaviour.protocols = protocols
      let made = try enrolled()
      #expect(made.secret.count == 32)
      let answer = try use(made.credential)
      #expect(answer.credential == made.credential)
      #expect(bytes(answer.secret) == bytes(made.secret))
      software.takeOut()
      software.plugIn()
      #expect(bytes(try use(made.credential).secret) == bytes(made.secret))
      let other = try use(made.credential, salt: [UInt8](repeating: 8, count: 32))
      #expect(bytes(other.secret) != bytes(made.secret))
    }

    @Test("Without the library there is no list of keys, which is another answer than an empty one")
    func noLibrary() throws {
      #expect(throws: SecurityKeyError.noLibrary) { _ = try FidoSecurityKeyFinder().keys(nil) }
    }

    @Test("The finger on the key gives the secret that its PIN gives")
    func finger() throws {
      software.behaviour.hasReader = true
      let made = try enrolled(software, .finger)
      #expect(bytes(try use(made.credential, software, .finger).secret) == bytes(made.secret))
      #expect(bytes(try use(made.credential).secret) == bytes(made.secret))
      software.behaviour.finger = .unknown
      #expect(throws: SecurityKeyError.wrongFinger) { try use(made.credential, software, .finger) }
      software.behaviour.finger = .blocked
      #expect(throws: SecurityKeyError.fingerBlocked) { try use(made.credential, software, .finger) }
      #expect(bytes(try use(made.credential).secret) == bytes(made.secret))
    }

    @Test("Wrong PINs are counted: three, out and in, and the eighth blocks the key for good")
    func wrongPIN() throws {
      let made = try enrolled()
      var tries = 8
      for round in 0..<3 {
        for attempt in 0..<3 where tries > 0 {
          tries -= 1
          let expected: SecurityKeyError =
            tries == 0 ? .blocked : attempt == 2 ? .mustBePluggedInAgain : .wrongPIN(triesLeft: tries)
          #expect(throws: expected, "round \(round), attempt \(attempt)") {
            try use(made.credential, software, pin("135790"))
          }
        }
        if tries > 0 {
          #expect(throws: SecurityKeyError.mustBePluggedInAgain) { try use(made.credential) }
        }
        software.takeOut()
        software.plugIn()
      }
      #expect(software.pinTriesLeft == 0)
      #expect(throws: SecurityKeyError.blocked) { try use(made.credential) }
    }

    @Test("The right PIN ends the count; one that no key takes is not counted")
    func count() throws {
      let made = try enrolled()
      #expect(throws: SecurityKeyError.wrongPIN(triesLeft: 7)) {
        try use(made.credential, software, pin("135790"))
      }
      _ = try use(made.credential)
      #expect(software.pinTriesLeft == 8)
      for odd in ["", "123", String(repeating: "1", count: 64)] {
        #expect(throws: SecurityKeyError.wrongPIN(triesLeft: nil)) {
          try use(made.credential, software, pin(odd))
        }
      }
      #expect(software.pinTriesLeft == 8)
    }

    @Test("Another key, no touch, taken out while it waits, and taken out before: each its own error")
    func failures() throws {
      let made = try enrolled()
      let other = SoftwareSecurityKey()
      #expect(throws: SecurityKeyError.otherKey) { try use(made.credential, other) }
      software.behaviour.touch = .timesOut
      #expect(throws: SecurityKeyError.noTouch) { try use(made.credential) }
      software.behaviour.touch = .never
      #expect(throws: SecurityKeyError.noTouch) {
        try software.device(wait: .milliseconds(20))
          .secret(of: [made.credential], salt: salt, pin(), SecurityKeyAttempt())
      }
      software.behaviour.touch = .unplugged
      #expect(throws: SecurityKeyError.gone) { try use(made.credential) }
      #expect(throws: SecurityKeyError.gone) { try use(made.credential) }
      software.plugIn()
      software.behaviour.touch = .comes
      #expect(bytes(try use(made.credential).secret) == bytes(made.secret))
    }

    @Test("Another thread ends the wait, and the key stops waiting")
    func cancel() throws {
      let made = try enrolled()
      software.behaviour.touch = .never
      let attempt = SecurityKeyAttempt()
      let (software, salt, pin) = (software, salt, pin())
      Thread.detachNewThread {
        software.awaitTouchRequest()
        attempt.cancel()
      }
      #expect(throws: SecurityKeyError.cancelled) {
        try software.device().secret(of: [made.credential], salt: salt, pin, attempt)
      }
      #expect(throws: SecurityKeyError.cancelled) {
        try software.device().secret(of: [made.credential], salt: salt, pin, attempt)
      }
    }

    @Test("A key that forgot a cancellation is told again, until the wait ends")
    func cancelledBeforeTheRequest() throws {
      let attempt = SecurityKeyAttempt()
      let told = DispatchSemaphore(value: 0)
      let cancelled = DispatchSemaphore(value: 0)
      try attempt.telling({ told.signal() }) { () throws(SecurityKeyError) in
        Thread.detachNewThread {
          attempt.cancel()
          cancelled.signal()
        }
        for _ in 1...3 { told.wait() }
      }
      cancelled.wait()
      #expect(throws: SecurityKeyError.cancelled) {
        try attempt.telling({}) { () throws(SecurityKeyError) in Issue.record("It works on") }
      }
    }

    @Test("Of two keys each answers with its own credential; one key is not enrolled twice")
    func twoKeys() throws {
      let second = SoftwareSecurityKey(pin: "975310")
      let first = try enrolled()
      let other = try enrolled(second, pin("975310"), besides: [first.credential])
      #expect(try use(first.credential, or: other.credential).credential == first.credential)
      let answer = try use(first.credential, second, pin("975310"), or: other.credential)
      #expect(answer.credential == other.credential)
      #expect(bytes(answer.secret) == bytes(other.secret))
      #expect(throws: SecurityKeyError.alreadyEnrolled) {
        try enrolled(software, pin(), besides: [first.credential])
      }
    }

    @Test("A key without secrets, or that cannot verify, is not enrolled, and it is said what is missing")
    func unsuitable() throws {
      software.behaviour.hasSecrets = false
      #expect(throws: SecurityKeyError.unsuitable(.secrets)) { try enrolled() }
      let open = SoftwareSecurityKey(pin: nil)
      #expect(try open.device().facts().shortcoming == .verification)
      #expect(throws: SecurityKeyError.unsuitable(.verification)) { try enrolled(open) }
    }

    @Test("A key that lies is not believed: secrets that differ, no verification, a wrong signature")
    func liars() throws {
      let made = try enrolled()
      software.behaviour.hidesVerification = true
      #expect(throws: SecurityKeyError.untrustworthy) { try use(made.credential) }
      software.behaviour.hidesVerification = false
      software.behaviour.signsWrongly = true
      #expect(throws: SecurityKeyError.untrustworthy) { try use(made.credential) }
      software.behaviour.signsWrongly = false
      software.behaviour.forgetsSecrets = true
      #expect(throws: SecurityKeyError.untrustworthy) { try enrolled() }
    }

    /// Enrols, uses, and uses with a wrong PIN; what must be gone after that.
    @inline(never)
    private func useUp() throws -> [(String, Needle)] {
      let digits = SystemRandom.secretBytes(count: 24)
      // Bytes that have no zero, as in a PIN.
      let typed = SharedSecretBytes(
        SecretBytes(byteCount: 24) { output in
          digits.withBytes { digits in
            for place in 0..<24 {
              output.storeBytes(
                of: digits.unsafeLoad(fromByteOffset: place, as: UInt8.self) | 1, toByteOffset: place,
                as: UInt8.self)
            }
          }
        })
      let key = SoftwareSecurityKey(pin: typed)
      let made = try enrolled(key, .pin(typed))
      let answer = try use(made.credential, key, .pin(typed))
      #expect(throws: SecurityKeyError.wrongPIN(triesLeft: 7)) { try use(made.credential, key) }
      return [
        ("PIN", typed.withBytes { Needle($0) }), ("secret", answer.secret.withBytes { Needle($0) }),
      ]
    }

    @Test("No PIN and no secret stays in memory")
    func nothingStays() async {
      await #expect(processExitsWith: .success) {
        recordingErrors {
          for (name, needle) in try SecurityKeyTests().useUp() {
            try ProcessMemory.expectGone(needle, "\(name)")
          }
        }
      }
    }

    @Test("Credentials of another key under a known id do not pass")
    func exchangedKey() throws {
      let made = try enrolled()
      let other = try enrolled()
      let exchanged = try #require(
        SecurityKeyCredential(
          id: made.credential.id, publicKey: other.credential.publicKey, model: made.credential.model))
      #expect(throws: SecurityKeyError.untrustworthy) { try use(exchanged) }
    }
  }

  @Suite("Finding security keys")
  struct SecurityKeyFinderTests {
    @Test("The one suitable key is taken; none and several are said")
    func onlyKey() throws {
      let keys = SoftwareSecurityKeys()
      #expect(throws: SecurityKeyError.noKey) { try keys.onlyKey() }
      let old = SoftwareSecurityKey()
      old.behaviour.hasSecrets = false
      keys.plugged = [old]
      #expect(throws: SecurityKeyError.unsuitable(.secrets)) { try keys.onlyKey() }
      keys.plugged = [old, SoftwareSecurityKey()]
      #expect(try keys.onlyKey().facts.hasPIN)
      keys.plugged = [SoftwareSecurityKey(), SoftwareSecurityKey()]
      #expect(throws: SecurityKeyError.several) { try keys.onlyKey() }
    }

    @Test("A key that this user may not open is told from no key")
    func forbidden() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "hid-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let files = FileManager.default
      for (name, descriptor) in [
        ("hidraw0", [0x05, 0x01, 0x09, 0x06] as [UInt8]), ("hidraw1", [0x06, 0xD0, 0xF1, 0x09, 0x01]),
      ] {
        let device = folder.appending(path: "class/\(name)/device")
        try files.createDirectory(at: device, withIntermediateDirectories: true)
        try Data(descriptor).write(to: device.appending(path: "report_descriptor"))
      }
      try files.createDirectory(at: folder.appending(path: "dev"), withIntermediateDirectories: true)
      let node = folder.appending(path: "dev/hidraw1").path()
      try Data().write(to: URL(filePath: node))
      let devices = HIDDevices(
        folder: folder.appending(path: "class").path(), devices: folder.appending(path: "dev").path())
      #expect(!devices.hasForbiddenSecurityKey())
      try files.setAttributes([.posixPermissions: 0o000], ofItemAtPath: node)
      // Root may open everything.
      #expect(devices.hasForbiddenSecurityKey() == (geteuid() != 0))
    }
  }
#endif
