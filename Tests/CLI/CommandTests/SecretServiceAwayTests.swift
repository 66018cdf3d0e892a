// SPDX-License-Identifier: Apache-2.0
//
// A whole coffer whose keychain is in the Secret Service, and that service away, locked, or dying while it is
// asked. None of these is damage, and none is a locked coffer.

#if SecretService
  import DesktopBus
  import Foundation
  import PrivateBus
  import Testing

  @Suite(
    "A coffer whose Secret Service does not answer",
    .enabled(if: PrivateBus.isAvailable, "no dbus-daemon, gnome-keyring-daemon or python3-dbusmock"),
    .keyringMayDie)
  struct SecretServiceAwayTests {
    private let place: Place
    private let bus: PrivateBus
    private let pass: [String]

    init() throws {
      place = try Place()
      bus = try PrivateBus()
      try bus.startKeyring()
      pass = ["--passphrase-file", try place.write(Place.passphrase + "\n", to: "pass")]
      let made = try run(
        [
          "init", "--kdf", "pbkdf2", "--keychain", "secret-service", "--recovery-phrase-out",
          place.folder.path() + "/words",
        ] + pass)
      try #require(made.status == 0, "\(made.error)")
      let added = try run(["message", "add", "-"] + pass, input: "kept")
      try #require(added.status == 0, "\(added.error)")
    }

    private func run(
      _ arguments: [String], input: String = "", bus address: String? = nil, log level: String = ""
    ) throws -> Place.Outcome {
      try place.runProcess(
        arguments, input: input,
        environment: ["DBUS_SESSION_BUS_ADDRESS": address ?? bus.address, "COFFER_LOG": level])
    }

    private var commands: [[String]] {
      let words = place.folder.path() + "/words"
      return [
        ["message", "list"] + pass, ["capture", "list"] + pass, ["vault", "status"] + pass, ["audit"] + pass,
        ["status"] + pass, ["unlock"] + pass, ["doctor", "--deep"] + pass,
        ["recovery", "drill", "--phrase-file", words],
      ]
    }

    private func expect(_ code: String, _ exit: Int32, _ words: String, bus: String? = nil) throws {
      for command in commands {
        let run = try run(["--json"] + command, bus: bus)
        #expect(run.status == exit, "\(command): \(run.status), \(run.error)")
        #expect(run.error.contains("\"code\":\"\(code)\""), "\(command): \(run.error)")
        #expect(run.error.contains(words), "\(command): \(run.error)")
        #expect(!run.error.contains("corrupt"), "\(command): \(run.error)")
      }
      let wrong = try place.write("Another-Passphrase-2026\n", to: "wrong")
      #expect(try self.run(["message", "list", "--passphrase-file", wrong], bus: bus).status == 4)
    }

    /// As after the next login: nothing was lost.
    private func expectWhole() throws {
      try bus.startKeyring()
      #expect(try run(["message", "list"] + pass).status == 0)
      #expect(try run(["doctor", "--deep"] + pass).status == 0)
    }

    @Test("A service that is away is named, with exit code 10")
    func away() throws {
      try bus.stopKeyring()
      try expect("no_secret_service", 10, "there is no Secret Service")
      // The log has the operation and the fixed text, and names no item.
      let logged = try run(["message", "list"] + pass, log: "error").error
      #expect(logged.contains("app.rial.keychain: error=Secret Service is not available"), "\(logged)")
      #expect(logged.contains("load failed"), "\(logged)")
      #expect(!logged.contains("vault.") && !logged.contains("rial.device"), "\(logged)")
      try expectWhole()
    }

    @Test("Without a bus there is no service either")
    func noBus() throws {
      try expect("no_secret_service", 10, "there is no Secret Service", bus: "unix:path=/nonexistent/bus")
      #expect(try run(["doctor"], bus: "unix:path=/nonexistent/bus").status == 0)
    }

    @Test("A locked keyring is said to be locked, and not the coffer")
    func locked() throws {
      let service = "org.freedesktop.Secret.Service"
      let root = "/org/freedesktop/secrets"
      let connection = try bus.connect()
      func defaultCollection() throws -> String {
        try connection.call(
          PrivateBus.secretService, path: root, interface: service, method: "ReadAlias", [.string("default")]
        ).value(0).objectPath()
      }
      // GNOME Keyring may answer the first call before it has noted who asks: then with no collection.
      _ = try defaultCollection()
      let collection = try defaultCollection()
      try connection.call(
        PrivateBus.secretService, path: root, interface: service, method: "Lock",
        [.objectPaths([collection])])
      try expect("keyring_locked", 3, "the desktop's keyring is locked")
      try bus.stopKeyring()
      try expectWhole()
    }

    @Test("A service that dies while it is asked is a service that does not answer")
    func dying() throws {
      try bus.stopKeyring()
      for command in commands {
        try bus.startMock(template: Self.dying, named: "dying", owning: PrivateBus.secretService)
        let run = try run(["--json"] + command)
        #expect(run.status == 10, "\(command): \(run.status), \(run.error)")
        #expect(run.error.contains("Secret Service"), "\(command): \(run.error)")
        #expect(!run.error.contains("corrupt"), "\(command): \(run.error)")
      }
      try expectWhole()
    }

    /// It ends when it is asked for a value.
    private static let dying = """
      # SPDX-License-Identifier: Apache-2.0
      BUS_NAME = 'org.freedesktop.secrets'
      MAIN_OBJ = '/org/freedesktop/secrets'
      MAIN_IFACE = 'org.freedesktop.Secret.Service'
      SYSTEM_BUS = False


      def load(mock, parameters):
          mock.AddMethods(MAIN_IFACE, [
              ('OpenSession', 'sv', 'vo', 'ret = (dbus.String("", variant_level=1), dbus.ObjectPath("/s"))'),
              ('ReadAlias', 's', 'o', 'ret = dbus.ObjectPath("/c")'),
              ('GetSecrets', 'aoo', 'a{o(oayays)}', 'import os; os._exit(1)')])
          mock.AddObject('/c', 'org.freedesktop.Secret.Collection', {'Locked': False}, [
              ('SearchItems', 'a{ss}', 'ao', 'ret = dbus.Array([dbus.ObjectPath("/i")], signature="o")')])
      """
  }
#endif
