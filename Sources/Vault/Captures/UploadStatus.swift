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
  /// When a pending upload may be tried; nil for now.
  public internal(set) var nextAttempt: Int64?

  /// After this many attempts, the user decides.
  public static let attemptLimit = 5
  /// How long a capture is kept after its upload: seven days.
  public static let uploadedSeconds: Int64 = 7 * 86_400

  init() {}

  /// Whether it may be tried now.
  func isDue(_ now: Int64) -> Bool { state == .pending && nextAttempt ?? 0 <= now }

  mutating func begin(_ now: Int64) {
    state = .uploading
    attempts += 1
    lastAttempt = now
    nextAttempt = nil
  }

  mutating func succeed() { state = .uploaded }

  /// - Parameter jitter: 0 to 1: how much of half the pause is added to it.
  mutating func fail(_ now: Int64, jitter: Double) {
    guard attempts < Self.attemptLimit else {
      state = .failed
      return
    }
    let pause = Double(1 << (attempts - 1))
    state = .pending
    nextAttempt = now + Int64((pause + pause / 2 * jitter).rounded(.up))
  }

  /// The process that was uploading has ended; the attempt counts.
  mutating func recover() {
    guard state == .uploading else { return }
    state = attempts < Self.attemptLimit ? .pending : .failed
  }

  /// Makes a failed upload pending again.
  mutating func retry() {
    if state == .failed { self = UploadStatus() }
  }

  // MARK: Bytes

  func sealed(_ id: CaptureID, key: SharedSecretBytes) -> [UInt8] {
    var bytes: [UInt8] = [1, state.rawValue]
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
      guard try cursor.readByte(bytes) == 1, let state = State(rawValue: try cursor.readByte(bytes)) else {
        return nil
      }
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

  private static func context(_ id: CaptureID) -> [UInt8] { contextBytes("coffer capture v1 queue", id) }
}
