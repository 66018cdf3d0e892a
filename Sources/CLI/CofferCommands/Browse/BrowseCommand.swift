// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit

struct BrowseCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "List, search and read messages on the whole screen.")
  static let page = """
    coffer browse: list, search and read messages on the whole screen

    usage: coffer browse \(OpeningOptions.usage)

    Shows the list that 'coffer message list' prints. Arrow and page keys move, Enter reads, Esc goes back, /
    searches, ? shows all keys, q ends. What is shown is on the terminal's second screen, so none of it stays
    in the scrollback. It ends with the session, or without one after as long without a key (lock-after).

    example: coffer browse
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ context: CommandContext) throws {
    guard !context.isJSON else {
      throw Failure.usage("browse is for people and takes no --json", hint: "coffer message list --json")
    }
    guard context.hasTerminal, !Terminal.isDumb else {
      throw Failure(
        .locked, "no_prompt", "there is no terminal with a second screen to browse on",
        hint: "coffer message list")
    }
    let coffer = try context.open(opening)
    var session = BrowseSession(coffer, context, try BrowseWatch(coffer, context))
    try session.run()
  }
}
