// SPDX-License-Identifier: Apache-2.0
//
// How a session begins: by `coffer unlock`, or because the first command of a terminal that asked for the passphrase
// has offered it.

internal import Agent
internal import CofferKit
internal import Secrets
internal import UserAuthentication

/// A session that has begun.
struct SessionBeginning {
  let idleSeconds: Int
  let absoluteSeconds: Int
  /// The machine, if it was registered just now.
  let registered: Device?

  /// Gives the keys of a coffer, which a slot has opened, to its agent.
  /// - Parameter limits: of this session alone.
  /// - Throws: as `Coffer.beginSession`.
  init(_ coffer: Coffer, _ limits: SessionLimits, _ context: CommandContext) throws {
    (idleSeconds, absoluteSeconds) = try coffer.beginSession(
      executable: CommandRun.current.environment.executable, limits: limits)
    // Without protected data there is no grace period, which only means that private parts ask.
    if (try? coffer.unlockProtectedData()) != nil { coffer.beginGrace() }
    registered = Self.register(coffer, context)
  }

  /// Registers a machine that was forgotten. Messages do not need that, so a failure is only a remark.
  private static func register(_ coffer: Coffer, _ context: CommandContext) -> Device? {
    do { return try coffer.registerDeviceIfForgotten() } catch {
      context.remark("This machine could not be registered to sign captures: \(Failure(error).message).")
      return nil
    }
  }

  /// After how long it ends, such as "5 min without a command".
  var time: String {
    idleSeconds < absoluteSeconds
      ? "\(Duration.text(idleSeconds)) without a command" : Duration.text(absoluteSeconds)
  }

  /// Offers a session on the terminal, once for each session of terminals. After a no it names the command.
  ///
  /// With pinentry the question is not asked, and the command alone is named.
  /// - Parameter coffer: was opened by asking.
  /// - Throws: `PromptError.cancelled`.
  static func offer(_ coffer: Coffer, _ context: CommandContext) throws {
    guard Terminal.isErrorTerminal, !context.isQuiet, !context.isJSON,
      CommandSurroundings.current.sessionHint(home: context.home)?.isFirst() == true
    else { return }
    let set = try coffer.settings().limits
    let idle = set.idleSeconds ?? AgentOptions().idleLimitSeconds
    let absolute = set.absoluteSeconds ?? AgentOptions().absoluteLimitSeconds
    let time =
      idle < absolute
      ? "until \(Duration.text(idle)) pass without a command" : "for \(Duration.text(absolute))"
    guard CommandSurroundings.current.pinentry == nil,
      try context.confirm("Keep the coffer open \(time)?")
    else { return context.remark("To be asked only once: coffer unlock") }
    do {
      let session = try SessionBeginning(coffer, SessionLimits(), context)
      if let registered = session.registered { context.remark("\(registered.remark)") }
      context.remark("It is open; 'coffer lock' ends that.")
    } catch {
      // The command itself needs no session.
      context.remark("No session could begin: \(Failure(error).message).")
    }
  }
}
