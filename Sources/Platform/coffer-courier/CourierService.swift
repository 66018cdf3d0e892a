// SPDX-License-Identifier: Apache-2.0
//
// Reads requests from the socket, has them carried out, and writes the answers. One thread reads; as many threads as
// requests may be under way carry them out.

internal import CourierProtocol
internal import Dispatch
internal import Glibc
internal import PostgreSQLRemotes
internal import Primitives
internal import Remotes
internal import S3Remotes
internal import Secrets
internal import Synchronization

/// The requests that were read and wait for a thread. At most one waits: the reader goes on when it was taken.
private final class RequestQueue: Sendable {
  private let waiting = Mutex<[(UInt32, CourierRequest)]>([])
  private let filled = DispatchSemaphore(value: 0)
  private let free = DispatchSemaphore(value: 0)

  /// - Parameter count: requests that may be under way.
  init(count: Int) { for _ in 0..<count { free.signal() } }

  func add(_ number: UInt32, _ request: CourierRequest) {
    free.wait()
    waiting.withLock { $0.insert((number, request), at: 0) }
    filled.signal()
  }

  /// Waits for a request; nil when no other comes.
  func take() -> (UInt32, CourierRequest)? {
    filled.wait()
    return waiting.withLock { $0.popLast() }
  }

  /// To be called when a request that was taken has its answer.
  func done() { free.signal() }

  /// Lets `count` threads end.
  func end(_ count: Int) { for _ in 0..<count { filled.signal() } }
}

/// Answers the requests of one conversation.
final class CourierService: Sendable {
  /// Requests under way at once. Bytes of four objects are in memory then.
  private static let requestCount = 4

  private let socket: CourierSocket
  private let remote: any PagedRemote
  private let ending: Ending
  private let sending = Mutex<Void>(())
  private let queue: RequestQueue
  private let threadCount: Int
  /// Whether something goes on that only the end of the process ends.
  private let mustEnd: @Sendable () -> Bool

  /// Whether the other process has ended the conversation; then nothing is repeated.
  final class Ending: Sendable {
    private let begun = Atomic<Bool>(false)

    /// Waits for a repetition, and tells whether to make it.
    func wait(_ seconds: Double) -> Bool {
      // In parts, so that an end is noticed.
      var rest = seconds
      while rest > 0, !begun.load(ordering: .relaxed) {
        let part = min(rest, 0.25)
        usleep(UInt32(part * 1_000_000))
        rest -= part
      }
      return !begun.load(ordering: .relaxed)
    }

    func begin() { begun.store(true, ordering: .relaxed) }
  }

  init(_ socket: CourierSocket, _ opening: CourierOpening) {
    self.socket = socket
    let ending = Ending()
    self.ending = ending
    // libcurl limits the speed of each connection, so there is one where a limit was set.
    let limits = opening.limits
    threadCount = limits.up == 0 && limits.down == 0 ? Self.requestCount : 1
    queue = RequestQueue(count: threadCount)
    let retries = CourierRetries(firstSeconds: Double(limits.firstPauseMilliseconds) / 1_000) {
      ending.wait($0)
    }
    switch opening.place {
    case .s3(let place):
      remote = S3Remote(
        place, transport: CurlTransport(place, limits), retries: retries, now: { Int64(time(nil)) })
      mustEnd = { false }
    case .postgreSQL(let place):
      let transport = LibpqTransport(place, limits)
      remote = PostgreSQLRemote(account: place.account, transport: transport, retries: retries)
      mustEnd = { transport.mustEnd }
    }
  }

  /// Serves until the socket ends, or has what is not a request. Then what was read is carried out.
  /// - Returns: whether all requests were ones.
  func run() -> Bool {
    let threads = (0..<threadCount).compactMap { _ in WorkerThread { [self] in work() } }
    guard threads.count == threadCount else { return false }
    let isProper = readRequests()
    ending.begin()
    queue.end(threadCount)
    threads.forEach { $0.join() }
    return isProper
  }

  private func readRequests() -> Bool {
    var last: UInt32 = 0
    do throws(CourierProtocolError) {
      while case .frame(let head, let body) = try socket.receive() {
        guard head.number > last else { return false }
        last = head.number
        queue.add(head.number, try CourierRequest(kind: head.kind, body: body))
      }
      return true
    } catch {
      return false
    }
  }

  private func work() {
    while let (number, request) = queue.take() {
      let frame = answer(request).frame(number: number)
      // When the other process is gone, the request was carried out anyway.
      sending.withLock { _ in
        _ = socket.send(frame.rawSpan)
        // The others are asked for again, of another process.
        if mustEnd() { _exit(1) }
      }
      queue.done()
    }
  }

  private func answer(_ request: CourierRequest) -> CourierAnswer {
    do throws(RemoteError) {
      switch request {
      case .list(let folder, let continuation):
        return .page(try remote.page(folder, continuation: continuation))
      case .get(let name, let range): return try remote.get(name, range: range).map { .object($0) } ?? .absent
      case .put(let name, let bytes):
        try remote.put(name, bytes)
        return .done
      case .stat(let name): return try remote.stat(name).map { .byteCount($0) } ?? .absent
      case .delete(let name):
        try remote.delete(name)
        return .done
      }
    } catch {
      return .failed(error)
    }
  }
}
