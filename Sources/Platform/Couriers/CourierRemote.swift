// SPDX-License-Identifier: Apache-2.0
//
// A remote behind a program of its own. This process has keys and no network; that one has the network, the credentials
// and no keys. Between them are sealed objects alone.

package import CourierProtocol
public import Remotes

/// A service on the network as a remote, through `coffer-courier`.
///
/// The program runs as long as this value is used, and carries out what it was given even if this process ends. When it
/// has ended, every further request throws `RemoteError.courier`: another value starts it again.
public final class CourierRemote: Remote {
  /// How fast, and how patiently.
  public struct Limits: Sendable {
    /// Bytes a second to the server; nil for no limit. Only a service that speaks S3 has limits of speed.
    public var bytesPerSecondUp: UInt64?
    /// Bytes a second from the server; nil for no limit.
    public var bytesPerSecondDown: UInt64?
    /// A transfer that makes no progress for so long is given up.
    public var stallSeconds: UInt16 = 60
    /// Before the first repetition; each of the four others waits twice as long as the one before.
    package var firstPauseMilliseconds: UInt16 = 1_000
    /// The program that the courier was installed with.
    package var executable = "/proc/self/exe"
    /// Whether nobody wants an answer any more; asked from any thread while one is awaited. A request that has no answer a
    /// second later throws `RemoteError.serviceUnreachable`, and so does each after it.
    public var isCancelled: @Sendable () -> Bool = { false }

    /// No limit of speed.
    public init() {}
  }

  let conversation: CourierConversation
  private let isCancelled: @Sendable () -> Bool

  /// Starts the program. Nothing is asked of the server yet.
  /// - Throws: `RemoteError.courier` when there is no such program, or it does not come to serve.
  package convenience init(_ place: CourierPlace, limits: Limits = Limits()) throws(RemoteError) {
    try self.init(place, limits: limits, program: CourierProgram.find(executable: limits.executable))
  }

  /// - Parameter program: its path; nil when it is missing.
  package init(_ place: CourierPlace, limits: Limits, program: String?) throws(RemoteError) {
    guard let program else { throw .courier(.missing) }
    var courierLimits = CourierLimits()
    courierLimits.up = limits.bytesPerSecondUp ?? 0
    courierLimits.down = limits.bytesPerSecondDown ?? 0
    courierLimits.stallSeconds = max(limits.stallSeconds, 1)
    courierLimits.firstPauseMilliseconds = limits.firstPauseMilliseconds
    isCancelled = limits.isCancelled
    conversation = try CourierProgram.start(program, CourierOpening(place, courierLimits))
  }

  /// - Parameter conversation: with a courier that is ready.
  init(_ conversation: CourierConversation, isCancelled: @escaping @Sendable () -> Bool = { false }) {
    self.conversation = conversation
    self.isCancelled = isCancelled
  }

  deinit { conversation.hangUp() }

  /// Lists the objects in a folder, and in the folders in it. They come in the order of their names.
  @discardableResult
  public func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    guard RemoteName.parts(ofFolder: folder) != nil else { return nil }
    let prefix = folder.isEmpty ? "" : folder + "/"
    return try CourierPage.list(body) { (continuation) throws(RemoteError) in
      guard case .page(let page) = try ask(.list(folder: folder, continuation: continuation)),
        page.objects.allSatisfy({ $0.name.hasPrefix(prefix) })
      else { throw conversation.reject() }
      return page
    }
  }

  /// Reads an object, or a part of it.
  public func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    guard RemoteName(name) != nil else { return nil }
    switch try ask(.get(name: name, range: range)) {
    case .object(let bytes) where bytes.count <= range?.count ?? .max: return bytes
    case .absent: return nil
    default: throw conversation.reject()
    }
  }

  /// Writes an object, also over one that is there.
  public func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    guard RemoteName(name) != nil else { throw .refused(.name) }
    guard bytes.count <= RemoteObject.byteCountLimit else { throw .refused(.tooLarge) }
    guard case .done = try ask(.put(name: name, bytes: bytes)) else { throw conversation.reject() }
  }

  /// How many bytes an object has.
  public func stat(_ name: String) throws(RemoteError) -> Int? {
    guard RemoteName(name) != nil else { return nil }
    switch try ask(.stat(name: name)) {
    case .byteCount(let count): return count
    case .absent: return nil
    default: throw conversation.reject()
    }
  }

  /// Deletes an object.
  public func delete(_ name: String) throws(RemoteError) {
    guard RemoteName(name) != nil else { return }
    guard case .done = try ask(.delete(name: name)) else { throw conversation.reject() }
  }

  private func ask(_ request: CourierRequest) throws(RemoteError) -> CourierAnswer {
    let answer = try conversation.ask(request, unless: isCancelled)
    if case .failed(let error) = answer { throw error }
    return answer
  }
}

extension RemotePlace {
  /// The remote at this place.
  /// - Throws: `RemoteError.courier` when the place is on the network and the program for it does not serve;
  ///   `RemoteError.unreachable` for a path that is not one.
  public func open(limits: CourierRemote.Limits = CourierRemote.Limits()) throws(RemoteError) -> any Remote {
    switch self {
    case .folder(let path):
      guard let remote = FolderRemote(path: path) else { throw .unreachable }
      return remote
    case .s3(let place): return try CourierRemote(.s3(place), limits: limits)
    case .postgreSQL(let place): return try CourierRemote(.postgreSQL(place), limits: limits)
    }
  }
}
