// SPDX-License-Identifier: Apache-2.0
//
// What every remote does: five requests on objects that have names. A remote is trusted with nothing: what it holds is
// sealed, and whoever reads an object compares its hash. So no request depends on another writer, and each may be made
// again.

/// A place for sealed objects: a folder, say, or a service.
///
/// Requests wait for their answer, and several threads may make them at once. When a request throws, nobody knows
/// whether it was carried out; to make it again is always allowed. Names are as ``RemoteName`` describes.
public protocol Remote: Sendable {
  /// Lists the objects in a folder, and in the folders in it.
  ///
  /// - Parameters:
  ///   - folder: one to five parts, as in a name; the empty text stands for the whole remote. A folder that is not
  ///     there, or cannot be, has no objects.
  ///   - body: is handed each object once, in no order. An object that is put or deleted meanwhile may be missing.
  /// - Returns: the server's time, in seconds since 1970; nil where there is no server's clock.
  /// - Throws: `RemoteError`. What `body` was handed before is then not the whole list.
  @discardableResult
  func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64?

  /// Reads an object, or a part of it.
  ///
  /// - Parameter range: bytes from the object's beginning; nil for all. What is beyond the object's end is left out.
  /// - Returns: at most ``RemoteObject/byteCountLimit`` bytes, so a longer object is cut off; nil when it is not there.
  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]?

  /// Writes an object, also over one that is there. Readers see the one or the other, never a part. When this returns,
  /// the object survives a loss of power.
  ///
  /// - Throws: `RemoteError`; `.refused(.name)` for a text that is not a ``RemoteName``, `.refused(.tooLarge)` above
  ///   ``RemoteObject/byteCountLimit`` bytes.
  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError)

  /// - Returns: how many bytes an object has; nil when it is not there.
  func stat(_ name: String) throws(RemoteError) -> Int?

  /// Deletes an object. It is not an error if it is not there.
  func delete(_ name: String) throws(RemoteError)
}

/// An object in a list.
public struct RemoteObject: Hashable, Sendable {
  /// Bytes in an object, at most. A pack has 16 MiB at most; what is much longer was not written by us.
  public static let byteCountLimit = 64 << 20

  /// Its whole name.
  public let name: String
  /// How many bytes it has.
  public let byteCount: Int
  /// When the server stored it, in seconds since 1970 by the server's clock; nil where there is no such clock.
  public let date: UInt64?

  /// An object that a remote found.
  public init(name: String, byteCount: Int, date: UInt64?) {
    self.name = name
    self.byteCount = byteCount
    self.date = date
  }
}

/// A whole list.
public struct RemoteList: Equatable, Sendable {
  /// The objects, in no order.
  public let objects: [RemoteObject]
  /// The server's time, in seconds since 1970; nil where there is no server's clock.
  public let time: UInt64?
}

extension Remote {
  /// Lists the objects in a folder, and in the folders in it, all at once: some 200 bytes of memory for each.
  public func list(_ folder: String) throws(RemoteError) -> RemoteList {
    var objects: [RemoteObject] = []
    let time = try list(folder) { objects.append($0) }
    return RemoteList(objects: objects, time: time)
  }

  /// Reads a whole object; nil when it is not there.
  public func get(_ name: String) throws(RemoteError) -> [UInt8]? { try get(name, range: nil) }
}
