// SPDX-License-Identifier: Apache-2.0

/// What a desktop tells the agent.
enum SessionEvent: Equatable {
  /// The screen of this user was locked.
  case locked
  /// The machine is about to sleep, and waits for us.
  case fallingAsleep
  case awake
  /// The user has logged out.
  case loggedOut
  /// There is nobody to tell us any more.
  case lost
}

/// Who tells the agent of the screen's lock and of sleep.
protocol SessionWatch: AnyObject {
  /// What to poll, and for which events; may change with each ``nextEvent()``.
  var descriptor: Int32 { get }
  var pollEvents: Int16 { get }
  /// Whether somebody is there to tell.
  var isPresent: Bool { get }
  /// The next thing that happened, without waiting. Call it until it is nil before polling.
  func nextEvent() -> SessionEvent?
  /// Lets the machine fall asleep: everything is erased.
  func allowSleep()
  /// Asks again to be waited for.
  func delaySleep()
}
