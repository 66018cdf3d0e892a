// SPDX-License-Identifier: Apache-2.0
//
// The socket to the courier: several threads ask at once, one thread reads the answers and hands each to its asker. The
// courier has met the network, so what it says is checked, and after the first thing that cannot be nothing is heard.

internal import CourierProtocol
internal import Dispatch
internal import Glibc
internal import Remotes
internal import Secrets
internal import Synchronization

/// One question that waits for its answer.
private final class Asker: Sendable {
  private let answered = DispatchSemaphore(value: 0)
  private let answer = Mutex<Result<CourierAnswer, RemoteError>?>(nil)

  func give(_ result: Result<CourierAnswer, RemoteError>) {
    answer.withLock { $0 = result }
    answered.signal()
  }

  /// - Returns: nil when it is not wanted any more.
  func wait(unless isCancelled: () -> Bool) throws(RemoteError) -> CourierAnswer? {
    while answered.wait(timeout: .now() + .milliseconds(200)) == .timedOut {
      // What was under way may be as good as done.
      guard !isCancelled() || answered.wait(timeout: .now() + .seconds(1)) == .success else { return nil }
    }
    guard let result = answer.withLock({ $0 }) else { throw .courier(.ended) }
    return try result.get()
  }
}

/// The caller's end of the socket, once the courier is ready.
final class CourierConversation: Sendable {
  private struct State {
    var lastNumber: UInt32 = 0
    var askers: [UInt32: Asker] = [:]
    /// Why there are no answers any more.
    var end: RemoteError?
  }

  /// The program, a child of this process.
  let process: pid_t
  private let socket: CourierSocket
  private let state = Mutex(State())
  /// Held while a frame is sent, so that frames are whole, and that the descriptor is not closed meanwhile.
  private let sending = Mutex<Void>(())
  /// Whether the descriptor is this conversation's: after it was closed, its number may be another file's.
  private let isOpen = Mutex(true)

  /// - Parameter process: takes over both; ``end()`` gives them back.
  init(_ socket: CourierSocket, process: pid_t) {
    self.socket = socket
    self.process = process
  }

  /// Sends the place, and waits until the program is ready.
  func open(_ opening: CourierOpening) throws(RemoteError) {
    // Where it cannot be sent, there is no answer either.
    _ = opening.frame().withBytes { socket.send($0) }
    switch firstAnswer() {
    case .ready: break
    case .notConfined(let step, let code): throw .courier(.notConfined(step: step, code: code))
    case nil: throw .courier(.ended)
    default: throw .courier(.invalid)
    }
  }

  /// Nil when the program ends before, or says something that is not an answer.
  private func firstAnswer() -> CourierAnswer? {
    guard case .frame(let head, let body) = try? socket.receive(), head.number == 0 else { return nil }
    return try? CourierAnswer(kind: head.kind, body: body)
  }

  /// Sends a request and waits for its answer.
  /// - Parameter isCancelled: whether nobody wants an answer any more; asked while one is awaited.
  /// - Throws: `RemoteError.serviceUnreachable` then, and for whatever else is asked.
  func ask(
    _ request: CourierRequest, unless isCancelled: () -> Bool
  ) throws(RemoteError) -> CourierAnswer {
    let asker = Asker()
    // Numbers rise on the wire, so they are given where frames are sent.
    let isSent: Result<Bool, RemoteError> = sending.withLock { _ in
      let number: Result<UInt32, RemoteError> = state.withLock { state in
        if let end = state.end { return .failure(end) }
        state.lastNumber += 1
        state.askers[state.lastNumber] = asker
        return .success(state.lastNumber)
      }
      return number.map { socket.send(request.frame(number: $0).rawSpan) }
    }
    // Where it was not sent, the reader notices the same end, and tells all askers.
    _ = try isSent.get()
    if let answer = try asker.wait(unless: isCancelled) { return answer }
    end(.serviceUnreachable)
    stop()
    throw .serviceUnreachable
  }

  /// Reads answers until there are no more.
  func readAnswers() {
    do throws(CourierProtocolError) {
      while case .frame(let head, let body) = try socket.receive() {
        let asker = state.withLock { $0.askers.removeValue(forKey: head.number) }
        guard let asker else { throw CourierProtocolError() }
        do throws(CourierProtocolError) {
          asker.give(.success(try CourierAnswer(kind: head.kind, body: body)))
        } catch {
          asker.give(.failure(.courier(.invalid)))
          throw error
        }
      }
      end(.courier(.ended))
    } catch {
      end(.courier(.invalid))
    }
  }

  /// No request is sent any more; the courier ends when it has carried out what it was given.
  func hangUp() { shutDown(SHUT_WR) }

  /// What an answer that does not fit its request is; it is the last that is heard.
  func reject() -> RemoteError {
    end(.courier(.invalid))
    stop()
    return .courier(.invalid)
  }

  /// Ends the process, closes the socket, and waits until the process is gone. A courier that is at work has its end of
  /// the socket open, so one that has closed it is not interrupted.
  func end() {
    kill(process, SIGKILL)
    // Whoever is sending notices that.
    shutDown(SHUT_RDWR)
    sending.withLock { _ in
      isOpen.withLock { isOpen in
        isOpen = false
        close(socket.descriptor)
      }
    }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }

  /// Ends the process without waiting for it: this one may end before the reader does that. Until the socket is closed,
  /// nobody has asked for the process's status, and no other one has its number.
  private func stop() {
    isOpen.withLock {
      guard $0 else { return }
      kill(process, SIGKILL)
      shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }
  }

  private func shutDown(_ how: Int) {
    isOpen.withLock { if $0 { shutdown(socket.descriptor, Int32(how)) } }
  }

  private func end(_ error: RemoteError) {
    let askers = state.withLock { state in
      state.end = state.end ?? error
      defer { state.askers = [:] }
      return state.askers.values
    }
    for asker in askers { asker.give(.failure(error)) }
  }
}
