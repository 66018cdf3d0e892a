// SPDX-License-Identifier: Apache-2.0
//
// Requests in their order, and their answers in the same order. What only reads, and packs, which nothing names yet, are
// asked for ahead, on threads of their own: most of the time at a service goes by waiting. What else writes, or deletes, is
// carried out alone, when all before it is answered.

internal import Histories
internal import Primitives
internal import Remotes
internal import Synchronization

/// A history's requests that wait for their answers. Not for use from several threads.
final class RequestQueue {
  private var requests: RemoteRequests
  /// The next one last.
  private var waiting: [Request] = []
  /// Of the next requests those that are under way, in their order.
  private var begun: [Errand] = []
  /// Packs that are put at once. On a slow line each is through earlier alone, and need not be sent again after a cut.
  private var putLimit = 1

  /// Requests under way at once, and answers in memory, with the one that the caller works on: as many as the courier
  /// carries out. An answer has at most ``RemoteRequests/answerByteCountLimit`` bytes.
  static let limit = 4

  init(_ requests: RemoteRequests) { self.requests = requests }

  /// Threads do not outlive it: a remote is not used any more when a run is over.
  deinit { for errand in begun { _ = errand.wait() } }

  var lastError: RemoteError? { requests.lastError }
  /// Requests that were answered.
  var count: Int { requests.count }
  /// Bytes that were got and put.
  var byteCount: Int { requests.byteCount }

  /// The next request; nil if none waits.
  var next: Request? { waiting.last }
  /// All that wait, the next one first.
  var all: [Request] { waiting.reversed() }

  /// Adds requests; those that wait already come first.
  func add(_ more: [Request]) { waiting.insert(contentsOf: more.reversed(), at: 0) }

  /// Answers the next request.
  /// - Precondition: one waits.
  func answerNext() -> Answer {
    beginAhead()
    guard let request = waiting.popLast() else { preconditionFailure("nobody asked for anything") }
    // Those that are under way with it share the line.
    let sharing = max(1, begun.count)
    let (result, duration) =
      begun.isEmpty ? timed { requests.carryOut(request) } : begun.removeFirst().wait()
    if case .put(.pack, let bytes) = request, case .success = result {
      putLimit = Self.putLimit(putLimit, after: bytes.count, in: duration, sharing: sharing)
    }
    return requests.note(result, of: request)
  }

  /// How many packs are put at once after one took so long, while so many shared the line. A small one tells nothing of it.
  static func putLimit(_ before: Int, after byteCount: Int, in duration: Duration, sharing: Int) -> Int {
    guard byteCount >= 1 << 20 else { return before }
    return duration * quickByteCountPerSecond < .seconds(byteCount * sharing) ? limit : 1
  }

  /// At this speed a pack takes eight seconds, which may be lost; waiting for answers costs little beside it.
  private static let quickByteCountPerSecond = 2 << 20

  /// Begins what is next. A request that is alone needs no thread.
  private func beginAhead() {
    while begun.count < min(Self.limit, waiting.count), waiting.count > 1 || !begun.isEmpty {
      let request = waiting[waiting.count - 1 - begun.count]
      if case .put = request, begun.count >= putLimit { return }
      guard request.mayOverlap, let errand = Errand(request, requests) else { return }
      begun.append(errand)
    }
  }
}

/// A request that a thread of its own carries out.
private final class Errand {
  typealias TimedAnswer = (result: Result<Answer, RemoteError>, duration: Duration)

  private final class Place: Sendable {
    let answer = Mutex<TimedAnswer?>(nil)
  }

  private let place = Place()
  private let thread: WorkerThread

  /// Nil when there is no thread to be had.
  init?(_ request: Request, _ requests: RemoteRequests) {
    let thread = WorkerThread { [place, requests] in
      let answer = timed { requests.carryOut(request) }
      place.answer.withLock { $0 = answer }
    }
    guard let thread else { return nil }
    self.thread = thread
  }

  /// Waits for the answer; to be called once.
  func wait() -> TimedAnswer {
    thread.join()
    guard let answer = place.answer.withLock({ $0.take() }) else {
      preconditionFailure("a thread ended early")
    }
    return answer
  }
}

private func timed<R>(_ body: () -> R) -> (result: R, duration: Duration) {
  let start = ContinuousClock.now
  let result = body()
  return (result, ContinuousClock.now - start)
}

extension Request {
  /// Whether it may be carried out before others are answered.
  fileprivate var mayOverlap: Bool {
    switch self {
    case .list, .get, .stat, .put(.pack, _): true
    case .put, .delete: false
    }
  }
}
