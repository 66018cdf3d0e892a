// SPDX-License-Identifier: Apache-2.0
//
// One run of the tutorial: chapters, lines that are typed, and what is said to them.

internal import CofferKit
internal import Primitives
internal import Secrets
internal import UserAuthentication

/// The tutorial from a chapter on.
struct TutorialSession {
  /// How it ended.
  enum Outcome {
    /// With the last chapter, and nothing was skipped.
    case completed
    /// With the last chapter.
    case ended
    /// By `quit`, Control-C or Control-D.
    case left
  }

  private enum StepOutcome { case done, skip, quit }

  /// What a line has done.
  private enum LineOutcome {
    /// What was to be done.
    case done
    /// Something else that is allowed, such as a look at a list.
    case aside
    /// Nothing, or not as it should.
    case wrong
  }

  private let world: TutorialWorld
  private let pace: TutorialPace?
  /// Is shown the coffer after each chapter: for tests.
  private let watch: ((InMemoryCoffer) throws -> Void)?

  /// So many lines that do not do it show the one that does.
  private static let tries = 3

  init(_ pace: TutorialPace?, watching watch: ((InMemoryCoffer) throws -> Void)? = nil) throws {
    self.pace = pace
    self.watch = watch
    world = try TutorialWorld(TutorialSurroundings(TutorialPrompt(pace)))
  }

  /// Runs the chapters from this one on; what the earlier ones leave is there.
  func run(from first: Int) throws -> Outcome {
    try CommandSurroundings.$ofRun.withValue(world.surroundings) { try runChapters(from: first) }
  }

  /// The same without a word on the screen.
  func runSilently(from first: Int) throws -> Outcome {
    try world.surroundings.silently { try run(from: first) }
  }

  private func runChapters(from first: Int) throws -> Outcome {
    let chapters = TutorialChapter.all
    if first == 0 {
      head(0, "nothing here is real", of: chapters.count)
      say(TutorialChapter.sandbox)
      guard try pace != nil || typed("Return begins") != nil else { return leave() }
    }
    for chapter in chapters.prefix(max(0, first - 1)) { try goThrough(chapter.steps) }
    var hasSkipped = first > 1
    for (index, chapter) in chapters.enumerated().dropFirst(max(0, first - 1)) {
      head(index + 1, chapter.title, of: chapters.count)
      say(chapter.words)
      chapter: for (place, step) in chapter.steps.enumerated() {
        switch try take(step, after: place == 0 ? chapter.words : chapter.steps[place - 1].end(world)) {
        case .done:
          Terminal.print()
          say(step.end(world))
        case .skip:
          try goThrough(Array(chapter.steps[place...]))
          Terminal.print("What later chapters need of this one is done for you.")
          hasSkipped = true
          break chapter
        case .quit: return leave(chapter: index + 1)
        }
      }
      try watch?(world.surroundings.practiceCoffer)
    }
    Terminal.print()
    say(TutorialChapter.farewell)
    return hasSkipped ? .ended : .completed
  }

  private func leave(chapter: Int = 1) -> Outcome {
    Terminal.print("You have left the tutorial. Nothing of it stays.")
    if chapter > 1 { Terminal.print("To go on here: coffer tutorial --chapter \(chapter)") }
    return .left
  }

  // MARK: A task

  /// - Parameter introduction: what was said last, which the task refers to.
  private func take(_ step: TutorialStep, after introduction: [ShownLine]) throws -> StepOutcome {
    try step.begin(world)
    say(step.words, isTask: true)
    if let pace {
      guard !Interruption.isRequested else { return .quit }
      world.surroundings.prompt.show(Self.request, step.line)
      guard case .done = try perform(step, step.line) else { throw Failure(unsorted: "TutorialStep") }
      pace.read(Self.lineWidth)
      return Interruption.isRequested ? .quit : .done
    }
    var wrong = 0
    while true {
      guard let line = try typed(nil), !Interruption.isRequested else { return .quit }
      switch line.trimmingBlanks() {
      case "": continue
      case "quit", "exit": return .quit
      case "skip": return .skip
      case "again":
        Terminal.print()
        say(introduction)
        say(step.words, isTask: true)
        continue
      case "hint": showLine(step)
      default:
        switch try perform(step, line) {
        case .done: return .done
        case .aside: continue
        case .wrong:
          wrong += 1
          if wrong.isMultiple(of: Self.tries) { showLine(step) }
        }
      }
    }
  }

  private func showLine(_ step: TutorialStep) { Terminal.print("Type:  \(step.line)") }

  /// Runs a line.
  private func perform(_ step: TutorialStep, _ text: String) throws -> LineOutcome {
    let line: ArgumentOrder.Sorted
    do { line = ArgumentOrder.sorted(try TutorialLine(text).words, root: TutorialRoot.self) } catch {
      CofferMain.tell(Failure(error), isJSON: false)
      return .wrong
    }
    let prompt = world.surroundings.prompt
    prompt.prepare(choices: step.choices)
    let exit = prompt.hearing(step.hasTelephone ? world.telephone : nil) {
      CofferMain.perform(line, root: TutorialRoot.self)
    }
    Terminal.flush()
    if step.isDone(line.words, line.rest, exit) { return .done }
    return exit == .done ? .aside : .wrong
  }

  /// Does what later chapters need, without a word.
  private func goThrough(_ steps: [TutorialStep]) throws {
    try world.surroundings.silently {
      try world.surroundings.prompt.answering {
        for step in steps {
          try step.begin(world)
          guard step.isNeeded else { continue }
          _ = try perform(step, step.line)
        }
      }
    }
  }

  // MARK: The screen

  private static var request: PromptRequest {
    var request = PromptRequest("coffer", isShown: true)
    request.ending = "> "
    return request
  }

  /// A line; nil when the user leaves, or the terminal is gone.
  /// - Throws: what else can go wrong with a terminal.
  private func typed(_ words: String?) throws -> String? {
    var request = Self.request
    if let words { (request.prompt, request.ending) = (words, " ") }
    while true {
      do throws(PromptError) {
        let bytes = try TerminalPrompt(on: CommandRun.current.environment.promptTerminal).ask(request)
        return bytes.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
      } catch .cancelled, .noTerminal {
        return nil
      } catch .tooLong {
        request.problem = "this line is too long"
      }
    }
  }

  private func head(_ number: Int, _ title: String, of count: Int) {
    let place = number == 0 ? "" : "\(number) of \(count): "
    let rule = String(repeating: "─", count: max(3, Self.lineWidth - place.count - title.count - 4))
    Terminal.print()
    Terminal.print(Terminal.bold("── \(place)\(title) \(rule)"))
  }

  private static let lineWidth = 78

  private func say(_ lines: [ShownLine], isTask: Bool = false) {
    if isTask { Terminal.print() }
    for line in lines {
      Terminal.print(line)
      pace?.read(line.text.count)
    }
  }
}
