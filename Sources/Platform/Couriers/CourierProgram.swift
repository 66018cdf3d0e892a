// SPDX-License-Identifier: Apache-2.0
//
// Finding and starting coffer-courier. It is looked for where this program was installed, never along PATH, where anybody
// could put another one.

internal import ChildProcesses
internal import CourierProtocol
internal import Dispatch
internal import Glibc
internal import Remotes

/// The program with the network.
enum CourierProgram {
  private static let name = "coffer-courier"

  /// The program beside another one, or in `libexec/coffer` beside its folder; nil when it is in neither.
  static func find(executable: String) -> String? {
    let executable = realPath(executable) ?? executable
    let folder = executable.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let beside = folder.joined(separator: "/")
    let prefix = folder.dropLast().joined(separator: "/")
    return ["\(beside)/\(name)", "\(prefix)/libexec/coffer/\(name)"].first { unsafe access($0, X_OK) == 0 }
  }

  private static func realPath(_ path: String) -> String? {
    let path = unsafe realpath(path, nil)
    defer { unsafe free(path) }
    return unsafe path.map { unsafe String(cString: $0) }
  }

  /// Starts the program, opens the conversation, and lets a thread read the answers until the program has ended.
  /// - Throws: `RemoteError.courier`.
  static func start(_ path: String, _ opening: CourierOpening) throws(RemoteError) -> CourierConversation {
    guard let (ours, theirs) = CourierSocket.pair() else { throw .courier(.cannotStart) }
    let process = ChildProcess.startApart(path, [name], environment: [], passing: theirs.descriptor)
    close(theirs.descriptor)
    guard let process else {
      close(ours.descriptor)
      throw .courier(.cannotStart)
    }
    let conversation = CourierConversation(ours, process: process)
    do throws(RemoteError) {
      try conversation.open(opening)
    } catch {
      conversation.end()
      throw error
    }
    // A thread of its own, which nobody has to wait for.
    DispatchQueue(label: name).async {
      conversation.readAnswers()
      conversation.end()
    }
    return conversation
  }
}
