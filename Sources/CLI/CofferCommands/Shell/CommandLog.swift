// SPDX-License-Identifier: Apache-2.0
//
// The log of a run, on standard error, if COFFER_LOG names a level. It says which command ran and how it ended. No line,
// from this module or another, contains a name, a value or an identifier.

internal import Logging

enum CommandLog {
  /// Log lines go to standard error when COFFER_LOG names a level; else nowhere.
  /// - Throws: a failure when it is not a level, because you would wait for a log in vain.
  static func start() throws {
    let environment = CommandRun.current.environment
    let name = environment.variable("COFFER_LOG") ?? ""
    let level = Logger.Level(rawValue: name)
    guard level != nil || name.isEmpty else {
      throw Failure.usage(
        "COFFER_LOG is not a log level",
        hint: "it is one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    // There is one log for a process.
    guard environment.ownsProcess else { return }
    LoggingSystem.bootstrap { label in
      guard let level else { return SwiftLogNoOpLogHandler() }
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
  }

  /// Logs which command is run, only by its name, and how it ended.
  static func noting(_ words: [String], _ body: () throws -> ExitCode) throws -> ExitCode {
    let log = Logger(label: "app.rial.command")
    let start = ContinuousClock.now
    log.debug("begins", metadata: ["command": "\(words.joined(separator: " "))"])
    func noteEnd(_ exit: ExitCode) {
      let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
      log.debug("ends", metadata: ["exit": "\(exit.rawValue)", "milliseconds": "\(Int(milliseconds))"])
    }
    do {
      let exit = try body()
      noteEnd(exit)
      return exit
    } catch {
      noteEnd(Failure(error).exit)
      throw error
    }
  }
}
