// SPDX-License-Identifier: Apache-2.0
//
// The place outside of this machine where a coffer's account is.

internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Syncing
internal import Texts

struct RemoteCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "remote", abstract: "Several devices, and a copy outside of this one.",
    subcommands: [
      RemoteAddCommand.self, RemoteShowCommand.self, RemoteCheckCommand.self, RemoteCardCommand.self,
      RemoteVerifyCommand.self, RemoteSweepCommand.self, RemoteForgetCommand.self, RemotePolicyCommand.self,
      RemoteRestoreCommand.self, RemoteJoinCommand.self, RemoteMoveCommand.self, RemoteDestroyCommand.self,
    ])
  static let page = """
    coffer remote: the place where several devices meet, and where your messages are if this one is lost

    usage: coffer remote add [folder:///PATH]
           coffer remote show | check | card | verify | sweep | move
           coffer remote forget | destroy
           coffer remote policy postgresql | s3 BUCKET[/PREFIX]
           coffer remote restore | join

    What is there is sealed: who has the place, or looks into it, learns neither your messages nor their
    titles, nor how the devices are called.

    example: coffer remote add folder:///media/stick/coffer
    """
}

struct RemoteShowCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show where the account of this coffer is.")
  static let page = """
    coffer remote show: show where the account of this coffer is, and what this device is called there

    usage: coffer remote show \(OpeningOptions.usage)

    Asks the place nothing, and shows no secret.

    example: coffer remote show
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let place: String
    let account: String
    let device: String
    let lastComplete: String?
  }

  func execute(_ context: CommandContext) throws {
    let account = try OpenAccount(context.open(opening))
    let last = try account.synchronizer.status().lastComplete
    let (place, name) = ("\(account.place)", account.deviceName)
    let id = account.synchronizer.accountName
    if context.isJSON {
      return JSON.print(
        Answer(place: place, account: id, device: name, lastComplete: last.map { RFC3339.format($0) }))
    }
    Terminal.print("place      \(place)")
    Terminal.print("account    \(id)")
    Terminal.print("device     \(name)")
    Terminal.print("last sync  \(last.map { LocalTime.shown($0) } ?? "never complete: run 'coffer sync'")")
  }
}

struct RemoteForgetCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Forget the account; nothing is deleted.")
  static let page = """
    coffer remote forget: forget the account of this coffer, and this device's keys in it

    usage: coffer remote forget [--yes]
                                \(OpeningOptions.usage)

    Your messages stay here, and what is at the place stays there. What waits to be sent is not sent. To come
    back, you need the card: print it first with 'coffer remote card'.

      --yes  do not ask

    example: coffer remote forget
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Do not ask.") var yes = false

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    // Also an account that is damaged can be forgotten.
    guard try coffer.account.exists() else { throw SyncError.noAccount }
    let awayCount = try coffer.captures.listing().captures.count { !$0.isWhole }
    if awayCount > 0 {
      context.remark(
        "\(awayCount.counted("capture is", "captures are")) not on this device, and only its card leads back there. 'coffer capture keep --all' gets them."
      )
    }
    if !yes {
      try context.insist(
        "Forget the account? Without its card this coffer cannot join it again.",
        otherwise: "the account was not forgotten")
    }
    try coffer.account.forget()
    coffer.noteAccountChange(.accountForgotten)
    if context.isJSON { return JSON.print(["remote": "forgotten"]) }
    context.remark("The account is forgotten. Your messages are here, and what is at the place stays there.")
    context.remark("Other devices still list this one.")
  }
}
