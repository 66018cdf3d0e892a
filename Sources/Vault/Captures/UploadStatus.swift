// SPDX-License-Identifier: Apache-2.0
//
// The state of a capture's upload, and when it is tried again (Specs/captures.md, "Queue").

internal import Primitives
internal import Secrets

/// The upload of one capture.
public struct UploadStatus: Equatable, Sendable {
  /// The steps of an upload. The numbers are stored.
  public enum State: UInt8, Sendable, CaseIterable {
    /// Waits for its first or next attempt.
    case pending = 1
    /// Is being uploaded.
    case uploading = 2
    /// Was uploaded, and is removed seven days later.
    case uploaded = 3
    /// Has failed ``attemptLimit`` times, and is not tried again by itself.
    case failed = 4

    /// For programs; stable.
    public var name: String {
      switch self {
      case .pending: "pending"
      case .uploading: "uploading"
      case .uploaded: "uploaded"
      case .failed: "failed"
      }
    }
  }

  public internal(set) var state = State.pending
  public internal(set) var attempts = 0
  /// Seconds since 1970, UTC; nil before the first attempt.
  public internal(set) var lastAttempt: Int64?
  /// When a pending upload may be tried, nil for now; or when one under way counts as cut off, nil once the process
  /// that began it has ended.
  public internal(set) var nextAttempt: Int64?

  /// Whether a synchronisation uploaded it: the place of the account has it. It is never removed for that.
  public internal(set) var isSynced = false

  /// After this many attempts, the user decides.
  public static let attemptLimit = 5
  /// How long a capture is kept after its upload: seven days.
  public static let uploadedSeconds: Int64 = 7 * 86_400
  /// How long another program may take for one attempt before it counts as cut off: six hours, enough for the largest
  /// photo (4 GiB) at two megabits a second.
  public static let reportSeconds: Int64 = 6 * 3_600

  init() {}

  /// Whether an upload was ever tried or reported.
  public var isUsed: Bool { self != UploadStatus() }

  /// When the uploaded capture may be removed, in seconds since 1970, UTC; nil unless a program has uploaded it.
  public var removalTime: Int64? { isSynced ? nil : endTime }

  /// When the capture may be released, in seconds since 1970, UTC; nil unless a synchronisation has uploaded it.
  public var releaseTime: Int64? { isSynced ? endTime : nil }

  private var endTime: Int64? { state == .uploaded ? (lastAttempt ?? 0) + Self.uploadedSeconds : nil }

  /// Whether it may be tried now.
  func isDue(_ now: Int64) -> Bool {
    switch state {
    case .pending: nextAttempt ?? 0 <= now
    // Without a time, a process that holds the lock may be at it; the next writer knows.
    case .uploading: attempts < Self.attemptLimit && nextAttempt.map { $0 <= now } ?? false
    case .uploaded, .failed: false
    }
  }

  /// - Parameter cutOff: when the attempt counts as cut off; nil if that is when this process ends.
  mutating func begin(_ now: Int64, cutOff: Int64? = nil) {
    state = .uploading
    isSynced = false
    attempts += 1
    lastAttempt = now
    nextAttempt = cutOff
  }

  mutating func succeed() {
    state = .uploaded
    nextAttempt = nil
  }

  /// - Parameter jitter: 0 to 1: how much of half the pause is added to it.
  mutating func fail(_ now: Int64, jitter: Double) {
    guard attempts < Self.attemptLimit else {
      state = .failed
      nextAttempt = nil
      return
    }
    let pause = Double(1 << (attempts - 1))
    state = .pending
    nextAttempt = now + Int64((pause + pause / 2 * jitter).rounded(.up))
  }

  /// Ends an attempt that was cut off: its process has ended, or has not reported in time. The attempt counts.
  mutating func recover(_ now: Int64) {
    guard state == .uploading, nextAttempt ?? 0 <= now else { return }
    state = attempts < Self.attemptLimit ? .pending : .failed
    nextAttempt = nil
  }

