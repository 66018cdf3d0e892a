// SPDX-License-Identifier: Apache-2.0
//
// What only the Secret Service's keychain must do; what every store must do runs over it in the other suites.

#if SecretService
  import Extents
  import Foundation
  import Keychains
  import Primitives
  import PrivateBus
  import Secrets
  import SpecExamples
  import Storage
  import Synchronization
  import Testing

  @Suite(
    "Keychain in the Secret Service",
    .enabled(if: PrivateBus.isAvailable, "no dbus-daemon, gnome-keyring-daemon or python3-dbusmock"),
    .keyringMayDie)
  struct SecretServiceKeychainTests {
    private func bus() throws -> PrivateBus {
      let bus = try PrivateBus()
      try bus.startKeyring()
      return bus
    }

    // MARK: Locked is not absent, gone is not empty

    @Test("A locked collection is locked, for reading and writing, and is never taken for empty")
    func locked() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      let other = try ServiceCoffer(bus)
      try coffer.set("one", [1])
      try Collection(bus).lock()
      for coffer in [coffer, other] {
        #expect(throws: KeychainError.serviceLocked) { try coffer.keychain.items() }
        #expect(throws: KeychainError.serviceLocked) {
          try coffer.keychain.update { _ in
            Issue.record("asked for changes to what it cannot see")
            return []
          }
        }
        #expect(throws: KeychainError.serviceLocked) { try coffer.keychain.remove() }
      }
      let shelf = Shelf(keychain: coffer.keychain, home: nil, file: nil)
      #expect(throws: KeychainError.serviceLocked) { try shelf.service().load(forKey: "one") }
      #expect(throws: KeychainError.serviceLocked) { try shelf.service().prepare() }
      // A daemon with the password, as after the next login.
      try bus.stopKeyring()
      try bus.startKeyring()
      #expect(try coffer.keychain.items().map(\.account) == ["one"])
      #expect(try other.keychain.items().isEmpty)
    }

    @Test("A locked collection whose search finds nothing is locked too")
    func lockedAndSilent() throws {
      let bus = try PrivateBus()
      try OddService.start(on: bus, isLocked: true)
      #expect(throws: KeychainError.serviceLocked) { try ServiceCoffer(bus).keychain.items() }
    }

    @Test("Without the daemon, the bus or a default collection the service is not available")
    func gone() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      try coffer.set("one", [1])
      func expectUnavailable() {
        #expect(throws: KeychainError.serviceUnavailable) { try coffer.keychain.items() }
        #expect(throws: KeychainError.serviceUnavailable) { try coffer.set("two", [2]) }
        #expect(throws: KeychainError.serviceUnavailable) { try coffer.keychain.remove() }
        #expect(throws: KeychainError.serviceUnavailable) {
          try coffer.keychain.unlock(timeout: Patience.duration)
        }
      }
      try bus.stopKeyring()
      expectUnavailable()
      try bus.startKeyring()
      #expect(try coffer.keychain.items().map(\.account) == ["one"])
      try coffer.set("two", [2])
      try bus.stopKeyring()
      try OddService.start(on: bus, alias: "/")
      expectUnavailable()
      bus.stop()
      expectUnavailable()
    }

    @Test("A service that does not know yet who asks, and so has no collection for it, is asked again")
    func unknownCaller() throws {
      let bus = try PrivateBus()
      try OddService.start(on: bus, firstAlias: "/")
      #expect(try ServiceCoffer(bus).keychain.items().isEmpty)
    }

    // MARK: Prompts

    @Test("A change that the service would ask about is locked, and nothing was asked")
    func promptForChange() throws {
      let bus = try PrivateBus()
      try OddService.start(on: bus, createPrompt: "/p")
      let coffer = try ServiceCoffer(bus)
      #expect(throws: KeychainError.serviceLocked) { try coffer.set("one", [1]) }
      #expect(try calls(bus, "Prompt") == 0)
    }

    @Test(
      "Unlocking shows the service's prompt, and a dismissed one leaves it locked", arguments: [true, false])
    func unlocking(unlocks: Bool) throws {
      let bus = try PrivateBus()
      try OddService.start(on: bus, isLocked: true, unlockPrompt: "/p", unlocks: unlocks)
      let coffer = try ServiceCoffer(bus)
      if unlocks {
        try coffer.keychain.unlock(timeout: Patience.duration)
        #expect(try coffer.keychain.items().isEmpty)
      } else {
        #expect(throws: KeychainError.serviceLocked) {
          try coffer.keychain.unlock(timeout: Patience.duration)
        }
        #expect(throws: KeychainError.serviceLocked) { try coffer.keychain.items() }
      }
    }

    @Test("Unlocking what is open asks nothing; where nobody can be asked, it stays locked")
    func unlockingForReal() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      try coffer.keychain.unlock(timeout: Patience.duration)
      try Collection(bus).lock()
      // No program for dialogues is on this bus.
      #expect(throws: KeychainError.serviceLocked) { try coffer.keychain.unlock(timeout: .milliseconds(300)) }
      #expect(throws: KeychainError.serviceLocked) { try coffer.keychain.items() }
    }

    private func calls(_ bus: PrivateBus, _ method: String, at path: String = "/p") throws -> Int {
      try bus.connect().call(
        PrivateBus.secretService, path: path, interface: "org.freedesktop.DBus.Mock",
        method: "GetMethodCalls",
        [.string(method)]
      ).value(0).elements().count
    }

    // MARK: One collection, many coffers

    @Test("Two coffers in one collection do not see, change or remove each other's items")
    func twoCoffers() throws {
      let bus = try bus()
      let left = try ServiceCoffer(bus)
      let right = try ServiceCoffer(bus)
      try left.set("one", [1])
      #expect(try right.keychain.items().isEmpty)
      try right.set("one", [2])
      try right.set("two", [3])
      #expect(try left.keychain.items().map(\.sealed) == [Data([1])])
      #expect(try right.keychain.items().map(\.sealed) == [Data([2]), Data([3])])
      try right.keychain.remove()
      try right.keychain.remove()
      #expect(try right.keychain.items().isEmpty)
      #expect(try left.keychain.items().map(\.sealed) == [Data([1])])
      // Its row and its manifest.
      #expect(try Collection(bus).items(["application": "coffer"]).count == 2)
    }

    @Test("While another process holds the writer's lock, nothing is written")
    func writers() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      try coffer.set("one", [1])
      let second = SecretServiceKeychain(
        coffer: coffer.id, file: try DatabaseFile.open(home: coffer.home.path), bus: .address(bus.address))
      #expect(try second.items().count == 1)
      for change in [{ try second.update { _ in [.delete(account: "one")] } }, { try second.remove() }] {
        #expect(throws: KeychainError.storage(.inUse)) { try change() }
      }
      #expect(try coffer.keychain.items().count == 1)
    }

    // MARK: The records

    @Test("The first records are the specification's, byte for byte, and are read back")
    func example() throws {
      let page = try SpecExample(page: "keychain.md")
      let bus = try bus()
      let coffer = try ServiceCoffer(bus, id: JournalCoffer.example)
      try coffer.set(try page.text("name"), try page.bytes("sealed-item"))
      let collection = try Collection(bus)
      let expected = [try page.bytes("row"), try page.bytes("manifest")]
      #expect(Set(try collection.records(coffer.id)) == Set(expected))
      #expect(try collection.records(coffer.id).count == 2)
      try coffer.keychain.remove()
      #expect(try coffer.keychain.items().isEmpty)
      for record in expected { try collection.add(record, for: coffer.id) }
      #expect(try coffer.keychain.items().map(\.account) == [page.text("name")])
      #expect(try coffer.keychain.items().map(\.sealed) == [Data(page.bytes("sealed-item"))])
    }

    @Test("A record that is changed, cut, missing or of another coffer is damage, and is not written over")
    func tampered() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      try coffer.set("one", [1, 2, 3])
      let collection = try Collection(bus)
      let good = try collection.records(coffer.id)
      #expect(good.count == 2)
      let other = try ServiceCoffer(bus)
      try other.set("one", [1, 2, 3])
      let others = try collection.records(other.id)
      for index in good.indices {
        for (replacement, what) in [
          ([good[index].dropLast() + [good[index][good[index].count - 1] ^ 1]], "changed"),
          ([Array(good[index].dropLast())], "cut"), ([], "missing"), ([others[index]], "another coffer's"),
        ] {
          var records = good
          records.replaceSubrange(index...index, with: replacement)
          try collection.store(records, for: coffer.id)
          #expect(throws: KeychainError.invalidData, "\(what)") { try coffer.keychain.items() }
          #expect(throws: KeychainError.invalidData, "\(what)") { try coffer.set("two", [2]) }
          #expect(Set(try collection.records(coffer.id)) == Set(records), "\(what): written over")
        }
      }
      try collection.store(good, for: coffer.id)
      #expect(try coffer.keychain.items().map(\.sealed) == [Data([1, 2, 3])])
    }

    @Test("Four hundred items are read with one search and one call for their values")
    func manyItems() throws {
      let made = JournalCoffer()
      let names = (0..<400).map { "item \($0)" }
      try made.update(Dictionary(uniqueKeysWithValues: names.map { ($0, [7, 7, 7]) }))
      let values = made.store.values.map(Hexadecimal.text).joined(separator: " ")
      let bus = try PrivateBus()
      try OddService.start(
        on: bus, search: #"["/c/i%d" % n for n in range(401)]"#,
        secrets: #"{dbus.ObjectPath("/c/i%d" % n): (dbus.ObjectPath("/s"), dbus.ByteArray(b""), "#
          + #"dbus.ByteArray(bytes.fromhex(v)), "") for n, v in enumerate("\#(values)".split())}"#)
      let coffer = try ServiceCoffer(bus, id: JournalCoffer.example)
      #expect(Set(try coffer.keychain.items().map(\.account)) == Set(names))
      #expect(try calls(bus, "SearchItems", at: "/c") == 1)
      #expect(try calls(bus, "GetSecrets", at: "/org/freedesktop/secrets") == 1)
    }

    @Test("An answer of another shape or transport is an error with a number, and never an empty keychain")
    func oddAnswers() throws {
      let bus = try PrivateBus()
      let search = #"["/c/i"]"#
      func secret(parameters: String) -> String {
        #"{dbus.ObjectPath("/c/i"): (dbus.ObjectPath("/s"), dbus.ByteArray(\#(parameters)), "#
          + #"dbus.ByteArray(b"no record" * 20), "")}"#
      }
      try OddService.start(on: bus, search: search, secrets: secret(parameters: #"b"x""#))
      #expect(throws: KeychainError.loadFailed(-EBADMSG)) { try ServiceCoffer(bus).keychain.items() }
      try OddService.start(on: bus, search: search, secrets: "no such thing")
      #expect(throws: KeychainError.loadFailed(-EPROTO)) { try ServiceCoffer(bus).keychain.items() }
      try OddService.start(on: bus, search: search, secrets: secret(parameters: #"b"""#))
      #expect(throws: KeychainError.invalidData) { try ServiceCoffer(bus).keychain.items() }
    }

    @Test("An item whose value the service keeps back is locked, and never missing")
    func keptBack() throws {
      let bus = try PrivateBus()
      try OddService.start(on: bus, search: #"["/c/i"]"#)
      #expect(throws: KeychainError.serviceLocked) { try ServiceCoffer(bus).keychain.items() }
    }

    @Test("A keychain that grows past the limit is refused, and stays as it was")
    func limit() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      let half = [UInt8](repeating: 1, count: JournallingKeychain.byteLimit / 2)
      try coffer.set("one", half)
      #expect(throws: KeychainError.storage(.full)) { try coffer.set("two", half) }
      #expect(try coffer.keychain.items().map(\.sealed) == [Data(half)])
    }

    @Test("A reader beside a writer sees whole batches, and never damage")
    func readerBesideWriter() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      @Sendable func batch(_ number: UInt8) -> [KeychainChange] {
        ["left", "right"].map {
          .set(
            SealedItem(
              account: $0, accessibility: .afterFirstUnlockThisDeviceOnly, sealed: Data([number])))
        }
      }
      try coffer.keychain.update { _ in batch(0) }
      let isAtEnd = Mutex(false)
      let writer = Thread {
        for number in UInt8(1)...50 { try? coffer.keychain.update { _ in batch(number) } }
        isAtEnd.withLock { $0 = true }
      }
      writer.start()
      var last: UInt8 = 0
      while !isAtEnd.withLock({ $0 }) {
        let items = try coffer.keychain.items()
        try #require(items.count == 2 && items[0].sealed == items[1].sealed && items[0].sealed[0] >= last)
        last = items[0].sealed[0]
      }
      #expect(try coffer.keychain.items().map(\.sealed) == [Data([50]), Data([50])])
    }

    @Test("A daemon killed while it writes leaves the last acknowledged state, or the one after it")
    func killed() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      // Long enough that a kill falls into the writing of the daemon's file.
      @Sendable func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 200_000) }
      try coffer.set("one", value(0))
      var written = 0
      for round in 1...8 {
        let state = Mutex((acknowledged: written, isAtEnd: false))
        let writer = Thread {
          // Until the daemon is gone.
          var next = state.withLock { $0.acknowledged } + 1
          while (try? coffer.set("one", value(next))) != nil {
            state.withLock { $0.acknowledged = next }
            next += 1
          }
          state.withLock { $0.isAtEnd = true }
        }
        writer.start()
        while state.withLock({ $0.acknowledged < written + round && !$0.isAtEnd }) { usleep(100) }
        try bus.stopKeyring()
        while state.withLock({ !$0.isAtEnd }) { usleep(100) }
        let acknowledged = state.withLock { $0.acknowledged }
        try bus.startKeyring()
        written = Int(try #require(try coffer.keychain.items().first).sealed[0])
        #expect(written == acknowledged || written == acknowledged + 1)
        #expect(try coffer.keychain.items().map(\.sealed) == [Data(value(written))])
      }
    }

    // MARK: What is left behind

    @Test("Two hundred operations leave no connection and no descriptor behind")
    func descriptors() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      for number in 0..<100 {
        try coffer.set("item \(number % 7)", [UInt8(number)])
        #expect(try coffer.keychain.items().contains { $0.sealed == Data([UInt8(number)]) })
      }
      #expect(bus.connectionCount == 0)
      try Collection(bus).lock()
      for _ in 0..<100 { #expect(throws: KeychainError.serviceLocked) { try coffer.keychain.items() } }
      #expect(bus.connectionCount == 0)
    }

    @Test("A daemon that ends by itself is told from one that is stopped, and from one that runs")
    func death() throws {
      let bus = try bus()
      #expect(bus.keyringDeath == nil)
      try bus.stopKeyring()
      #expect(bus.keyringDeath == nil)
      try bus.startKeyring()
      let processID = try bus.connect().call(
        "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        method: "GetConnectionUnixProcessID", [.string(PrivateBus.secretService)]
      ).value(0).uint32()
      #expect(kill(pid_t(processID), SIGKILL) == 0)
      _ = Patience.until { bus.keyringDeath != nil }
      #expect(bus.keyringDeath?.hasPrefix("status 137;") == true)
    }

    @Test("The service holds names and no values")
    func sealed() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      let shelf = Shelf(keychain: coffer.keychain, home: nil, file: nil)
      try shelf.service().prepare()
      try shelf.service().save(Data("a value to look for".utf8), forKey: "a name")
      let records = Data(try Collection(bus).records(coffer.id).joined())
      #expect(records.range(of: Data("a name".utf8)) != nil)
      #expect(records.range(of: Data("a value to look for".utf8)) == nil)
      #expect(try shelf.service().load(forKey: "a name") == Data("a value to look for".utf8))
    }
  }
#endif
