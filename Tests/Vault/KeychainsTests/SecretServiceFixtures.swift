// SPDX-License-Identifier: Apache-2.0
//
// What the suites of the Secret Service share: a coffer with its keychain in a real keyring daemon, a hand
// that reaches into the daemon behind the keychain's back, and a service that is not what it should be.

#if SecretService
  import DesktopBus
  import Foundation
  import Keychains
  import Primitives
  import PrivateBus
  import Secrets
  import Storage
  import TemporaryHomes

  /// One coffer whose keychain is in the Secret Service of a bus.
  struct ServiceCoffer {
    let id: UUID
    let home: TemporaryHome
    let file: DatabaseFile
    let keychain: SecretServiceKeychain

    init(_ bus: PrivateBus, id: UUID = UUID()) throws {
      self.id = id
      home = try TemporaryHome()
      file = try DatabaseFile.create(home: home.path) { _ in }
      keychain = SecretServiceKeychain(coffer: id, file: file, bus: .address(bus.address))
    }

    func set(_ name: String, _ bytes: [UInt8]) throws {
      let item = SealedItem(
        account: name, accessibility: .afterFirstUnlockThisDeviceOnly, sealed: Data(bytes))
      try keychain.update { _ in [.set(item)] }
    }
  }

  /// The daemon's default collection, by hand.
  struct Collection {
    private let connection: BusConnection
    private let session: String
    private let path: String

    init(_ bus: PrivateBus) throws {
      connection = try bus.connect()
      path = try connection.call(
        PrivateBus.secretService, path: "/org/freedesktop/secrets", interface: Self.prefix + "Service",
        method: "ReadAlias", [.string("default")]
      ).value(0).objectPath()
      // Not the first call, as in `SecretServiceClient`: GNOME Keyring may not know yet who asks.
      session = try connection.call(
        PrivateBus.secretService, path: "/org/freedesktop/secrets", interface: Self.prefix + "Service",
        method: "OpenSession", [.string("plain"), .variant(.string(""))]
      ).value(1).objectPath()
    }

    static func attributes(_ coffer: UUID) -> [String: String] {
      [
        "application": "coffer", "coffer": coffer.uuidString.lowercased(), "account": "app.rial.keychain",
        "class": "record", "xdg:schema": "app.rial.keychain.Record",
      ]
    }

    func items(_ attributes: [String: String]) throws -> [String] {
      try connection.call(
        PrivateBus.secretService, path: path, interface: Self.prefix + "Collection", method: "SearchItems",
        [.attributes(attributes)]
      ).value(0).objectPaths()
    }

    func value(_ item: String) throws -> [UInt8] {
      try connection.call(
        PrivateBus.secretService, path: item, interface: Self.prefix + "Item", method: "GetSecret",
        [.objectPath(session)]
      ).value(0).structure(count: 4)[2].bytes()
    }

    /// The values of a coffer's items.
    func records(_ coffer: UUID) throws -> [[UInt8]] { try items(Self.attributes(coffer)).map(value) }

    func add(_ value: [UInt8], for coffer: UUID) throws {
      try connection.call(
        PrivateBus.secretService, path: path, interface: Self.prefix + "Collection", method: "CreateItem",
        [
          .properties([
            Self.prefix + "Item.Label": .string("by hand"),
            Self.prefix + "Item.Attributes": .attributes(Self.attributes(coffer)),
          ]),
          .structure([.objectPath(session), .bytes([]), .bytes(value), .string("application/octet-stream")]),
          .boolean(false),
        ])
    }

    func delete(_ item: String) throws {
      try connection.call(
        PrivateBus.secretService, path: item, interface: Self.prefix + "Item", method: "Delete")
    }

    /// Makes `records` the items of a coffer.
    func store(_ records: [[UInt8]], for coffer: UUID) throws {
      for item in try items(Self.attributes(coffer)) { try delete(item) }
      for record in records { try add(record, for: coffer) }
    }

    func lock() throws {
      try connection.call(
        PrivateBus.secretService, path: "/org/freedesktop/secrets", interface: Self.prefix + "Service",
        method: "Lock", [.objectPaths([path])])
    }

    private static let prefix = "org.freedesktop.Secret."
  }

  /// A Secret Service that answers as it is told when it is started.
  enum OddService {
    static let name = PrivateBus.secretService

    /// - Parameters:
    ///   - alias: what `ReadAlias` answers.
    ///   - createPrompt, unlockPrompt: the prompts that those calls answer, "/" for none.
    ///   - unlocks: whether the prompt ends with the collection unlocked, or dismissed.
    ///   - search, secrets: what those answers hold, in Python.
    static func start(
      on bus: PrivateBus, alias: String = "/c", isLocked: Bool = false, createPrompt: String = "/",
      unlockPrompt: String = "/", unlocks: Bool = false, search: String = "[]", secrets: String = "{}"
    ) throws {
      let template = """
        # SPDX-License-Identifier: Apache-2.0
        import dbus
        from gi.repository import GLib
        from dbusmock import mockobject

        BUS_NAME = 'org.freedesktop.secrets'
        MAIN_OBJ = '/org/freedesktop/secrets'
        MAIN_IFACE = 'org.freedesktop.Secret.Service'
        COLLECTION = 'org.freedesktop.Secret.Collection'
        PROMPT = 'org.freedesktop.Secret.Prompt'
        SYSTEM_BUS = False


        def load(mock, parameters):
            mock.AddMethods(MAIN_IFACE, [
                ('OpenSession', 'sv', 'vo', 'ret = (dbus.String("", variant_level=1), dbus.ObjectPath("/s"))'),
                ('ReadAlias', 's', 'o', 'ret = dbus.ObjectPath("\(alias)")'),
                ('GetSecrets', 'aoo', 'a{o(oayays)}', 'ret = dbus.Dictionary(\(secrets), signature="o(oayays)")'),
                ('Unlock', 'ao', 'aoo', 'ret = (dbus.Array([], signature="o"), "\(unlockPrompt)")')])
            mock.AddObject('/c', COLLECTION, {'Locked': \(isLocked ? "True" : "False")}, [
                ('SearchItems', 'a{ss}', 'ao', 'ret = dbus.Array(\(search), signature="o")'),
                ('CreateItem', 'a{sv}(oayays)b', 'oo', 'ret = (dbus.ObjectPath("/"), "\(createPrompt)")')])
            mock.AddObject('/p', PROMPT, {}, [])


        def complete(prompt):
            if \(unlocks ? "True" : "False"):
                mockobject.objects['/c'].UpdateProperties(COLLECTION, {'Locked': dbus.Boolean(False)})
            prompt.EmitSignal(PROMPT, 'Completed', 'bv', [\(unlocks ? "False" : "True"), ''])
            return False


        @dbus.service.method(PROMPT, in_signature='s', out_signature='')
        def Prompt(self, window):
            GLib.idle_add(complete, self)


        @dbus.service.method(PROMPT, in_signature='', out_signature='')
        def Dismiss(self):
            pass
        """
      try bus.startMock(template: template, named: "odd", owning: name)
    }
  }
#endif
