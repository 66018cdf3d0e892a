// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Storage

/// A command with a help page that is written by hand and ends in an example.
protocol HelpPage: ParsableCommand {
  static var page: String { get }
}

/// A command that does something.
protocol CofferCommand: HelpPage {
  var global: GlobalOptions { get }
  func execute(_ context: CommandContext) throws
}

extension CofferCommand {
  func run() throws {
    let context = CommandContext(global)
    // Errors and remarks follow what the pager shows.
    defer { Terminal.endPaging() }
    do { try execute(context) } catch let error as StorageError {
      throw Failure(error, home: context.home)
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
