// SPDX-License-Identifier: Apache-2.0
//
// The few calls of the Secret Service that one operation makes, on a connection that ends with it. "Locked"
// is asked for before and after a search that found nothing: services differ in the items that they list
// while locked.

#if SecretService
  internal import DesktopBus
  internal import Glibc

  /// A session with the Secret Service, and its default collection.
  struct SecretServiceClient {
    private let connection: BusConnection
    /// The error of the operation that this client is for, made from a native code.
    private let failure: (Int32) -> KeychainError
    private let session: String
    private let collection: String

    /// - Throws: `KeychainError.serviceUnavailable`.
    init(_ bus: BusConnection.Bus, failure: @escaping (Int32) -> KeychainError) throws(KeychainError) {
      self.failure = failure
      do {
        connection = try BusConnection(bus)
        // GNOME Keyring may answer the first call before it knows the caller, and then without a collection.
        // It knows the caller after its first answer.
        let first = try Self.defaultCollection(connection)
        collection = first == Self.none ? try Self.defaultCollection(connection) : first
        // Values are sealed already, so the transport needs no encryption.
        session = try connection.call(
          Self.service, path: Self.root, interface: Self.interface("Service"), method: "OpenSession",
          [.string("plain"), .variant(.string(""))]
        ).value(1).objectPath()
      } catch {
        throw Self.sorted(error, failure)
      }
      guard collection != Self.none else { throw .serviceUnavailable }
    }

    private static func defaultCollection(_ connection: BusConnection) throws(BusError) -> String {
      try connection.call(
        service, path: root, interface: interface("Service"), method: "ReadAlias", [.string("default")]
      ).value(0).objectPath()
    }

    // MARK: Items

    /// The values of all items that have these attributes, at one moment: an item keeps its value until it is
    /// deleted, and when one is deleted between the search and the reading, both are done again.
    /// - Throws: `KeychainError.serviceLocked` when items may be hidden, or the service withholds a value.
    func records(_ attributes: [String: String]) throws(KeychainError) -> [StoredRecord] {
      var items = try items(attributes)
      for _ in 0..<Self.searchLimit {
        let values = try values(of: items)
        let missing = items.filter { values[$0] == nil }
        if missing.isEmpty {
          return items.compactMap { item in
            values[item].map { StoredRecord(place: StoredRecord.Place(item), bytes: $0) }
          }
        }
        items = try self.items(attributes)
        guard Set(items).isDisjoint(with: missing) else { throw .serviceLocked }
      }
      throw failure(-EBUSY)
    }

    private func items(_ attributes: [String: String]) throws(KeychainError) -> [String] {
      try requireUnlocked()
      let found = try call(collection, "Collection", "SearchItems", [.attributes(attributes)])
      let items = try read { () throws(BusError) in try found.value(0).objectPaths() }
      if items.isEmpty { try requireUnlocked() }
      return items
    }

    private func requireUnlocked() throws(KeychainError) {
      let isLocked = try read { () throws(BusError) in
        try connection.property(
          "Locked", of: Self.service, path: collection, interface: Self.interface("Collection")
        ).boolean()
      }
      guard !isLocked else { throw .serviceLocked }
    }

    /// The values of items, in one call; those without a value are left out.
    private func values(of items: [String]) throws(KeychainError) -> [String: [UInt8]] {
      guard !items.isEmpty else { return [:] }
      let answer = try call(
        Self.root, "Service", "GetSecrets", [.objectPaths(items), .objectPath(session)])
      return try read { () throws(BusError) in
        var values: [String: [UInt8]] = [:]
        for element in try answer.value(0).elements() {
          guard case .entry(.objectPath(let item), let secret) = element else { throw .malformed }
          let members = try secret.structure(count: 4)
          // Parameters belong to a transport that was not agreed on.
          guard try members[1].bytes().isEmpty else { throw .malformed }
          values[item] = try members[2].bytes()
        }
        return values
      }
    }

    /// Adds an item, beside any other under the same attributes.
    func create(label: String, attributes: [String: String], value: [UInt8]) throws(KeychainError) {
      let properties: [String: BusValue] = [
        Self.interface("Item.Label"): .string(label),
        Self.interface("Item.Attributes"): .attributes(attributes),
      ]
      let secret = BusValue.structure([
        .objectPath(session), .bytes([]), .bytes(value), .string("application/octet-stream"),
      ])
      let answer = try call(
        collection, "Collection", "CreateItem", [.properties(properties), secret, .boolean(false)])
      let (item, prompt) = try read { () throws(BusError) in
        (try answer.value(0).objectPath(), try answer.value(1).objectPath())
      }
      // The service wants to ask the user first; the change has not happened.
      guard prompt == Self.none, item != Self.none else { throw .serviceLocked }
    }

    func delete(_ item: String) throws(KeychainError) {
      let answer = try call(item, "Item", "Delete", [])
      let prompt = try read { () throws(BusError) in try answer.value(0).objectPath() }
      guard prompt == Self.none else { throw .serviceLocked }
    }

    // MARK: Unlocking

    /// Unlocks the collection, with the service's dialogue if it needs one.
    func unlock(timeout: Duration) throws(KeychainError) {
      let answer = try call(Self.root, "Service", "Unlock", [.objectPaths([collection])])
      let prompt = try read { () throws(BusError) in try answer.value(1).objectPath() }
      if prompt != Self.none { try show(prompt, timeout) }
      try requireUnlocked()
    }

    private func show(_ prompt: String, _ timeout: Duration) throws(KeychainError) {
      try read { () throws(BusError) in
        try connection.subscribe(
          BusMatch(
            service: Self.service, path: prompt, interface: Self.interface("Prompt"), member: "Completed"))
      }
      // The dialogue belongs to no window of ours.
      try call(prompt, "Prompt", "Prompt", [.string("")])
      let end = ContinuousClock.now.advanced(by: timeout)
      while true {
        let left = end - ContinuousClock.now
        let signal = try read { () throws(BusError) in try connection.nextSignal(timeout: left) }
        guard let signal else {
          _ = try? call(prompt, "Prompt", "Dismiss", [])
          throw .serviceLocked
        }
        if signal.isEnd(of: Self.service) { throw .serviceUnavailable }
        // Whether it was dismissed shows in the collection.
        if signal.member == "Completed" { return }
      }
    }

    // MARK: Calls

    @discardableResult
    private func call(
      _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue]
    ) throws(KeychainError) -> BusMessage {
      try read { () throws(BusError) in
        try connection.call(
          Self.service, path: path, interface: Self.interface(interface), method: method, arguments)
      }
    }

    private func read<R>(_ body: () throws(BusError) -> R) throws(KeychainError) -> R {
      do { return try body() } catch { throw Self.sorted(error, failure) }
    }

    /// A native code of this store is a negative `errno`, so that it differs from SQLite's codes.
    private static func sorted(
      _ error: BusError, _ failure: (Int32) -> KeychainError
    ) -> KeychainError {
      switch error {
      case .noBus, .noService, .denied, .disconnected: .serviceUnavailable
      case .noLibrary: .serviceLibraryMissing
      case .remote(interface("Error.IsLocked")): .serviceLocked
      case .remote: failure(-EPROTO)
      case .timedOut: failure(-ETIMEDOUT)
      case .malformed: failure(-EBADMSG)
      case .system(let number): failure(-number)
      }
    }

    private static let service = "org.freedesktop.secrets"
    private static let root = "/org/freedesktop/secrets"
    /// The path that means no object.
    private static let none = "/"
    /// How often a reader repeats its search because a writer deletes items that it has found. A writer does
    /// that once in a batch; the limit is for a writer that never pauses.
    private static let searchLimit = 16

    private static func interface(_ name: String) -> String { "org.freedesktop.Secret." + name }
  }
#endif
