// SPDX-License-Identifier: Apache-2.0
//
// Fingers on the command line, with a reader that is told what it sees.

#if Fingerprint
  import DesktopBus
  import Foundation
  import PrivateBus
  import Testing

  @Suite(
    "Fingers",
    .enabled(if: PrivateBus.isAvailable, "no dbus-daemon, gnome-keyring-daemon or python3-dbusmock"))
  struct FingerTests {
    private let place: Place
    private let bus: PrivateBus
    private let reader: String
    private let pass: [String]

    init() throws {
      place = try Place()
      bus = try PrivateBus()
      try bus.startMock(.fprintd)
      reader = try bus.control(.fprintd, "AddDevice", [.string("Reader"), .string("press")]).value(0)
        .objectPath()
      try place.makeCoffer()
      pass = ["--passphrase-file", place.folder.path() + "/pass"]
      try bus.control(
        .fprintd, "SetEnrolledFingers", [.string(""), .strings(["right-index-finger"])], path: reader)
    }

    private func sees(_ results: String...) throws {
      try bus.control(.fprintd, "SetVerifyScript", [.strings(results.map { "verify-" + $0 })], path: reader)
    }

    private func run(_ arguments: String...) throws -> Place.Outcome {
      try place.runProcess(
        arguments,
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": place.folder.path()])
    }

    /// A session, in high security with the guard finger.
    private func enterHighSecurity() throws {
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place.folder.path())
      // Without a private part there would be nothing to guard, and no finger would be asked for.
      try #require(
        try run("identity", "generate", "--user-id", "Ada", "--quiet", pass[0], pass[1]).status == 0)
      try sees("match")
      let entered = try run(
        "mode", "high-security", "--guard", "finger", "--acknowledge-no-backup", pass[0], pass[1])
      try #require(entered.status == 0, "\(entered.error)")
      #expect(entered.error.contains("somebody who knows the passphrase and can run programs as you"))
      try #require(try run("unlock", pass[0], pass[1]).status == 0)
    }

    @Test(
      "Nine wrong fingers over three commands: five are scanned, and none counts until the passphrase was given"
    )
    func oneCount() throws {
      try enterHighSecurity()
      defer { _ = try? run("lock", "--all") }
      let wrong = Array(repeating: "no-match", count: 3)
      try sees(wrong[0], wrong[1], wrong[2])
      let first = try run("--json", "mode", "standard")
      #expect(first.status == 4)
      #expect(first.error.contains("\"code\":\"not_recognised\""), "\(first.error)")
      try sees(wrong[0], wrong[1], wrong[2])
      let second = try run("--json", "mode", "standard")
      #expect(second.status == 4)
      #expect(second.error.contains("\"code\":\"finger_locked_out\""), "\(second.error)")
      // The sixth is not scanned, even if it is the right one.
      try sees("match")
      let third = try run("--json", "mode", "standard")
      #expect(third.status == 4)
      #expect(third.error.contains("\"code\":\"finger_locked_out\""), "\(third.error)")
      #expect(third.error.contains("coffer unlock"))
      let status = try run("--json", "status")
      #expect(status.output.contains("\"fingersLeft\":0,"), "\(status.output)")
      #expect(status.output.contains("\"guards\":[\"finger\"]"))
      #expect(try run("status").output.contains("fingers    locked: too many in a row were wrong"))
      // A wrong passphrase does not help; the right one does.
      let other = try place.write("Another-Passphrase-2026\n", to: "other")
      #expect(try run("unlock", "--passphrase-file", other).status == 4)
      #expect(try run("--json", "mode", "standard").error.contains("finger_locked_out"))
      #expect(try run("unlock", pass[0], pass[1]).status == 0)
      let locked = try run("--json", "mode", "standard")
      // The finger was right, and the change needs the owner.
      #expect(locked.status == 3)
      #expect(locked.error.contains("\"code\":\"no_prompt\""), "\(locked.error)")
      try sees("match")
      let done = try run("--json", "mode", "standard", pass[0], pass[1])
      #expect(done.status == 0, "\(done.error)")
      #expect(done.output.contains("\"mode\":\"standard\""))
    }

    /// A session without a grace period, and an identity that a finger is enough for.
    private func beginSession() throws {
      try #require(
        try run("identity", "generate", "--user-id", "Ada", "--quiet", pass[0], pass[1]).status == 0)
      try #require(try run("mode", "standard", "--with-finger", pass[0], pass[1]).status == 0)
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place.folder.path())
      try #require(try run("unlock", pass[0], pass[1]).status == 0)
      try #require(try run("settings", "grace-period", "0", pass[0], pass[1]).status == 0)
    }

    @Test("To sign what comes through a pipe, the finger is asked for when all of it has come")
    func slowPipe() throws {
      defer { _ = try? run("lock", "--all") }
      try beginSession()
      try sees("match")
      let process = place.process(
        Place.coffer, ["encrypt", "--to", "me", "--output", "out.pgp"],
        ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": place.folder.path()])
      let (input, errors) = (Pipe(), Pipe())
      (process.standardInput, process.standardError) = (input, errors)
      try process.run()
      // More than a pipe holds: when it is written, most of it was read.
      try input.fileHandleForWriting.write(contentsOf: Data(repeating: 0x61, count: 1 << 20))
      #expect(try !bus.control(.fprintd, "IsClaimed", path: reader).value(0).boolean())
      try input.fileHandleForWriting.close()
      let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(said)")
      try sees("match")
      let read = try run("decrypt", "out.pgp")
      #expect(read.status == 0 && read.output.utf8.count == 1 << 20, "\(read.error)")
      // A wrong finger leaves no file.
      try sees("no-match", "no-match", "no-match")
      let place = place
      let refused = try place.runProcess(
        ["encrypt", "--to", "me", "--output", "none.pgp"], input: "text",
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": place.folder.path()])
      #expect(refused.status != 0)
      #expect(!FileManager.default.fileExists(atPath: place.folder.path() + "/none.pgp"))
    }

    @Test(
      "AM-03: a finger that was enrolled later counts too, also when the first one is not enrolled any more")
    func enrolledLater() throws {
      defer { _ = try? run("lock", "--all") }
      try beginSession()
      let letter = try place.write("text", to: "letter")
      for (index, fingers) in [["right-index-finger", "left-thumb"], ["left-thumb"]].enumerated() {
        try bus.control(
          .fprintd, "SetEnrolledFingers", [.string(""), .strings(fingers)], path: reader)
        try sees("match")
        let signed = try run("sign", "--output", "signed-\(index)", letter)
        #expect(signed.status == 0, "\(signed.error)")
      }
      // A finger that is not enrolled opens nothing.
      try sees("no-match", "no-match", "no-match")
      #expect(try run("sign", "--output", "none", letter).status != 0)
      #expect(!FileManager.default.fileExists(atPath: place.folder.path() + "/none"))
    }

    @Test("A finger in mode standard is switched on only with a reader, and says what it means")
    func standardWithFinger() throws {
      let on = try run("mode", "standard", "--with-finger", pass[0], pass[1])
      #expect(on.status == 0, "\(on.error)")
      #expect(on.error.contains("a program that runs as you can use your identities"))
      let shown = try run("--json", "mode", pass[0], pass[1])
      #expect(shown.output.contains("\"withFinger\":true"))
      #expect(shown.output.contains("[[\"finger\"],[\"passphrase\"]]"))
      try bus.control(.fprintd, "SetEnrolledFingers", [.string(""), .strings([])], path: reader)
      let none = try run("--json", "mode", "standard", "--with-finger", pass[0], pass[1])
      #expect(none.status == 10)
      #expect(none.error.contains("\"code\":\"no_finger\""), "\(none.error)")
      #expect(try run("mode", "standard", pass[0], pass[1]).status == 0)
    }
  }
#endif
