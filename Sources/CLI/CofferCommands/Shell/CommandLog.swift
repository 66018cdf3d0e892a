// SPDX-License-Identifier: Apache-2.0
//
// The log of a run, on standard error, where COFFER_LOG names a level. It says what was called and how it
// ended; no line of it, here or in a room below, holds a name, a value or an identifier.

internal import Foundation
internal import Logging

enum CommandLog {
  /// Log lines go to standard error when COFFER_LOG names a level; else nowhere.
  /// - Throws: a failure when it names none: a log that somebody waits for must not be missing silently.
  static func start() throws {
    let name = ProcessInfo.processInfo.environment["COFFER_LOG"] ?? ""
    let level = Logger.Level(rawValue: name)
    guard level != nil || name.isEmpty else {
      throw Failure.usage(
        "COFFER_LOG is not a log level",
        hint: "it is one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    LoggingSystem.bootstrap { label in
      guard let level else { return SwiftLogNoOpLogHandler() }
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
  }

  /// Notes which command is run, by its own words alone, and how it ended.
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
