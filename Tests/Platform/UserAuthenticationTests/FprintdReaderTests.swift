// SPDX-License-Identifier: Apache-2.0

#if Fingerprint
  import DesktopBus
  import Extents
  import Foundation
  import PrivateBus
  import PseudoTerminals
  import ScriptedPrompts
  import Secrets
  import Synchronization
  import Testing

  @testable import UserAuthentication

  @Suite(
    "Fingers through fprintd", .enabled(if: PrivateBus.isAvailable, "dbus and python-dbusmock are needed"))
  struct FprintdReaderTests {
    @Test("A finger that matches is recognised, and the reader is given back")
    func match() throws {
      let place = try ReaderOnBus(results: ["verify-match"])
      #expect(try place.reader.hasEnrolledFinger())
      #expect(try place.verify() == .success(true))
      #expect(place.progress == [.waiting])
      try place.expectReleased()
    }

    @Test("A finger that does not match is not, and the next try has a claim of its own")
    func noMatch() throws {
      let place = try ReaderOnBus(results: ["verify-no-match", "verify-match"])
      #expect(try place.verify() == .success(false))
      try place.expectReleased()
      #expect(try place.verify() == .success(true))
      try place.expectReleased()
    }

    @Test("Scans that could not be read are told, cost nothing, and are followed by the answer")
    func retries() throws {
      let place = try ReaderOnBus(results: [
        "verify-retry-scan", "verify-swipe-too-short", "verify-finger-not-centered",
        "verify-remove-and-retry", "verify-something-new", "verify-match",
      ])
      #expect(try place.verify() == .success(true))
      #expect(
        place.progress == [
          .waiting, .scanAgain(.unreadable), .scanAgain(.swipeTooShort), .scanAgain(.notCentred),
          .scanAgain(.removeAndRetry),
        ])
      try place.expectReleased()
    }

    @Test("Without an enrolled finger there is none to verify")
    func notEnrolled() throws {
      let place = try ReaderOnBus(fingers: [])
      #expect(try !place.reader.hasEnrolledFinger())
      #expect(try place.verify() == .failure(.notEnrolled))
      try place.expectReleased()
    }

    @Test("Without the library of the bus nothing is said of a reader")
    func noLibrary() {
      let reader = FprintdReader { () throws(BusError) in throw .noLibrary }
      #expect(throws: FingerprintError.noLibrary) { try reader.hasEnrolledFinger() }
    }

    @Test("Without a reader, a service or a bus there is no reader")
    func noReader() throws {
      let bus = try PrivateBus()
      let reader = FprintdReader(bus: .address(bus.address))
      func expectNoReader(_ reader: FprintdReader) throws {
        #expect(throws: FingerprintError.noReader) { try reader.hasEnrolledFinger() }
        let attempt = try AuthenticationAttempt()
        #expect(throws: FingerprintError.noReader) {
          try reader.verify(timeout: Patience.duration, attempt: attempt) { _ in }
        }
      }
      try expectNoReader(reader)
      try bus.startMock(.fprintd)
      try expectNoReader(reader)
      try expectNoReader(FprintdReader(bus: .address("unix:path=/nonexistent/bus")))
    }

    @Test("A reader that another program holds is busy, and stays with that program")
    func busy() throws {
      let place = try ReaderOnBus(results: ["verify-match"])
      let other = try place.bus.connect()
      try place.call(other, "Claim", [.string("")])
      #expect(try place.verify() == .failure(.busy))
      #expect(try place.asks("IsClaimed"))
      try place.call(other, "Release")
      #expect(try place.verify() == .success(true))
      try place.expectReleased()
    }

    @Test(
      "What fprintd refuses is told apart",
      arguments: [
        ("PermissionDenied", FingerprintError.denied), ("Internal", .failed), ("NoSuchDevice", .noReader),
      ])
    func refused(name: String, expected: FingerprintError) throws {
      let place = try ReaderOnBus()
      try place.control("SetRefusal", [.string(name)])
      #expect(try place.verify() == .failure(expected))
      try place.expectReleased()
    }

    @Test(
      "A reader that fails or is unplugged in the middle is given back",
      arguments: [
        ("verify-disconnected", FingerprintError.disconnected), ("verify-unknown-error", .failed),
      ])
    func failsInTheMiddle(status: String, expected: FingerprintError) throws {
      let place = try ReaderOnBus(results: ["verify-retry-scan", status])
      #expect(try place.verify() == .failure(expected))
      try place.expectReleased()
    }

    @Test("A status that ends the verification and is not known is a failure, not a match")
    func unknownEnd() throws {
      let place = try ReaderOnBus()
      let answer = try place.verifyInBackground {
        try place.control("EmitVerifyStatus", [.string("verify-match-almost"), .boolean(true)])
      }
      #expect(answer == .failure(.failed))
      try place.expectReleased()
    }

    @Test("A service that dies in the middle is disconnected, and not started again")
    func serviceDies() throws {
      let place = try ReaderOnBus()
      #expect(try place.verifyInBackground { try place.bus.stopMock(.fprintd) } == .failure(.disconnected))
      #expect(try place.bus.connect().owner(of: PrivateBus.Mock.fprintd.service) == nil)
    }

    @Test("A bus that dies in the middle is disconnected")
    func busDies() throws {
      let place = try ReaderOnBus()
      #expect(try place.verifyInBackground { place.bus.stop() } == .failure(.disconnected))
    }

    @Test("When no finger comes, the wait ends in time")
    func timeout() throws {
      let place = try ReaderOnBus()
      #expect(try place.verify(timeout: .milliseconds(50)) == .failure(.timedOut))
      try place.expectReleased()
    }

    @Test(
      "Stopped from another thread, the wait ends and the reader is given back", arguments: [true, false])
    func stopped(isCancelled: Bool) throws {
      let place = try ReaderOnBus()
      let attempt = place.attempt
      let answer = try place.verifyInBackground { isCancelled ? attempt.cancel() : attempt.useFallback() }
      #expect(answer == .failure(.stopped))
      try place.expectReleased()
      // A stopped attempt does not even claim.
      #expect(try place.verify() == .failure(.stopped))
    }

    @Test("A match that somebody else than the service announces is none")
    func forged() throws {
      let place = try ReaderOnBus()
      try place.startForger()
      let answer = try place.verifyInBackground {
        try place.forgeMatch()
        try place.control("EmitVerifyStatus", [.string("verify-no-match"), .boolean(true)])
      }
      #expect(answer == .success(false))
      try place.expectReleased()
    }

    @Test("With fprintd behind it, an authenticator answers as the policy wants")
    func authenticator() throws {
      let place = try ReaderOnBus(results: ["verify-no-match", "verify-retry-scan", "verify-match"])
      let strict = AuthenticationPolicy.deviceOwnerWithBiometrics
      let prompt = ScriptedPrompt(replies: [shared("2580")])
      let authenticator = UserAuthenticator(prompt: prompt, reader: place.reader)
      #expect(try authenticator.factor(strict) == .biometry)
      try place.control("SetEnrolledFingers", [.string(""), .strings([])])
      #expect(throws: AuthenticationError.notEnrolled) { try authenticator.factor(strict) }
      #expect(prompt.requests.isEmpty)
      #expect(try authenticator.factor(.deviceOwner) == .passcode)
      try place.bus.stopMock(.fprintd)
      #expect(throws: AuthenticationError.noReader) { try authenticator.factor(strict) }
    }
  }

  /// A bus with fprintd and one reader, and one attempt at it.
  private final class ReaderOnBus: Sendable {
    let bus: PrivateBus
    let reader: FprintdReader
    let attempt: AuthenticationAttempt
    private let device: String
    /// Kept open: what gives the reader back is a call, and not the end of a connection.
    private let connections = Connections()
    private let told = Mutex<[FingerprintProgress]>([])
    private let waiting = DispatchSemaphore(value: 0)

    init(fingers: [String] = ["right-index-finger"], results: [String] = []) throws {
      bus = try PrivateBus()
      try bus.startMock(.fprintd)
      device = try bus.control(.fprintd, "AddDevice", [.string("Reader"), .string("press")]).value(0)
        .objectPath()
      reader = FprintdReader { [address = bus.address, connections] () throws(BusError) in
        let connection = try BusConnection(.address(address))
        connections.keep(connection)
        return connection
      }
      attempt = try AuthenticationAttempt()
      try control("SetEnrolledFingers", [.string(""), .strings(fingers)])
      try control("SetVerifyScript", [.strings(results)])
    }

    var progress: [FingerprintProgress] { told.withLock { $0 } }

    func verify(timeout: Duration = Patience.duration) throws -> Result<Bool, FingerprintError> {
      Result { () throws(FingerprintError) in
        try reader.verify(timeout: timeout, attempt: attempt) { progress in
          told.withLock { $0.append(progress) }
          waiting.signal()
        }
      }
    }

    /// Verifies in another thread, and runs `body` once the reader waits for a finger.
    func verifyInBackground(_ body: () throws -> Void) throws -> Result<Bool, FingerprintError> {
      let answer = Background { () throws(PromptError) in
        do { return try self.verify() } catch { throw .noTerminal }
      }
      guard waiting.wait(timeout: .now() + Patience.seconds) == .success else {
        throw PseudoTerminal.Failure("the reader does not wait")
      }
      try body()
      return try answer.value().get()
    }

    @discardableResult
    func control(_ method: String, _ arguments: [BusValue] = []) throws -> BusMessage {
      try bus.control(.fprintd, method, arguments, path: device)
    }

    func asks(_ question: String) throws -> Bool { try control(question).value(0).boolean() }

    func call(_ connection: BusConnection, _ method: String, _ arguments: [BusValue] = []) throws {
      try connection.call(
        "net.reactivated.Fprint", path: device, interface: "net.reactivated.Fprint.Device", method: method,
        arguments)
    }

    /// Another service, with an object of the reader's path.
    func startForger() throws {
      try bus.startMock(.logind)
      try bus.control(
        .logind, "AddObject",
        [
          .objectPath(device), .string("net.reactivated.Fprint.Device"), .properties([:]),
          .array(of: "(ssss)", []),
        ])
    }

    func forgeMatch() throws {
      try bus.emit(
        .logind, path: device, interface: "net.reactivated.Fprint.Device", signal: "VerifyStatus",
        [.string("verify-match"), .boolean(true)])
    }

    /// The reader was given back, though the connection that claimed it is still there.
    func expectReleased(sourceLocation: SourceLocation = #_sourceLocation) throws {
      #expect(try !asks("IsClaimed"), sourceLocation: sourceLocation)
      #expect(try !asks("IsVerifying"), sourceLocation: sourceLocation)
    }
  }

  /// Nobody calls anything on these; they are only not closed.
  private final class Connections: @unchecked Sendable {
    private let lock = NSLock()
    private var kept: [BusConnection] = []

    func keep(_ connection: BusConnection) { lock.withLock { kept.append(connection) } }
  }
#endif
