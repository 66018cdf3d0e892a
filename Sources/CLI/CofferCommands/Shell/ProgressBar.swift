// SPDX-License-Identifier: Apache-2.0

/// A progress bar on standard error for work that takes longer than a second; silent on a pipe and with --quiet.
struct ProgressBar {
  private let title: String
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var lastDrawn: ContinuousClock.Instant?

  init(_ title: String, isQuiet: Bool) {
    self.title = title
    isShown = Terminal.isErrorTerminal && !Terminal.isDumb && !isQuiet
  }

  /// Draws, at most ten times a second and not in the first second.
  ///
  /// - Parameter total: nil when it is not known.
  mutating func update(_ done: Int, of total: Int?, unit: String) {
    let now = ContinuousClock.now
    guard isShown, now - start > .seconds(1), now - (lastDrawn ?? start) > .milliseconds(100) else { return }
    lastDrawn = now
    var line = "\r\u{1B}[K\(title) "
    if let total, total > 0 {
      let share = min(1, Double(done) / Double(total))
      let filled = Int(share * 30)
      line += "[\(String(repeating: "█", count: filled))\(String(repeating: "·", count: 30 - filled))] "
      line += "\(Int(share * 100)) % "
    }
    line += "\(done) \(unit)"
    Terminal.writeError(line)
  }

  /// Clears the bar. After an interruption the bar stays, and the next output starts a new line.
  mutating func finish() {
    if Interruption.isRequested { return Interruption.breakLine() }
    if lastDrawn != nil { Terminal.writeError("\r\u{1B}[K") }
    lastDrawn = nil
  }
}
