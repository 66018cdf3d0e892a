// SPDX-License-Identifier: Apache-2.0
//
// What users do in a scenario, drawn from a seed. Devices and choices are numbers, taken modulo what there is.

import Histories
import SeededGenerators

/// Where a place fails: it answers so many requests, and of the next says nothing, whether it carries that out or not.
struct PlaceFailure: Hashable {
  let after: Int
  let carriesLastOut: Bool
}

/// One thing that happens to a coffer of the account.
enum AccountDeed: Hashable {
  case add, edit(Int), remove(Int), putBack(Int)
  case takeCapture, relabel(Int), removeCapture(Int), keep, release(Int)
  case rotateVaultKey
  /// A run, at a place that fails or not.
  case run(Purpose, PlaceFailure?)
  /// A run whose process is killed after so many answers.
  case kill(after: Int)
  case save, putBackDisk
  /// Its disk is copied, and both go on.
  case copyDisk
  /// The place is as it was when it was backed up last.
  case backUpPlace, restorePlace
  /// What the device asks for is done.
  case attend
  /// Another coffer asks to be let in, and this one approves it.
  case approve(PlaceFailure?)
  /// A new coffer is made from the card and the words.
  case restore
  case revoke(Int, PlaceFailure?)
  case changePassphrase(PlaceFailure?), changeCard(PlaceFailure?)
  case sweep
  case pass(days: Int)

  static func drawn(_ generator: inout SeededGenerator) -> (device: Int, deed: AccountDeed) {
    let device = Int.random(in: 0..<12, using: &generator)
    let choice = Int.random(in: 0..<1_000, using: &generator)
    let failure: PlaceFailure? =
      Int.random(in: 0..<3, using: &generator) == 0
      ? PlaceFailure(
        after: Int.random(in: 0..<24, using: &generator), carriesLastOut: Bool.random(using: &generator))
      : nil
    let deed: AccountDeed =
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<14: .add
      case 14..<22: .edit(choice)
      case 22..<26: .remove(choice)
      case 26..<28: .putBack(choice)
      case 28..<32: .takeCapture
      case 32..<34: .relabel(choice)
      case 34..<35: .removeCapture(choice)
      case 35..<37: .keep
      case 37..<39: .release(choice)
      case 39..<41: .rotateVaultKey
      case 41..<60: .run(choice % 8 == 0 ? .verify : .sync, failure)
      case 60..<65: .kill(after: choice % 30)
      case 65..<67: .save
      case 67..<68: .putBackDisk
      case 68..<69: choice % 2 == 0 ? .copyDisk : choice % 4 == 1 ? .backUpPlace : .restorePlace
      case 69..<77: .attend
      case 77..<82: .approve(failure)
      case 82..<84: .restore
      case 84..<88: .revoke(choice, failure)
      case 88..<92: .changePassphrase(failure)
      case 92..<94: .changeCard(failure)
      case 94..<96: .sweep
      default: .pass(days: 1 + choice % 40)
      }
    return (device, deed)
  }
}
