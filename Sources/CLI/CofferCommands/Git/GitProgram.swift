// SPDX-License-Identifier: Apache-2.0
//
// `coffer-gpg`, which git runs as its `gpg.program`: the same program as `coffer` under another name. Standard input is
// the data, so everything that is asked goes to the terminal or to pinentry. Specs/git.md has every line.

internal import ArgumentParser
internal import Glibc
internal import Secrets
internal import Storage

enum GitProgram {
  /// The last part of the name under which the program is started.
  static let name = "coffer-gpg"

  /// Whether the program was started under that name.
  /// - Parameter program: `argv[0]`.
  static func isMeant(by program: String) -> Bool {
    program.split(separator: "/").last.map(String.init) == name
  }

  /// Runs a command line, without the program's own name.
  /// - Returns: the exit code, which agrees with the status lines: 0 for a signature that was made or is good, 1 for
  ///   one that does not hold, 2 for anything else.
  static func run(_ arguments: [String]) -> Int32 {
    var request: GitRequest?
    do {
      let wanted = try GitRequest(arguments)
      request = wanted
      try SecretMemory.prepare()
      return try perform(wanted).rawValue
    } catch {
      return end(error, request).rawValue
    }
  }

  private static func perform(_ request: GitRequest) throws -> GitExit {
    switch request {
    case .version:
      Terminal.print("\(name) (Coffer) \(CofferVersion.text)")
      guard Terminal.outputFailure() == nil else { return .failed }
      return .done
    case .sign(let key, let descriptor):
      let context = CommandContext(try GlobalOptions.parse([]))
      try context.naming { try GitSigning(context, key: key, StatusLines(to: descriptor)).run() }
      return .done
    case .verify(let signature, let descriptor):
      let context = CommandContext(try GlobalOptions.parse([]))
      return try context.naming {
        try GitVerification(context, signature: signature, StatusLines(to: descriptor)).run()
      }
    }
  }

  /// Says why it failed. Git before 2.40 drops what is on standard error when a signature was wanted, so a terminal
  /// gets it too.
  private static func end(_ error: any Error, _ request: GitRequest?) -> GitExit {
    var failure = Failure(error)
    if failure.code == "no_prompt" {
      failure.hint = "'coffer unlock' first, or let COFFER_PINENTRY name a pinentry program"
    }
    var lines: [ShownLine] = ["\(name): \(failure.message)"]
    if let hint = failure.hint { lines.append("hint: \(hint)") }
    for line in lines { Terminal.remark(line) }
    switch request {
    case .sign:
      if !Terminal.isErrorTerminal { ControllingTerminal.tell(lines) }
    case .verify(_, let descriptor):
      // Without these, git cannot tell that a signature is there, and old ones abort.
      _ = try? StatusLines(to: descriptor).write(SignatureStatus.unreadable.lines)
    case .version, nil: break
    }
    return .failed
  }
}

/// How a run ends. Git looks at it beside the status lines.
enum GitExit: Int32, Comparable {
  /// Signed, or the signature is good.
  case done = 0
  /// The signature does not hold.
  case bad = 1
  /// Nothing was signed, or the signature cannot be judged.
  case failed = 2

  static func < (first: GitExit, second: GitExit) -> Bool { first.rawValue < second.rawValue }
}

/// The terminal of the user, whatever the standard descriptors are.
enum ControllingTerminal {
  /// Shows lines; without a terminal they are lost.
  static func tell(_ lines: [ShownLine]) {
    let descriptor = opened()
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let text = lines.map { $0.text + "\n" }.joined()
    _ = Terminal.writeAll(Array(text.utf8).rawSpan, to: descriptor)
  }

  /// Whether there is one.
  static var isThere: Bool {
    let descriptor = opened()
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return true
  }

  private static func opened() -> Int32 {
    guard let path = CommandRun.current.environment.terminal else { return -1 }
    return unsafe open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
  }
}

extension CommandContext {
  /// Errors of the coffer's file are said with its place.
  fileprivate func naming<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as StorageError {
      throw Failure(error, home: home, isChosen: isHomeChosen)
    }
  }
}
