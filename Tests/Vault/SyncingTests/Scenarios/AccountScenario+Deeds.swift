// SPDX-License-Identifier: Apache-2.0

import Captures
import CofferKit
import Enclaves
import Histories
import Remotes
import Secrets
import TemporaryHomes
import Testing
import Vaults

@testable import Syncing

extension AccountScenario {
  mutating func perform(_ deed: AccountDeed, on device: Int) throws {
    switch deed {
    case .add:
      let text = newNote()
      let id = try coffer(device).add(text, title: text + "-title", tags: [text + "-tag"])
      notes[text] = ScenarioNote(device: device, record: id)
    case .edit(let choice):
      guard let id = try message(choice, on: device) else { return }
      // A new text replaces all that are here, also one that lost against another.
      for former in try coffer(device).history(id) { notes[former]?.isGone = true }
      let text = newNote()
      try coffer(device).edit(id, text)
      notes[text] = ScenarioNote(device: device, record: id)
    case .remove(let choice):
      guard let id = try message(choice, on: device) else { return }
      noteGone { $0.record == id }
      try coffer(device).coffer.removeMessage(id)
    case .putBack(let choice):
      let trash = try coffer(device).trash().sorted {
        $0.withBytes { [UInt8](copying: $0) }.lexicographicallyPrecedes($1.withBytes { [UInt8](copying: $0) })
      }
      if !trash.isEmpty { try coffer(device).coffer.putBackMessage(trash[choice % trash.count]) }
    case .takeCapture:
      let title = newNote()
      let id = try coffer(device).take(photoByteCount: 30_000, title: title)
      notes[title] = ScenarioNote(device: device, record: id, isCapture: true)
    case .relabel, .removeCapture, .keep, .release: try performOnCapture(deed, on: device)
    case .rotateVaultKey: _ = try coffer(device).coffer.rotateVaultKey { _ in true }
    case .run(let purpose, let failure): try run(device, purpose, failure: failure)
    case .kill(let count): try kill(device, after: count)
    case .save:
      devices[device].saved = (try copy(of: device), Set(notes.filter { $0.value.device == device }.keys))
    case .putBackDisk: try putBackDisk(device)
    case .copyDisk:
      guard devices.count < Self.deviceLimit else { return }
      let copy = try SyncedCoffer(opening: copy(of: device), clock: clock.clock)
      devices.append(ScenarioDevice(coffer: copy))
    case .backUpPlace: backup = remote.objects
    case .restorePlace:
      guard let backup else { return }
      remote.putBack(backup)
      wasPlaceRestored = true
      // What only the place had is gone: of devices that are gone, or that forgot it.
      forget { [devices] note in devices[note.device].isLost || devices[note.device].wasPutBack }
    case .attend: try attend(device)
    case .approve(let failure): try approve(by: device, failure)
    case .restore: _ = try restore(by: device)
    case .revoke(let choice, let failure): try revoke(choice % devices.count, by: device, failure)
    case .changePassphrase(let failure):
      let new = AccountSecret(try SyncedCoffer.passphrase("Nine-Lanterns-Above-\(notes.count)-x"))
      try change(device, failure: failure) { account, remote in
        try account.exchangePassphrases(for: new, with: Self.words, at: remote)
      }
    case .changeCard(let failure):
      let new = AccountSecret(try SyncedCoffer.passphrase("Nine-Lanterns-Above-\(notes.count)-y"))
      try change(device, failure: failure) { account, remote in
        try account.changeSlots(
          adding: new, removing: { _ in [] }, changesCard: true, costs: SyncedCoffer.costs(),
          with: Self.words, at: remote)
      }
    case .sweep:
      try change(device) { account, remote in try account.sweep(at: remote, allows: { _ in true }) }
    case .pass(let days): clock.advance(Int64(days) * 86_400)
    }
  }

  private func message(_ choice: Int, on device: Int) throws -> MessageID? {
    let shown = try coffer(device).shown().sorted { $0.value.text < $1.value.text }
    return shown.isEmpty ? nil : shown[choice % shown.count].key
  }

  private mutating func noteGone(_ isGone: (ScenarioNote) -> Bool) {
    for (text, note) in notes where isGone(note) { notes[text]?.isGone = true }
  }

  mutating func forget(_ isForgotten: (ScenarioNote) -> Bool) {
    for (text, note) in notes where isForgotten(note) { notes[text] = nil }
  }

  // MARK: Captures

  private mutating func performOnCapture(_ deed: AccountDeed, on device: Int) throws {
    let coffer = coffer(device)
    let labels = try coffer.labels().sorted { $0.value < $1.value }
    switch deed {
    case .relabel(let choice):
      guard !labels.isEmpty else { return }
      let (id, title) = labels[choice % labels.count]
      try coffer.relabel(id, "\(Self.name(ofTitle: title)) \(script.count)")
    case .removeCapture(let choice):
      guard !labels.isEmpty else { return }
      let (id, title) = labels[choice % labels.count]
      notes[Self.name(ofTitle: title)]?.isGone = true
      try coffer.coffer.captureAccess.remove(id)
    case .keep:
      let account = try account(device)
      _ = try account.fetch(account.capturesElsewhere(), at: remote)
    case .release(let choice):
      guard !labels.isEmpty else { return }
      do {
        _ = try account(device).release([labels[choice % labels.count].key], at: remote) { _, _ in }
      } catch let error as SyncError {
        switch error {
        case .notUploaded, .alarmed, .partMissing: return
        default: throw error
        }
      }
    default: break
    }
  }

  /// By what a capture is found, whatever else its title says.
  static func name(ofTitle title: String) -> String {
    title.split(separator: " ").first.map(String.init) ?? title
  }

  // MARK: Disks

  private mutating func kill(_ device: Int, after count: Int) throws {
    var home: Result<TemporaryHome, any Error>?
    let report = try account(device).run(.sync, at: remote) { [self] report in
      guard report.requestCount > count else { return true }
      home = Result { try copy(of: device) }
      return false
    }
    guard let home else {
      if report.outcome == .complete { try run(device) }
      return
    }
    try replaceDisk(of: device, by: home.get())
  }

  private mutating func putBackDisk(_ device: Int) throws {
    guard let (home, kept) = devices[device].saved else { return }
    devices[device].saved = nil
    devices[device].wasPutBack = true
    try replaceDisk(of: device, by: home)
    // What it had not sent is gone, and so is what others cannot know.
    // Where the place lost something too, nobody may have what it had sent.
    for (text, note) in notes
    where note.device == device && !kept.contains(text) && (!note.isAcknowledged || wasPlaceRestored) {
      notes[text] = nil
    }
  }
}
