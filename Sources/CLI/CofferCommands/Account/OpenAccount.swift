// SPDX-License-Identifier: Apache-2.0
//
// A coffer with its account, open, and how a run of it is shown.

internal import CofferKit
internal import Couriers
internal import Foundation
internal import Glibc
internal import Histories
internal import Remotes
internal import Synchronization
internal import Syncing

struct OpenAccount {
  let coffer: Coffer
  let synchronizer: Synchronizer
  let place: RemotePlace

  /// - Throws: `SyncError.noAccount`.
  init(_ coffer: Coffer) throws { try self.init(coffer, coffer.account.open()) }

  /// An account that was just made or joined.
  init(_ coffer: Coffer, _ synchronizer: Synchronizer) throws {
    self.coffer = coffer
    self.synchronizer = synchronizer
    place = try coffer.account.place()
    synchronizer.changed = { change in
      if let event = AuditLog.Event(change) { coffer.noteAccountChange(event) }
    }
  }

  /// Runs, with a progress bar; the first signal stops it between two requests.
  func run(
    _ title: String, _ purpose: Purpose, _ context: CommandContext,
    limits: CourierRemote.Limits = CourierRemote.Limits()
  ) throws -> SyncReport {
    let remote = try place.reached(limits: limits)
    return try Self.watching(title, context) { goesOn in
      try synchronizer.run(purpose, at: remote, progress: goesOn)
    }
  }

  /// Whether a secret opens the account. What is new is got first: another device may have changed what opens it.
  func opens(with secret: AccountSecret) throws -> Bool {
    let remote = try place.reached()
    // Whoever was asked for the secret may be asked again.
    defer { Interruption.restore() }
    if try synchronizer.opens(with: secret, at: remote) { return true }
    // Such a device does not hear which slots there are now.
    guard !synchronizer.isMember || synchronizer.needsSlot else { return false }
    return try synchronizer.opensSlot(with: secret, at: remote)
  }

  /// Does long work at the remote with a progress bar.
  /// - Parameter work: gets what is to be called after each request; false stops it.
  static func watching<R>(
    _ title: String, _ context: CommandContext, _ work: (@escaping (SyncReport) -> Bool) throws -> R
  ) throws -> R {
    do {
      return try showing(title, context) {
        let surroundings = CommandSurroundings.current
        // Threads that wait for a service call it.
        return try work { report in
          surroundings.here { goesOn(bytes: report.byteCount, of: report.expectedByteCount) }
        }
      }
    } catch SyncError.remote where Interruption.isRequested {
      // Nobody waited for the answer.
      throw SyncError.stopped
    }
  }

  /// Does long work at a place with a progress bar, which ``goesOn(bytes:of:)`` moves.
  static func showing<R>(_ title: String, _ context: CommandContext, _ work: () throws -> R) rethrows -> R {
    Interruption.catchOnce()
    let bar = ProgressBar(title, isQuiet: context.isQuiet || context.isJSON)
    let run = CommandRun.current
    run.barOfWork.withLock { $0 = bar }
    defer {
      run.barOfWork.withLock {
        $0?.finish()
        $0 = nil
      }
    }
    return try work()
  }

  /// To be called after each request.
  /// - Parameter total: nil while nothing is known of it.
  /// - Returns: whether the user let it go on.
  static func goesOn(bytes done: Int, of total: Int?) -> Bool {
    CommandRun.current.barOfWork.withLock { $0?.update(bytes: done, of: total) }
    return !Interruption.isRequested
  }

  /// This device's name in the account.
  var deviceName: String { synchronizer.devices.first { $0.isThisDevice }?.name ?? "" }
}

extension AuditLog.Event {
  /// Nil for what nobody decides: keys that are handed out.
  fileprivate init?(_ change: AccountChange) {
    switch change {
    case .approve: self = .deviceApproved
    case .revoke: self = .deviceRevoked
    case .rejoin: self = .deviceRejoined
    case .addSlot, .replaceSlots: self = .accountSecretsChanged
    case .settle: self = .accountSettled
    case .handOutKeys: return nil
    }
  }
}

extension RemotePlace {
  /// The remote at this place. After Control-C, nobody waits for a service that does not answer: from here on, the first
  /// signal is a request.
  func reached(limits: CourierRemote.Limits = CourierRemote.Limits()) throws(RemoteError) -> any Remote {
    if case .folder = self {} else { Interruption.catchOnce() }
    var limits = limits
    limits.executable = CommandRun.current.environment.executable
    let surroundings = CommandSurroundings.current
    limits.isCancelled = {
      surroundings.here {
        surroundings.run.barOfWork.withLock { $0?.wait() }
        return Interruption.isRequested
      }
    }
    return try open(limits: limits)
  }
}

extension CommandContext {
  /// Asks what `--yes` answers.
  /// - Parameter otherwise: what to say after a no.
  /// - Throws: a failure after a no, and where nobody can be asked.
  func insist(_ question: String, otherwise: String) throws {
    guard hasTerminal else {
      throw Failure(
        .locked, "no_prompt", "this asks a question, and there is no terminal to ask on", hint: "add --yes")
    }
    guard try confirm(question) else { throw Failure(.refused, "cancelled", otherwise) }
  }
}

/// The name of a device, for lists.
enum DeviceName {
  /// What was given, else the host's name.
  static func checked(_ given: String?) throws -> String {
    guard let given else { return host }
    guard !given.isEmpty, DeviceEntry.isName(given) else {
      throw Failure.usage("--name: a device's name has 1 to 64 bytes and no control characters")
    }
    return given
  }

  private static var host: String {
    var name = [UInt8](repeating: 0, count: 256)
    let code: Int32 = unsafe name.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return -1 }
      return unsafe gethostname(start.assumingMemoryBound(to: CChar.self), bytes.count - 1)
    }
    let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    return code == 0 && !text.isEmpty && DeviceEntry.isName(text) ? text : "device"
  }
}
