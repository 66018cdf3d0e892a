// SPDX-License-Identifier: Apache-2.0
//
// Tries a place before anybody relies on it: with objects of its own, which it deletes again.

/// What a place did with the objects of a check.
public struct RemoteCheck: Equatable, Sendable {
  /// What no device can live with.
  public enum Fault: String, CaseIterable, Sendable {
    /// An object did not read as it was written, or had another size.
    case reading
    /// A part of an object was another one.
    case ranges
    /// An object that was written over read as before, or a list had it twice.
    case overwriting
    /// An object that was deleted was still there.
    case deleting
  }

  /// Empty for a place that will do.
  public internal(set) var faults: Set<Fault> = []
  /// How long it took until a list had what was written; nil if it had not at the end of ``listLimit``. Devices bear with
  /// late lists: what is new then comes later.
  public internal(set) var listDelay: Duration?
  /// Whether these credentials may delete.
  public internal(set) var mayDelete = true
  /// By how many seconds the place's clock is ahead of this machine's; nil where it has none.
  public internal(set) var clockLead: Int64?
  /// How long the place took to answer for a few bytes.
  public internal(set) var answerTime: Duration = .zero
  /// Bytes a second of one large object.
  public internal(set) var bytesPerSecondUp = 0.0
  /// The same from the place. Of a folder it is the speed of this machine's memory.
  public internal(set) var bytesPerSecondDown = 0.0
  /// Bytes that stay in ``folder``, at most, since nothing may be deleted: a database keeps what was written over.
  public internal(set) var leftByteCount = 0

  /// Beside the folders of accounts.
  public static let folder = "check"
  /// How long a list is waited for.
  public static let listLimit: Duration = .seconds(10)

  /// Tries a place.
  ///
  /// - Parameters:
  ///   - remote: the place.
  ///   - now: this machine's clock, in seconds since 1970.
  ///   - pause: waits that long.
  ///   - goesOn: asked between requests; false stops.
  /// - Returns: nil when `goesOn` stopped it.
  /// - Throws: the first error of the place. What was written is deleted before, if the place still answers.
  public static func run(
    on remote: any Remote, now: () -> UInt64, pause: (Duration) -> Void, goesOn: () -> Bool = { true }
  ) throws(RemoteError) -> RemoteCheck? {
    var trial = RemoteTrial(remote)
    do throws(RemoteError) {
      guard try trial.run(now: now, pause: pause, goesOn: goesOn) else {
        trial.removeAll()
        return nil
      }
    } catch {
      switch error {
      case .unreachable, .serviceUnreachable, .courier: break
      default: trial.removeAll()
      }
      throw error
    }
    return trial.check
  }
}

/// A check under way.
private struct RemoteTrial {
  let remote: any Remote
  var check = RemoteCheck()
  /// With it all names begin: two checks may be under way.
  let prefix: String
  /// The objects that may be there.
  var written: Set<String> = []

  init(_ remote: any Remote) {
    self.remote = remote
    let number = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    prefix = RemoteCheck.folder + "/" + String(repeating: "0", count: 16 - number.count) + number
  }

  /// - Returns: false when it was stopped.
  mutating func run(
    now: () -> UInt64, pause: (Duration) -> Void, goesOn: () -> Bool
  ) throws(RemoteError) -> Bool {
    let name = prefix + "-small"
    let (first, second) = (Self.bytes(1_000, seed: 1), Self.bytes(700, seed: 2))
    try put(name, first)
    guard goesOn() else { return false }
    try read(name, first)
    guard goesOn(), try awaitList(name, now: now, pause: pause, goesOn: goesOn) else { return false }
    let part = 300..<800
    if try remote.get(name, range: part) != Array(first[part]) { check.faults.insert(.ranges) }
    guard goesOn() else { return false }
    for bytes in [second, first] {
      try put(name, bytes)
      guard goesOn() else { return false }
      if try remote.get(name, range: nil) != bytes { check.faults.insert(.overwriting) }
    }
    guard goesOn() else { return false }
    try delete(name)
    if !check.mayDelete { check.leftByteCount = first.count + second.count }
    return try measureSpeed(goesOn)
  }

  private mutating func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    written.insert(name)
    try remote.put(name, bytes)
  }

  private mutating func read(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    let start = ContinuousClock.now
    let found = try remote.get(name, range: nil)
    check.answerTime = ContinuousClock.now - start
    let byteCount = try remote.stat(name)
    if found != bytes || byteCount != bytes.count { check.faults.insert(.reading) }
  }

  /// - Returns: false when it was stopped.
  private mutating func awaitList(
    _ name: String, now: () -> UInt64, pause: (Duration) -> Void, goesOn: () -> Bool
  ) throws(RemoteError) -> Bool {
    var (waited, next) = (Duration.zero, Duration.milliseconds(100))
    while true {
      let here = now()
      var count = 0
      let there = try remote.list(RemoteCheck.folder) { if $0.name == name { count += 1 } }
      check.clockLead = there.map { Int64(clamping: $0) - Int64(clamping: here) }
      if count > 1 { check.faults.insert(.overwriting) }
      if count > 0 {
        check.listDelay = waited
        return true
      }
      guard goesOn() else { return false }
      guard waited < RemoteCheck.listLimit else { return true }
      pause(next)
      waited += next
      next = min(next * 2, .seconds(2))
    }
  }

  private mutating func delete(_ name: String) throws(RemoteError) {
    do throws(RemoteError) { try remote.delete(name) } catch {
      guard error == .refused(.permission) else { throw error }
      check.mayDelete = false
      return
    }
    written.remove(name)
    if try remote.get(name, range: nil) != nil { check.faults.insert(.deleting) }
  }

  /// Where nothing may be deleted, one object stays, and further checks find it.
  /// - Returns: false when it was stopped.
  private mutating func measureSpeed(_ goesOn: () -> Bool) throws(RemoteError) -> Bool {
    let name = check.mayDelete ? prefix + "-large" : RemoteCheck.folder + "/large"
    let least = 1 << 20
    for byteCount in check.mayDelete ? [least, 8 * least] : [least] {
      let bytes = [UInt8](repeating: 0xA5, count: byteCount)
      guard goesOn() else { return false }
      let start = ContinuousClock.now
      try put(name, bytes)
      let sent = ContinuousClock.now
      guard goesOn() else { return false }
      if try remote.get(name, range: nil) != bytes { check.faults.insert(.reading) }
      check.bytesPerSecondUp = Double(byteCount) / ((sent - start) / .seconds(1))
      check.bytesPerSecondDown = Double(byteCount) / ((ContinuousClock.now - sent) / .seconds(1))
      // A slow connection has been measured by then.
      if sent - start > .seconds(1) { break }
    }
    guard goesOn() else { return false }
    if check.mayDelete { try delete(name) } else { check.leftByteCount += least }
    return true
  }

  /// Deletes what may be there, as far as it can be: it is only a check's.
  func removeAll() {
    for name in written { try? remote.delete(name) }
  }

  /// Bytes that differ from place to place, so that a shifted part is noticed.
  private static func bytes(_ count: Int, seed: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ seed) }
  }
}
