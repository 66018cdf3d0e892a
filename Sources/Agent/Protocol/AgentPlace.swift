// SPDX-License-Identifier: Apache-2.0
//
// Where the socket of a home's agent is. Client and agent find it in the same way, each folder on the way
// is checked, and nothing is ever looked for where another user could have put it.

internal import Glibc
internal import Primitives

/// The folder of one home's agent.
struct AgentPlace: Equatable, Sendable {
  /// The home, without symbolic links.
  let home: String
  let folder: String
  var socket: String { folder + "/agent.sock" }
  var lock: String { folder + "/agent.lock" }

  /// - Parameters:
  ///   - runtime: takes the place of `$XDG_RUNTIME_DIR` and what comes after it.
  ///   - makesFolders: makes what is missing; without it, a folder that is missing is a home without agent.
  /// - Throws: `AgentError.noHome`, `.noRuntimeDirectory`.
  init(home: String, runtime: String? = nil, makesFolders: Bool) throws(AgentError) {
    guard let real = unsafe realpath(home, nil) else { throw .noHome }
    defer { unsafe free(real) }
    self.home = unsafe String(cString: real)
    let base: String
    if let runtime { base = runtime } else { base = try Self.runtimeDirectory(makesFolders: makesFolders) }
    folder = base + "/coffer/" + Self.name(of: self.home)
    for path in [base + "/coffer", folder] {
      if makesFolders { unsafe mkdir(path, 0o700) }
      guard Self.isPrivateFolder(path) else { throw .noRuntimeDirectory }
    }
  }

  private static func runtimeDirectory(makesFolders: Bool) throws(AgentError) -> String {
    var candidates: [String] = []
    if let given = unsafe getenv("XDG_RUNTIME_DIR").map({ unsafe String(cString: $0) }),
      given.hasPrefix("/")
    {
      candidates.append(given)
    }
    candidates.append("/run/user/\(geteuid())")
    if let found = candidates.first(where: isPrivateFolder) { return found }
    let last = "/tmp/coffer-\(geteuid())"
    if makesFolders { unsafe mkdir(last, 0o700) }
    guard isPrivateFolder(last) else { throw .noRuntimeDirectory }
    return last
  }

  /// A folder, no symbolic link, of this user, closed to all others.
  static func isPrivateFolder(_ path: String) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
  }

  private static func name(of home: String) -> String {
    unsafe Hexadecimal.text(SHA256.hash(home.utf8Span.span.bytes).prefix(16))
  }
}
