// SPDX-License-Identifier: Apache-2.0

/// A progress bar on standard error for work that takes longer than a second; silent on a pipe and with --quiet.
struct ProgressBar {
  private let title: String
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var lastDrawn: ContinuousClock.Instant?
  private var lastUpdate = ContinuousClock.now
  /// Nil before the first update.
  private var lastByteCount: Int?

  init(_ title: String, isQuiet: Bool) {
    self.title = title
    isShown = Terminal.isErrorTerminal && !Terminal.isDumb && !isQuiet
  }

  /// Draws, at most ten times a second and not in the first second.
  ///
  /// - Parameter total: nil when it is not known.
  mutating func update(_ done: Int, of total: Int?, unit: String) {
    draw(done, of: total) { "\($0) \(unit)" }
  }

  /// The same for bytes.
  mutating func update(bytes done: Int, of total: Int?) {
    (lastUpdate, lastByteCount) = (ContinuousClock.now, done)
    draw(done, of: total, amount: ByteCount.text)
  }

  /// Says for how long a service has not answered, while somebody waits for it: at most once a second.
  mutating func wait() {
    let now = ContinuousClock.now
    let seconds = Int((now - lastUpdate) / .seconds(1))
    guard isShown, seconds >= 2, now - (lastDrawn ?? start) > .seconds(1) else { return }
    lastDrawn = now
    let row = Self.waiting(
      title, lastByteCount.map(ByteCount.text), seconds: seconds, columnCount: Terminal.errorColumns)
    Terminal.writeError("\r\u{1B}[K\(row)")
  }

  /// Title, what was done before, and how long nothing came; the amount goes first where not all fits.
  static func waiting(_ title: String, _ amount: String?, seconds: Int, columnCount: Int) -> String {
    let wait = "waiting for the place, \(Duration.text(seconds))"
    let whole = [title, amount, wait].compactMap(\.self).joined(separator: ", ")
    return String((whole.count < columnCount ? whole : "\(title), \(wait)").prefix(max(columnCount - 1, 0)))
  }

  private mutating func draw(_ done: Int, of total: Int?, amount: (Int) -> String) {
    let now = ContinuousClock.now
    guard isShown, now - start > .seconds(1), now - (lastDrawn ?? start) > .milliseconds(100) else { return }
    lastDrawn = now
    let row = Self.row(
      title, done, of: total, seconds: (now - start) / .seconds(1), columnCount: Terminal.errorColumns,
      amount: amount)
    Terminal.writeError("\r\u{1B}[K\(row)")
  }

  /// Title, bar, share, amount, speed and the time that is left. Where not all fits, the bar gets shorter, then goes,
  /// and then the last parts go.
  static func row(
    _ title: String, _ done: Int, of total: Int?, seconds: Double, columnCount: Int, amount: (Int) -> String
  ) -> String {
    let share = total.flatMap { $0 > 0 ? min(1, Double(done) / Double($0)) : nil }
    var parts = [amount(done)]
    if seconds > 0 { parts.append("\(amount(Int(Double(done) / seconds)))/s") }
    if let share, share > 0 { parts.append("\(Duration.text(Int(seconds / share * (1 - share)))) left") }
    let head = share.map { "\(title) \(Int($0 * 100)) % " } ?? "\(title) "
    // The last column stays free: the cursor is there.
    while parts.count > 1, head.count + parts.joined(separator: ", ").count >= columnCount {
      parts.removeLast()
    }
    let tail = parts.joined(separator: ", ")
    let room = min(30, columnCount - head.count - tail.count - 4)
    guard let share, room >= leastBarWidth else { return head + tail }
    let filled = Int(share * Double(room))
    let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: room - filled)
    return "\(title) [\(bar)] \(Int(share * 100)) % \(tail)"
  }

  /// A shorter bar would say nothing.
  private static let leastBarWidth = 6

  /// Clears the bar. After an interruption the bar stays, and the next output starts a new line.
  mutating func finish() {
    if Interruption.isRequested { return Interruption.breakLine() }
    if lastDrawn != nil { Terminal.writeError("\r\u{1B}[K") }
    lastDrawn = nil
  }
}
