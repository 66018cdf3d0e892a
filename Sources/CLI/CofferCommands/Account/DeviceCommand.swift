// SPDX-License-Identifier: Apache-2.0
//
// The devices of an account, as their user sees them.

internal import ArgumentParser
internal import CofferKit
internal import Histories
internal import Primitives
internal import Syncing
internal import Texts

struct DeviceCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "device", abstract: "The devices of your account.",
    subcommands: [
      DeviceListCommand.self, DeviceApproveCommand.self, DeviceRevokeCommand.self, DeviceRejoinCommand.self,
      DeviceConfirmCommand.self,
    ])
  static let page = """
    coffer device: the devices that have your messages

    usage: coffer device list
           coffer device approve [DEVICE]
           coffer device revoke | confirm DEVICE
           coffer device rejoin

    DEVICE is a name, or the beginning of an identifier, as the list shows them.

    example: coffer device list
    """
}

struct DeviceListCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the devices of the account.")
  static let page = """
    coffer device list: list the devices of the account, as this one knows them

    usage: coffer device list \(OpeningOptions.usage)

    Shows what each is called, the beginning of its identifier, and when this device has heard of it last.
    Asks the place nothing: 'coffer sync' gets the news.

    example: coffer device list
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let devices: [DeviceAnswer]
  }

  func execute(_ context: CommandContext) throws {
    let devices = try OpenAccount(context.open(opening)).synchronizer.devices
    if context.isJSON { return JSON.print(Answer(devices: devices.map(DeviceAnswer.init))) }
    for device in devices { Terminal.print("\(device.id.short)  \(SyncStatusView.words(device))") }
  }
}

struct DeviceConfirmCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "confirm", abstract: "Believe what a device removed, although it was much at once.")
  static let page = """
    coffer device confirm: believe what a device removed or replaced, although it was much at once

    usage: coffer device confirm DEVICE
                                 \(OpeningOptions.usage)

    If one device removes or replaces more than a hundred messages of others and a tenth of all within a day,
    nothing of it happens here until you say so.

    example: coffer device confirm laptop
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "Its name, or the beginning of its identifier.") var device: String

  func execute(_ context: CommandContext) throws {
    let account = try OpenAccount(context.open(opening))
    let chosen = try DeviceChoice(account.synchronizer.devices).device(device)
    try account.synchronizer.confirm(chosen.id)
    let held = chosen.heldCount
    if held > 0 { account.coffer.noteAccountChange(.removalsConfirmed) }
    if context.isJSON { return JSON.print(["confirmed": Hexadecimal.text(chosen.id.bytes)]) }
    context.remark(
      held == 0
        ? "Nothing of '\(chosen.name)' was held."
        : "What '\(chosen.name)' removed and replaced is so here, too.")
  }
}

/// Finds the device that a user means.
struct DeviceChoice {
  private let devices: [DeviceView]

  init(_ devices: [DeviceView]) { self.devices = devices }

  /// - Throws: a failure when none or several have that name, or an identifier that begins so.
  func device(_ text: String) throws -> DeviceView {
    // A device that rejoined has the name of the one that it was.
    var named = devices.filter { $0.name == text }
    if named.count > 1, named.contains(where: { !$0.isRevoked }) { named.removeAll(where: \.isRevoked) }
    // Nobody hides behind a name that looks like the identifier of another device.
    let found =
      named
      + devices.filter { device in
        device.id.begins(with: text) && !named.contains { $0.id == device.id }
      }
    if found.count == 1 { return found[0] }
    guard found.isEmpty else {
      throw Failure(
        .missing, "several_devices", "\(found.count) devices are called that",
        hint:
          "take the whole identifier: \(found.map { Hexadecimal.text($0.id.bytes) }.joined(separator: ", "))")
    }
    throw Failure(
      .missing, "no_such_device", "no device of the account is called that",
      hint: "'coffer device list' shows them")
  }
}

/// A device in JSON, in whatever answer.
struct DeviceAnswer: Encodable {
  let id: String
  let name: String
  let isThisDevice: Bool
  let isRevoked: Bool
  /// Whether its keys are in a chip.
  let hasChip: Bool
  let lastNews: String?
  let held: Int

  init(_ device: DeviceView) {
    id = Hexadecimal.text(device.id.bytes)
    name = device.name
    isThisDevice = device.isThisDevice
    isRevoked = device.isRevoked
    hasChip = device.level == 1
    lastNews = device.lastNews.map { RFC3339.format(Int64(clamping: $0)) }
    held = device.heldCount
  }
}

extension Identifier {
  /// Its beginning, as lists of devices and slots show it.
  var short: String { String(Hexadecimal.text(bytes).prefix(8)) }

  /// Whether a user means it who wrote its first digits, four at least.
  func begins(with digits: String) -> Bool {
    digits.count >= 4 && Hexadecimal.text(bytes).hasPrefix(digits.lowercased())
  }
}