  /// Makes a failed upload pending again.
  mutating func retry() {
    if state == .failed { self = UploadStatus() }
  }

  /// Whether the last attempt was cut off, and nothing was reported since: a failure that was reported names the next.
  private var isCutOff: Bool { state == .pending && attempts > 0 && nextAttempt == nil }

  /// Takes over the report of a program that uploads. A result without a beginning counts as an attempt; the late result
  /// of one that was cut off does not count again.
  /// - Throws: `CaptureError.uploadNotDue` for a beginning that is not due, or a failure of a finished upload.
  mutating func report(_ reported: State, _ now: Int64, jitter: Double) throws(CaptureError) {
    switch (reported, state) {
    case (.pending, _): self = UploadStatus()
    case (.uploading, _):
      guard isDue(now) else { throw .uploadNotDue(self) }
      begin(now, cutOff: now + Self.reportSeconds)
    case (.uploaded, .uploaded), (.failed, .failed): break
    case (.failed, .uploaded): throw .uploadNotDue(self)
    case (.uploaded, _), (.failed, _):
      if state == .pending, !isCutOff { begin(now) }
      reported == .uploaded ? succeed() : fail(now, jitter: jitter)
    }
  }

  /// Takes over what a synchronisation says of its own uploads: it knows what the remote has, so a beginning is always
  /// due. One that follows another counts the other as cut off; after the last attempt, or an upload that did succeed,
  /// they are counted from 1 again. A failure does not undo a success.
  mutating func note(_ noted: State, _ now: Int64, jitter: Double) throws(CaptureError) {
    switch (noted, state) {
    case (.uploading, _):
      if state == .uploaded || attempts >= Self.attemptLimit { self = UploadStatus() }
      begin(now, cutOff: now + Self.reportSeconds)
    case (.failed, .uploaded): break
    default: try report(noted, now, jitter: jitter)
    }
    if noted == .uploaded { isSynced = true }
  }

  /// The upload of a capture that came from another device.
  static func received(_ now: Int64) -> UploadStatus {
    var status = UploadStatus()
    (status.state, status.lastAttempt, status.isSynced) = (.uploaded, now, true)
    return status
  }

  // MARK: Bytes

  func sealed(_ id: CaptureID, key: SharedSecretBytes) -> [UInt8] {
    var bytes: [UInt8] = [1, state.rawValue | (isSynced ? Self.syncedBit : 0)]
    bytes.append(bigEndian: UInt32(attempts))
    bytes.append(bigEndian: lastAttempt ?? 0)
    bytes.append(bigEndian: nextAttempt ?? 0)
    var sealer = SealedValue()
    return key.withBytes { sealer.seal(bytes.rawSpan, key: $0, context: Self.context(id)) }
  }

  /// - Throws: `CaptureError.corrupt(nil)`
  init(sealed: RawSpan, _ id: CaptureID, key: SharedSecretBytes) throws(CaptureError) {
    guard let status = SealedValue.read(sealed, key: key, context: Self.context(id), { Self(bytes: $0) })
    else {
      throw .corrupt(nil)
    }
    self = status
  }

  private init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      let number = try cursor.readByte(bytes)
      guard let state = State(rawValue: number & ~Self.syncedBit) else { return nil }
      isSynced = number & Self.syncedBit != 0
      guard !isSynced || state == .uploaded else { return nil }
      self.state = state
      attempts = try cursor.readUInt32(bytes)
      let last = try cursor.readInt64(bytes)
      let next = try cursor.readInt64(bytes)
      lastAttempt = last == 0 ? nil : last
      nextAttempt = next == 0 ? nil : next
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch {
      return nil
    }
  }

  private static let syncedBit: UInt8 = 0x80

  private static func context(_ id: CaptureID) -> [UInt8] { contextBytes("coffer capture v1 queue", id) }
}
