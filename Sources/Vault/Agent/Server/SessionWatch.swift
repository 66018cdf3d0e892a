// SPDX-License-Identifier: Apache-2.0

/// An event of the desktop session.
enum SessionEvent: Equatable {
  /// The screen of this user was locked.
  case locked
  /// The machine is about to sleep, and waits for us.
  case fallingAsleep
  case awake
  /// The user has logged out.
  case loggedOut
  /// The source of events is gone.
  case lost
}

/// A source of events about the screen's lock and sleep.
protocol SessionWatch: AnyObject {
  /// The descriptor to poll, and the events; may change with each ``nextEvent()``.
  var descriptor: Int32 { get }
  var pollEvents: Int16 { get }
  /// Whether the source is connected.
  var isPresent: Bool { get }
  /// The next thing that happened, without waiting. Call it until it is nil before polling.
  func nextEvent() -> SessionEvent?
  /// Lets the machine fall asleep: everything is erased.
  func allowSleep()
  /// Asks the machine again to wait before sleep.
  func delaySleep()
}
