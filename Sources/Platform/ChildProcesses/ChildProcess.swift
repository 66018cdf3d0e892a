// SPDX-License-Identifier: Apache-2.0

internal import CSystem
package import Glibc

/// Starting a program with the standard streams and the working directory of this one.
package enum ChildProcess {
  /// The number under which a program gets the descriptor that is passed to it.
  package static let passedDescriptor: Int32 = 3

  /// The variables of this process, as the system has them.
  package static func variables() -> [String] {
    var variables: [String] = []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      variables.append(unsafe String(cString: entry))
      unsafe next += 1
    }
    return variables
  }

  /// The folders that a program of the user may have to see: its own, the user's home, that of the desktop's sockets, and
  /// those of programs; with a colon between each two, as `coffer_enter_editor_sandbox` takes them.
  package static func folders(of program: some StringProtocol) -> String {
    var folders = ["HOME", "XDG_RUNTIME_DIR", "PATH"].compactMap { (name: String) -> String? in
      unsafe getenv(name).map { unsafe String(cString: $0) }
    }
    if let end = program.lastIndex(of: "/") { folders.append(String(program[..<end])) }
    return folders.joined(separator: ":")
  }

  /// Starts a program in a session of its own, in "/", with /dev/null as its standard streams, and one descriptor, under
  /// the number ``passedDescriptor``.
  package static func startApart(
    _ path: String, _ arguments: [String], environment: [String], passing passed: Int32
  ) -> pid_t? {
    var argumentPointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var environmentPointers = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (argumentPointers + environmentPointers).forEach { unsafe free($0) } }
    let process = unsafe coffer_spawn_apart(
      path, &argumentPointers, &environmentPointers, passed, passedDescriptor)
    return process > 0 ? process : nil
  }

  /// - Parameters:
  ///   - path: of the program.
  ///   - arguments: the first is its name.
  ///   - environment: as the system has it, "NAME=value".
  ///   - input: becomes its standard input; nil for that of this one.
  ///   - passed: the only descriptor beside the standard streams that it gets; nil for none.
  ///   - ignored: signals that stay ignored if they are; all others are as at a start.
  package static func start(
    _ path: String, _ arguments: [String], environment: [String], input: Int32? = nil,
    passing passed: Int32? = nil, ignoring ignored: [Int32] = []
  ) -> pid_t? {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // First: the number of the one that is passed may be its own.
    if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    if let passed { unsafe posix_spawn_file_actions_adddup2(&actions, passed, passedDescriptor) }
    let first = passed == nil ? passedDescriptor : passedDescriptor + 1
    guard unsafe coffer_close_from(&actions, first) == 0 else { return nil }

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    for signal in ignored { unsafe sigdelset(&signals, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var argumentPointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var environmentPointers = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (argumentPointers + environmentPointers).forEach { unsafe free($0) } }
    var process = pid_t()
    let failure = unsafe posix_spawn(
      &process, path, &actions, &attributes, &argumentPointers, &environmentPointers)
    return failure == 0 ? process : nil
  }
}
