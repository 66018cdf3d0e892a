// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit

struct TutorialCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "tutorial", abstract: "Learn Coffer in ten minutes.")
  static let page = """
    coffer tutorial: learn Coffer in ten minutes, with real commands; nothing is real, and nothing stays

    usage: coffer tutorial [--chapter N]
           coffer tutorial --play [--speed X] [--chapter N]

    Needs no coffer and touches none: identities, contacts, letters and files are in memory and end with it.
    In it, 'hint' says what to type, 'again' repeats the task, 'skip' does the rest of a chapter, and 'quit',
    Control-C or Control-D leave.

      --chapter  begin with this chapter: 1 your identity, 2 a friend, 3 a letter, 4 four answers, 5 is it
                 Bella?, 6 a new key, 7 face to face, 8 backup, loss, return, 9 high security,
                 10 this machine
      --play     type by itself, to be watched; needs no terminal
      --speed    of --play: 2 is twice as fast, 0 without pauses

    Once you have gone through all of it, 'coffer status' mentions it no more. That is noted only if a
    session of your coffer is open at the end.

    example: coffer tutorial
    """

  @OptionGroup var global: GlobalOptions
  @Option(help: "Begin with this chapter.") var chapter = 0
  @Flag(help: "Type by itself.") var play = false
  @Option(help: "How fast it plays; 0 without pauses.") var speed: Double?

  func validate() throws {
    guard (0...TutorialChapter.all.count).contains(chapter) else {
      throw ValidationError("there is no chapter \(chapter); the last is \(TutorialChapter.all.count)")
    }
    guard play || speed == nil else { throw ValidationError("--speed goes with --play") }
    if let speed, !(0...100).contains(speed) { throw ValidationError("--speed is from 0 to 100") }
  }

  func execute(_ context: CommandContext) throws {
    guard !context.isJSON else { throw Failure.usage("the tutorial has no answer for programs") }
    guard play || context.hasTerminal && Terminal.isOutputTerminal else {
      throw Failure(
        .locked, "no_prompt", "the tutorial needs a terminal", hint: "coffer tutorial --play types by itself")
    }
    let outcome = try TutorialSession(play ? TutorialPace(speed: speed ?? 1) : nil).run(from: chapter)
    // Only now, with everything of the tutorial gone.
    if outcome == .completed, !play { note(context) }
  }

  /// Notes that it was completed, if the user's coffer is open anyway. Nothing is asked, and a coffer without an agent
  /// is not even looked at.
  private func note(_ context: CommandContext) {
    guard
      AgentSession.mayBeThere(
        home: context.home, variables: context.machine.agentVariables)
    else { return }
    do { try context.openInSession()?.noteTutorialCompleted() } catch {
      context.remark("That you have done it could not be noted: \(Failure(error).message).")
    }
  }
}
