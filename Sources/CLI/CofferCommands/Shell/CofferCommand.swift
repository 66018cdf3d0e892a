// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Storage

/// A command with a help page that is written by hand and ends in an example.
protocol HelpPage: ParsableCommand {
  static var page: String { get }
  /// Whether the page, as it is shown, names the options that every command takes.
  static var namesCommonOptions: Bool { get }
}

extension HelpPage {
  static var namesCommonOptions: Bool { self is any CofferCommand.Type }

  /// The page as it is shown, with the options that every command takes before the example.
  static var help: String {
    guard namesCommonOptions, let example = page.ranges(of: "\n\nexample: ").last else {
      return page
    }
    return page[..<example.lowerBound] + "\n\n\(commonOptions)" + page[example.lowerBound...]
  }

  private static var commonOptions: String {
    "--home, --json, --quiet, and ways to give a passphrase or PIN: coffer --help"
  }
}

/// A command that does something.
protocol CofferCommand: HelpPage {
  var global: GlobalOptions { get }
  func execute(_ context: CommandContext) throws
}

extension CofferCommand {
  func run() throws {
    let context = CommandContext(global)
    // Whatever became of it, what is stored is indexed: it was acknowledged before.
    defer { context.updateIndexes() }
    // Errors and remarks follow what the pager shows.
    defer { Terminal.endPaging() }
    do { try execute(context) } catch let error as StorageError {
      throw Failure(error, home: context.home, isChosen: context.isHomeChosen)
    }
  }
}

/// A command that searches: an argument that begins with a hyphen is excluded, and not an option.
protocol SearchingCommand: CofferCommand {}

/// A command that only contains other commands.
protocol CommandGroup: HelpPage {}

extension CommandGroup {
  func run() throws { throw Failure.usage("missing command", hint: "coffer --help") }
}
