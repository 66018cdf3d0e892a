// SPDX-License-Identifier: Apache-2.0
//
// The few calls of the Secret Service that one operation makes, on a connection that ends with it. «Locked»
// is asked for before and after a search that found nothing: services differ in what they find while locked.

#if SecretService
  internal import DesktopBus
  internal import Glibc

  /// A session with the Secret Service, and its default collection.
  struct SecretServiceClient {
    private let connection: BusConnection
    /// The error of the operation that this client is for, around a native code.
    private let failure: (Int32) -> KeychainError
    private let session: String
    private let collection: String

    /// - Throws: `KeychainError.serviceUnavailable`.
    init(_ bus: BusConnection.Bus, failure: @escaping (Int32) -> KeychainError) throws(KeychainError) {
      self.failure = failure
      do {
        connection = try BusConnection(bus)
        // Values are sealed already: nothing is gained by sealing them for the way.
        session = try connection.call(
          Self.service, path: Self.root, interface: Self.interface("Service"), method: "OpenSession",
          [.string("plain"), .variant(.string(""))]
        ).value(1).objectPath()
        collection = try connection.call(
          Self.service, path: Self.root, interface: Self.interface("Service"), method: "ReadAlias",
          [.string("default")]
        ).value(0).objectPath()
      } catch {
        throw Self.sorted(error, failure)
      }
      guard collection != Self.none else { throw .serviceUnavailable }
    }

    // MARK: Items

    /// The items that have all these attributes.
    /// - Throws: `KeychainError.locked` when there may be some that do not show.
    func items(_ attributes: [String: String]) throws(KeychainError) -> [String] {
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
      guard !isLocked else { throw .locked }
    }

    /// An item's value.
    /// - Throws: `KeychainError.invalidData` when it is longer than `limit`.
    func value(of item: String, limit: Int) throws(KeychainError) -> [UInt8] {
      let answer = try call(item, "Item", "GetSecret", [.objectPath(session)])
      let (parameters, value) = try read { () throws(BusError) in
        let secret = try answer.value(0).structure(count: 4)
        return (try secret[1].bytes(), try secret[2].bytes())
      }
      // Parameters belong to a transport that was not agreed on.
      guard parameters.isEmpty else { throw failure(-EBADMSG) }
      guard value.count <= limit else { throw .invalidData }
      return value
    }

    /// Stores a value in place of the one under the same attributes, and reads it back.
    func replace(
      label: String, attributes: [String: String], value: [UInt8]
    ) throws(KeychainError) {
      let properties: [String: BusValue] = [
        Self.interface("Item.Label"): .string(label),
        Self.interface("Item.Attributes"): .attributes(attributes),
      ]
      let secret = BusValue.structure([
        .objectPath(session), .bytes([]), .bytes(value), .string("application/octet-stream"),
      ])
      let answer = try call(
        collection, "Collection", "CreateItem", [.properties(properties), secret, .boolean(true)])
      let (item, prompt) = try read { () throws(BusError) in
        (try answer.value(0).objectPath(), try answer.value(1).objectPath())
      }
      // The service wants to ask somebody first; the change has not happened.
      guard prompt == Self.none, item != Self.none else { throw .locked }
      guard try self.value(of: item, limit: value.count) == value else { throw failure(-EIO) }
    }

    func delete(_ item: String) throws(KeychainError) {
      let answer = try call(item, "Item", "Delete", [])
      let prompt = try read { () throws(BusError) in try answer.value(0).objectPath() }
      guard prompt == Self.none else { throw .locked }
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
      // The window that the dialogue belongs to: none.
      try call(prompt, "Prompt", "Prompt", [.string("")])
      let end = ContinuousClock.now.advanced(by: timeout)
      while true {
        let left = end - ContinuousClock.now
        let signal = try read { () throws(BusError) in try connection.nextSignal(timeout: left) }
        guard let signal else {
          _ = try? call(prompt, "Prompt", "Dismiss", [])
          throw .locked
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

    /// A native code of this store is a negative `errno`, so that it is none of SQLite's.
    private static func sorted(
      _ error: BusError, _ failure: (Int32) -> KeychainError
    ) -> KeychainError {
      switch error {
      case .noBus, .noService, .denied, .disconnected: .serviceUnavailable
      case .remote(interface("Error.IsLocked")): .locked
      case .remote: failure(-EPROTO)
      case .timedOut: failure(-ETIMEDOUT)
      case .malformed: failure(-EBADMSG)
      case .system(let number): failure(-number)
      }
    }

    private static let service = "org.freedesktop.secrets"
    private static let root = "/org/freedesktop/secrets"
    /// The path that stands for no object.
    private static let none = "/"

    private static func interface(_ name: String) -> String { "org.freedesktop.Secret." + name }
  }
#endif
