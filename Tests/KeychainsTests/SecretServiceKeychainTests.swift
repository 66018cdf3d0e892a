// SPDX-License-Identifier: Apache-2.0
//
// What only the Secret Service's keychain must do; what every store must do runs over it in the other suites.

#if SecretService
  import Foundation
  import Keychains
  import PrivateBus
  import Secrets
  import SpecExamples
  import Storage
  import Synchronization
  import Testing

  @Suite(
    "Keychain in the Secret Service",
    .enabled(if: PrivateBus.isAvailable, "no dbus-daemon, gnome-keyring-daemon or python3-dbusmock"))
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
        #expect(throws: KeychainError.locked) { try coffer.keychain.items() }
        #expect(throws: KeychainError.locked) {
          try coffer.keychain.update { _ in
            Issue.record("asked for changes to what it cannot see")
            return []
          }
        }
        #expect(throws: KeychainError.locked) { try coffer.keychain.remove() }
      }
      let shelf = Shelf(keychain: coffer.keychain, home: nil, file: nil)
      #expect(throws: KeychainError.locked) { try shelf.service().load(forKey: "one") }
      #expect(throws: KeychainError.locked) { try shelf.service().prepare() }
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
      #expect(throws: KeychainError.locked) { try ServiceCoffer(bus).keychain.items() }
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
        #expect(throws: KeychainError.serviceUnavailable) { try coffer.keychain.unlock(timeout: .seconds(1)) }
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

    // MARK: Prompts

    @Test("A change that the service would ask about is locked, and nothing was asked")
    func promptForChange() throws {
      let bus = try PrivateBus()
      try OddService.start(on: bus, createPrompt: "/p")
      let coffer = try ServiceCoffer(bus)
      #expect(throws: KeychainError.locked) { try coffer.set("one", [1]) }
      #expect(try calls(bus, "Prompt") == 0)
    }

    @Test(
      "Unlocking shows the service's prompt, and a dismissed one leaves it locked", arguments: [true, false])
    func unlocking(unlocks: Bool) throws {
      let bus = try PrivateBus()
      try OddService.start(on: bus, isLocked: true, unlockPrompt: "/p", unlocks: unlocks)
      let coffer = try ServiceCoffer(bus)
      if unlocks {
        try coffer.keychain.unlock(timeout: .seconds(20))
        #expect(try coffer.keychain.items().isEmpty)
      } else {
        #expect(throws: KeychainError.locked) { try coffer.keychain.unlock(timeout: .seconds(20)) }
        #expect(throws: KeychainError.locked) { try coffer.keychain.items() }
      }
    }

    @Test("Unlocking what is open asks nothing; where nobody can be asked, it stays locked")
    func unlockingForReal() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      try coffer.keychain.unlock(timeout: .seconds(20))
      try Collection(bus).lock()
      // No program for dialogues is on this bus.
      #expect(throws: KeychainError.locked) { try coffer.keychain.unlock(timeout: .milliseconds(300)) }
      #expect(throws: KeychainError.locked) { try coffer.keychain.items() }
    }

    private func calls(_ bus: PrivateBus, _ method: String) throws -> Int {
      try bus.connect().call(
        PrivateBus.secretService, path: "/p", interface: "org.freedesktop.DBus.Mock",
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
      #expect(try Collection(bus).items(["application": "coffer"]).count == 1)
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
        let error = #expect(throws: KeychainError.self) { try change() }
        #expect(error?.status == StorageError.inUse.status)
      }
      #expect(try coffer.keychain.items().count == 1)
    }

    // MARK: The snapshot

    @Test("The first snapshot is the specification's, byte for byte, and is read back")
    func example() throws {
      let page = try SpecExample(page: "keychain.md")
      let bus = try bus()
      let coffer = try ServiceCoffer(
        bus, id: try #require(UUID(uuidString: "00112233-4455-6677-8899-aabbccddeeff")))
      try coffer.set(try page.text("name"), try page.bytes("sealed-item"))
      let collection = try Collection(bus)
      let items = try collection.items(Collection.attributes(coffer.id))
      #expect(items.count == 1)
      #expect(try collection.value(items[0]) == page.bytes("snapshot"))
      try coffer.keychain.remove()
      try collection.store(try page.bytes("snapshot"), for: coffer.id)
      #expect(try coffer.keychain.items().map(\.account) == [page.text("name")])
      #expect(try coffer.keychain.items().map(\.sealed) == [Data(page.bytes("sealed-item"))])
    }

    @Test("A snapshot with any byte changed, cut anywhere, longer, or of another coffer is damage")
    func tampered() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      try coffer.set("one", [1, 2, 3])
      let collection = try Collection(bus)
      let good = try collection.snapshot(coffer.id)
      func expectInvalid(_ bytes: [UInt8], _ what: String) throws {
        try collection.store(bytes, for: coffer.id)
        #expect(throws: KeychainError.invalidData, "\(what)") { try coffer.keychain.items() }
        #expect(throws: KeychainError.invalidData, "\(what)") { try coffer.set("two", [2]) }
        #expect(try collection.snapshot(coffer.id) == bytes, "\(what): written over")
      }
      for offset in good.indices {
        var changed = good
        changed[offset] ^= 0x01
        try expectInvalid(changed, "byte \(offset)")
      }
      for count in good.indices { try expectInvalid(Array(good[..<count]), "cut to \(count)") }
      try expectInvalid(good + [0], "longer")
      let other = try ServiceCoffer(bus)
      try other.set("one", [1, 2, 3])
      try expectInvalid(try collection.snapshot(other.id), "another coffer's")
      try collection.store(good, for: coffer.id)
      #expect(try coffer.keychain.items().map(\.sealed) == [Data([1, 2, 3])])
    }

    @Test("Fields that no writer writes are damage, under a digest that fits")
    func impossible() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      let collection = try Collection(bus)
      let one: [UInt8] = [2, 0, 0, 0, 1, 0x61, 0, 0, 0, 1, 9]
      let two: [UInt8] = [2, 0, 0, 0, 1, 0x62, 0, 0, 0, 1, 9]
      func snapshot(
        version: UInt8 = 1, revision: UInt8 = 1, count: UInt8, _ items: [UInt8]
      ) -> [UInt8] {
        let id = withUnsafeBytes(of: coffer.id.uuid) { Array($0) }
        let numbers: [UInt8] = [0, 0, 0, 0, 0, 0, 0, revision, 0, 0, 0, count]
        return digested(Array("CofferKS".utf8) + [version] + id + numbers + items)
      }
      try collection.store(snapshot(count: 2, one + two), for: coffer.id)
      #expect(try coffer.keychain.items().count == 2)
      for (bytes, what) in [
        (snapshot(version: 2, count: 2, one + two), "version"),
        (snapshot(revision: 0, count: 2, one + two), "revision"),
        (snapshot(count: 2, two + one), "order"), (snapshot(count: 2, one + one), "a name twice"),
        (snapshot(count: 1, one + two), "count"), (snapshot(count: 3, one + two), "count"),
        (snapshot(count: 1, [3] + one.dropFirst()), "class"),
        (snapshot(count: 1, [2, 0, 0, 0, 1, 0xFF, 0, 0, 0, 1, 9]), "name"),
        (snapshot(count: 1, [2, 0xFF, 0xFF, 0xFF, 0xFF, 0x61, 0, 0, 0, 1, 9]), "length"),
      ] {
        try collection.store(bytes, for: coffer.id)
        #expect(throws: KeychainError.invalidData, "\(what)") { try coffer.keychain.items() }
      }
    }

    @Test("Of two snapshots the higher revision counts; two of one revision are damage")
    func revisions() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      let collection = try Collection(bus)
      try coffer.set("one", [1])
      let first = try collection.snapshot(coffer.id)
      try coffer.set("two", [2])
      try collection.store(first, for: coffer.id, replacing: false)
      #expect(try collection.items(Collection.attributes(coffer.id)).count == 2)
      #expect(try coffer.keychain.items().count == 2)
      try coffer.set("three", [3])
      #expect(try coffer.keychain.items().count == 3)
      try coffer.keychain.remove()
      try coffer.set("other", [9])
      try collection.store(first, for: coffer.id, replacing: false)
      #expect(throws: KeychainError.invalidData) { try coffer.keychain.items() }
    }

    @Test("An answer of another shape or transport is an error with a number, and never an empty keychain")
    func oddAnswers() throws {
      let bus = try PrivateBus()
      try OddService.start(on: bus, search: #"["/c/i"]"#, parameters: #"b"x""#)
      #expect(throws: KeychainError.loadFailed(-EBADMSG)) { try ServiceCoffer(bus).keychain.items() }
      try OddService.start(on: bus, search: #"["/c/none"]"#)
      #expect(throws: KeychainError.loadFailed(-EPROTO)) { try ServiceCoffer(bus).keychain.items() }
      try OddService.start(on: bus, search: #"["/c/i"]"#)
      #expect(throws: KeychainError.invalidData) { try ServiceCoffer(bus).keychain.items() }
    }

    @Test("A keychain that grows past the limit is refused, and stays as it was")
    func limit() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      let half = [UInt8](repeating: 1, count: SecretServiceKeychain.byteLimit / 2)
      try coffer.set("one", half)
      let error = #expect(throws: KeychainError.self) { try coffer.set("two", half) }
      #expect(error?.status == StorageError.full.status)
      #expect(try coffer.keychain.items().map(\.sealed) == [Data(half)])
    }

    @Test("A daemon killed while it writes leaves the last acknowledged snapshot, or the one after it")
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
      for _ in 0..<100 { #expect(throws: KeychainError.locked) { try coffer.keychain.items() } }
      #expect(bus.connectionCount == 0)
    }

    @Test("The service holds names and no values")
    func sealed() throws {
      let bus = try bus()
      let coffer = try ServiceCoffer(bus)
      let shelf = Shelf(keychain: coffer.keychain, home: nil, file: nil)
      try shelf.service().prepare()
      try shelf.service().save(Data("a value to look for".utf8), forKey: "a name")
      let snapshot = Data(try Collection(bus).snapshot(coffer.id))
      #expect(snapshot.range(of: Data("a name".utf8)) != nil)
      #expect(snapshot.range(of: Data("a value to look for".utf8)) == nil)
      #expect(try shelf.service().load(forKey: "a name") == Data("a value to look for".utf8))
    }
  }
#endif
