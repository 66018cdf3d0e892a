// SPDX-License-Identifier: Apache-2.0
//
// The log lines of a process. Where they go can be chosen only once in a process, before the first line: so this is
// for the body of an exit test.

import Logging
import Synchronization

/// The lines that this process has logged, as "level label message name=value …".
public enum LoggedLines {
  private static let lines = Mutex<[String]>([])

  /// Keeps every line from now on, of every level.
  public static func keep() { LoggingSystem.bootstrap { Handler(label: $0) } }

  /// All lines since then.
  public static var all: [String] { lines.withLock { $0 } }

  private struct Handler: LogHandler {
    let label: String
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.trace

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
      let line = "\(event.level) \(label) \(event.message)\(values.joined())"
      LoggedLines.lines.withLock { $0.append(line) }
    }
  }
}
