// SPDX-License-Identifier: Apache-2.0
//
// Where the socket of a home's agent is. An agent listens, and gets keys, only below folders that were
// checked. A search for agents looks at more places, and trusts the kernel's information on who listens.

internal import Glibc
internal import Primitives

/// The folder of one home's agent.
struct AgentPlace: Equatable, Sendable {
  /// The home, without symbolic links.
  let home: String
  let folder: String
  var socket: String { folder + Self.socketName }
  var lock: String { folder + "/agent.lock" }

  private static let socketName = "/agent.sock"

  /// The place where the agent of `home` is to listen; folders that are missing are made.
  /// - Parameters:
  ///   - runtime: replaces `$XDG_RUNTIME_DIR` and its fallbacks.
  ///   - variables: of the environment.
  /// - Throws: `AgentError.noHome`, `.noRuntimeDirectory`.
  init(
    home: String, runtime: String? = nil, variables: AgentVariables = .ofProcess
  ) throws(AgentError) {
    guard let real = Self.realPath(home) else { throw .noHome }
    self.home = real
    let base: String
    if let runtime { base = runtime } else { base = try Self.runtimeDirectory(variables) }
    folder = base + "/coffer/" + Self.name(of: real)
    for path in [base + "/coffer", folder] {
      unsafe mkdir(path, 0o700)
      guard Self.isPrivateFolder(path) else { throw .noRuntimeDirectory }
    }
  }

  private static func runtimeDirectory(_ variables: AgentVariables) throws(AgentError) -> String {
    let candidates = runtimeDirectories(variables)
    if let found = candidates.first(where: isPrivateFolder) { return found }
    // Only the last one may be made.
    guard let last = candidates.last else { throw .noRuntimeDirectory }
    unsafe mkdir(last, 0o700)
    guard isPrivateFolder(last) else { throw .noRuntimeDirectory }
    return last
  }

  /// Where the folders of agents may be, in the order in which they are tried.
  private static func runtimeDirectories(_ variables: AgentVariables) -> [String] {
    let candidates = variables.runtimeDirectory.map { [$0] } ?? []
    return candidates + ["/run/user/\(geteuid())", "/tmp/coffer-\(geteuid())"]
  }

  /// A folder of this user, not a symbolic link, closed to all others.
  static func isPrivateFolder(_ path: String) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
  }

  // MARK: Looking for agents

  /// The sockets at which an agent of `home` may listen, even if the folders above them have changed.
  /// - Parameter home: as ``knownPath(_:)`` gives it.
  static func sockets(home: String, runtime: String?, _ variables: AgentVariables) -> [String] {
    let bases = runtime.map { [$0] } ?? runtimeDirectories(variables)
    return bases.map { "\($0)/coffer/\(name(of: home))\(socketName)" }
  }

  /// The name of a home, if `socket` is a path at which its agent listens.
  static func homeName(of socket: String) -> String? {
    guard socket.hasSuffix(socketName) else { return nil }
    let folders = socket.dropLast(socketName.count).split(separator: "/")
    guard folders.count >= 2, folders[folders.count - 2] == "coffer", let name = folders.last,
      name.utf8.count == 2 * nameByteCount, name.allSatisfy(\.isHexDigit)
    else { return nil }
    return String(name)
  }

  /// The real path of `home`; if that is gone, the one it had as far as can be told.
  static func knownPath(_ home: String) -> String {
    if let real = realPath(home) { return real }
    let parts = home.split(separator: "/")
    guard let last = parts.last else { return home }
    let parent = (home.hasPrefix("/") ? "/" : "./") + parts.dropLast().joined(separator: "/")
    guard let real = realPath(parent) else { return home }
    return real == "/" ? "/\(last)" : "\(real)/\(last)"
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Names a home, by its real path.
  static func name(of home: String) -> String {
    unsafe Hexadecimal.text(SHA256.hash(home.utf8Span.span.bytes).prefix(nameByteCount))
  }

  private static let nameByteCount = 16
}
