// SPDX-License-Identifier: Apache-2.0
//
// The agent from its start to its end. `run` is for a process of its own, which it changes for good;
// `Listening` is what a test can have in its own process too.

internal import CSystem
internal import Glibc

/// The process that holds the class keys of an unlocked coffer (Specs/agent.md).
public enum AgentServer {
  /// Protects this process, listens, and answers until logout or a signal. Call it before any thread is
  /// started: it blocks signals, closes inherited descriptors and changes to `/`.
  ///
  /// - Parameters:
  ///   - home: the coffer's folder, which must be there.
  ///   - options: limits and kinds of memory; checked first.
  ///   - onReady: is called when clients can connect.
  /// - Throws: `AgentError.alreadyServed` when another agent serves this home; `.noHome`,
  ///   `.noRuntimeDirectory`, `.pathTooLong`, `.limitOutOfBounds`, `.noLockedMemory`, `.unprotected`,
  ///   `.system`.
  public static func run(
    home: String, options: AgentOptions = AgentOptions(), onReady: () -> Void = {}
  ) throws(AgentError) {
    try options.check()
    let ready = ReadyDescriptor(options.readyDescriptor)
    try protect(keeping: options.readyDescriptor ?? -1)
    let signals = coffer_ending_signals()
    guard signals >= 0 else { throw .system(errno) }
    defer { close(signals) }
    let place = try AgentPlace(home: home)
    guard unsafe chdir("/") == 0 else { throw .system(errno) }
    let listening: Listening
    do throws(AgentError) { listening = try Listening(place) } catch {
      if error == .alreadyServed { ready.tell(ReadyDescriptor.served) }
      throw error
    }
    let holder = KeyHolder(
      page: try KeyPage(ordinary: options.usesOrdinaryMemory), clock: try BootClock(), options: options)
    let loop = AgentLoop(
      listener: listening.descriptor, signals: signals, holder: holder,
      watchesPressure: options.locksOnMemoryPressure, connectWatch: connectWatch)
    ready.tell(ReadyDescriptor.listening)
    onReady()
    loop.run()
    listening.end()
    loop.sayFarewell()
  }

  private static func connectWatch() -> (any SessionWatch)? {
    #if Logind
      return LogindWatch()
    #else
      return nil
    #endif
  }

  /// The conditions that must hold before a secret is received.
  private static func protect(keeping kept: Int32) throws(AgentError) {
    guard coffer_make_undumpable() == 0, coffer_is_dumpable() == 0, coffer_refuse_privileges() == 0,
      coffer_close_descriptors(3, kept) == 0
    else { throw .unprotected }
    umask(0o077)
    // The reader of the ready byte or of our output may be gone.
    signal(SIGPIPE, SIG_IGN)
  }

  /// The lock on a place and the socket that listens there; both go with the value.
  struct Listening: ~Copyable {
    let descriptor: Int32
    private let lock: Int32
    private let socket: String

    /// - Throws: `AgentError.alreadyServed`, `.pathTooLong`, `.system`.
    init(_ place: AgentPlace) throws(AgentError) {
      let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
      let lock = unsafe open(place.lock, flags, 0o600)
      guard lock >= 0 else { throw .system(errno) }
      do throws(AgentError) {
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
          throw errno == EWOULDBLOCK ? .alreadyServed : .system(errno)
        }
        descriptor = try Self.bound(place.socket)
      } catch {
        close(lock)
        throw error
      }
      self.lock = lock
      socket = place.socket
    }

    /// Closes the socket, so that another agent can use the place.
    consuming func end() {}

    deinit {
      // The lock goes last: until then nobody else binds here.
      unsafe unlink(socket)
      close(descriptor)
      close(lock)
    }

    private static func bound(_ path: String) throws(AgentError) -> Int32 {
      let made = try PacketSocket()
      // The process that bound this has ended: we have the lock.
      unsafe unlink(path)
      let number = made.descriptor
      let result = unsafe try PacketSocket.withAddress(path) { address, length in
        unsafe bind(number, address, length)
      }
      guard result == 0, unsafe chmod(path, 0o600) == 0, listen(number, Int32(AgentLoop.connectionLimit)) == 0
      else {
        throw .system(errno)
      }
      return made.released()
    }
  }
}

/// The descriptor on which the starter of the agent waits for a byte; closed when it was written, or when the
/// value is dropped.
struct ReadyDescriptor: ~Copyable {
  static let listening: UInt8 = 1
  static let served: UInt8 = 2
  private let descriptor: Int32?

  init(_ descriptor: Int32?) { self.descriptor = descriptor }

  deinit { if let descriptor { close(descriptor) } }

  consuming func tell(_ byte: UInt8) {
    guard let descriptor else { return }
    var byte = byte
    unsafe write(descriptor, &byte, 1)
  }
}
