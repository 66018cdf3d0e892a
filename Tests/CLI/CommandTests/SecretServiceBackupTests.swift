// SPDX-License-Identifier: Apache-2.0
//
// A coffer whose keychain is in the Secret Service: its backup has the items too, and what is restored needs no service.

#if SecretService
  import Foundation
  import PrivateBus
  import Testing

  @Suite(
    "A backup of a coffer with its keychain in the Secret Service",
    .enabled(if: PrivateBus.isAvailable, "no dbus-daemon, gnome-keyring-daemon or python3-dbusmock"),
    .keyringMayDie)
  struct SecretServiceBackupTests {
    private let place: Place
    private let bus: PrivateBus
    private let pass: [String]

    init() throws {
      place = try Place()
      bus = try PrivateBus()
      try bus.startKeyring()
      pass = ["--passphrase-file", try place.write(Place.passphrase + "\n", to: "pass")]
    }

    private func run(_ arguments: [String], input: String = "", isServed: Bool = true) throws -> Place.Outcome
    {
      let address = isServed ? bus.address : "unix:path=/nonexistent/bus"
      return try place.runProcess(
        arguments + pass, input: input, environment: ["DBUS_SESSION_BUS_ADDRESS": address])
    }

    private func done(_ arguments: [String], input: String = "", isServed: Bool = true) throws -> String {
      let run = try run(arguments, input: input, isServed: isServed)
      try #require(run.status == 0, "\(arguments): \(run.error)")
      return run.output
    }

    @Test(
      "Everything comes, the keychain is in the file then, and the old coffer and its items are untouched")
    func restored() throws {
      let folder = place.folder.path()
      _ = try done([
        "init", "--kdf", "pbkdf2", "--keychain", "secret-service", "--recovery-phrase-out", folder + "/words",
      ])
      _ = try done(["message", "add", "-"], input: "kept")
      let ada = try done(["identity", "generate", "--user-id", "Ada <ada@example.org>", "--quiet"])
      _ = try done(["backup", folder + "/backup", "--with-identities"])
      let other = ["--home", folder + "/other"]
      _ = try done(other + ["restore", folder + "/backup"], isServed: false)
      #expect(try done(other + ["message", "search", "kept", "--json"], isServed: false).contains("\"id\""))
      _ = try done(
        other + ["sign", place.write("text", to: "text"), "--output", folder + "/1.asc"], isServed: false)
      #expect(try done(other + ["identity", "list"], isServed: false).contains(ada.prefix(40)))
      _ = try done(other + ["doctor", "--deep"], isServed: false)
      // The old one is as it was, and still needs its service.
      _ = try done(["doctor", "--deep"])
      _ = try done(["sign", place.write("text", to: "text"), "--output", folder + "/2.asc"])
      #expect(try run(["message", "list"], isServed: false).status == 10)
    }

    @Test("A service that is away makes no backup")
    func away() throws {
      let folder = place.folder.path()
      _ = try done([
        "init", "--kdf", "pbkdf2", "--keychain", "secret-service", "--recovery-phrase-out", folder + "/words",
      ])
      #expect(try run(["backup", folder + "/backup"], isServed: false).status == 10)
      #expect(!FileManager.default.fileExists(atPath: folder + "/backup"))
    }
  }
#endif
