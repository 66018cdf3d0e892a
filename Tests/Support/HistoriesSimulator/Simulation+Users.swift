// SPDX-License-Identifier: Apache-2.0
//
// What users do with their devices, and what happens to these.

import Primitives
import Secrets
import SeededGenerators

@testable import Histories

extension Simulation {
  mutating func perform(_ deed: Deed) {
    switch deed {
    case .add(let device, let content): add(content, to: newRecord(), replacing: [], on: index(device))
    case .edit(let device, let record, let content): edit(index(device), record, content)
    case .remove(let device, let record):
      if let record = shownRecord(index(device), record) { remove(record, on: index(device)) }
    case .fetch(let device): fetch(index(device))
    case .removeAll(let device):
      for record in shownRecords(index(device)) { remove(record, on: index(device)) }
    case .begin(let device, let purpose):
      let index = index(device)
      computers[index].requests = []
      computers[index].beforeRun = computers[index].unacknowledged.count
      if setting.notesShown { computers[index].noteShown(at: now) }
      step(index, .begin(purpose, at: clock(index)))
    case .answers(let device, let count, let seed):
      var generator = SeededGenerator(stream: seed)
      answer(index(device), count: count, &generator, faulty: seed != 0)
    case .run(let device, let purpose, let seed):
      guard seed != 0 else { return runQuietly(index(device), purpose) }
      perform(.begin(device: device, purpose))
      var generator = SeededGenerator(stream: seed)
      answer(index(device), count: 2_000, &generator, faulty: true)
    case .crash(let device, let sent): crash(index(device), sent: sent)
    case .pass(let seconds):
      now += seconds
      server.now = now
    case .setClock(let device, let seconds):
      injected.insert(.clocks)
      computers[index(device)].secondsAhead = seconds
    case .copy(let device, let sameRandomness): copy(index(device), sameRandomness: sameRandomness)
    case .save(let device):
      let index = index(device)
      computers[index].saved = computers[index].saving()
    case .putBack(let device): putBack(index(device))
    case .confirm(let device):
      let index = index(device)
      // Of former identifiers, too.
      let held = computers[index].history.holds.segments.keys.map(\.device)
      for author in Set(computers.map(\.history.device) + held).sorted() {
        step(index, .confirm(author, at: clock(index)))
      }
    case .attend(let device): attend(index(device))
    case .misbehave(let device, let misdeed, let choice): misbehave(index(device), misdeed, choice)
    case .server(let deed): perform(deed)
    case .enrol, .restore, .revoke, .handOutKeys, .addSlot, .replaceSlot, .removeSlot: performChange(deed)
    }
  }

  func index(_ device: Int) -> Int { device % computers.count }

  // MARK: Records

  private mutating func newRecord() -> RecordID {
    let bytes = bytes(16)
    return RecordID(bytes.rawSpan) ?? RecordID()
  }

  func shownRecords(_ index: Int) -> [RecordID] {
    computers[index].history.shownRecords.sorted()
  }

  private func shownRecord(_ index: Int, _ number: Int) -> RecordID? {
    let shown = shownRecords(index)
    return shown.isEmpty ? nil : shown[number % shown.count]
  }

  /// The user has seen what is shown of a record, and wants it no more.
  private mutating func noteRemoved(_ record: RecordID, on index: Int) {
    for version in computers[index].history.shownVersions(of: record) {
      let name = RecordVersion(record: record, version: version.version)
      removed[name] = min(removed[name] ?? .max, now)
      // A device that rejoined says what it wrote again as another version.
      guard let frame = written[name]?.frame else { continue }
      for (other, note) in written
      where other.record == record && note.frame == frame && removed[other] == nil {
        removed[other] = now
      }
    }
  }

  private mutating func edit(_ index: Int, _ record: Int, _ content: Int) {
    guard let record = shownRecord(index, record) else { return }
    let versions = computers[index].history.shownVersions(of: record).map(\.version)
    // An edit that changes nothing makes no version.
    let frame = parts(content).flatMap(\.self)
    if versions.count == 1, written[RecordVersion(record: record, version: versions[0])]?.frame == frame {
      return
    }
    noteRemoved(record, on: index)
    add(content, to: record, replacing: versions, on: index)
  }

  private mutating func remove(_ record: RecordID, on index: Int) {
    noteRemoved(record, on: index)
    step(index, .remove(record: record, versions: nil, at: clock(index)))
  }

  /// Gets the parts of all captures that are shown and not here, as a device does that keeps captures.
  mutating func fetch(_ index: Int) {
    let history = computers[index].history
    for record in shownRecords(index) {
      for shown in history.shownVersions(of: record) {
        for part in 0..<UInt16(shown.hashes.count) {
          let name = ContentName(record: record, version: shown.version, part: part)
          // What is wanted, the runs get.
          guard !history.wanted.contains(name), !computers[index].machine.hasFrame(of: name) else { continue }
          for pack in history.packs(holding: name) {
            guard case .got(let object) = server.answer(.get(pack), to: index, fault: nil),
              let frame = history.opened(object, as: pack).flatMap({ history.content(name, in: $0) })
            else { continue }
            computers[index].machine.keep(frame, of: name)
            if let original = written[name.version], original.parts[Int(part)] != frame.testBytes {
              fail(.s6, "device \(index) took another part for a capture than its author wrote")
            }
            break
          }
        }
      }
    }
  }

  // MARK: What happens to devices

  private mutating func crash(_ index: Int, sent: Int) {
    if sent < computers[index].requests.count { injected.insert(.lostRequests) }
    for request in computers[index].requests.prefix(sent) {
      _ = server.answer(request, to: index, fault: nil)
    }
    computers[index].requests = []
    computers[index].beforeRun = 0
    restart(index)
  }

  /// S7: a process that comes next knows what the one before it knew.
  private mutating func restart(_ index: Int) {
    if let difference = computers[index].restart() {
      fail(.s7, "the history of device \(index) has other \(difference) when it is read again")
    }
  }

  private mutating func copy(_ index: Int, sameRandomness: Bool) {
    guard computers.count < Self.deviceLimit else { return }
    injected.insert(.copies)
    var copy = computers[index]
    copy.original = copy.original ?? index
    if !sameRandomness { for _ in 0..<7 { _ = copy.machine.random(8) } }
    copy.requests = []
    copy.unacknowledged = []
    copy.beforeRun = 0
    copy.saved = nil
    if let difference = copy.restart() { fail(.s7, "a copy has other \(difference) when it is read") }
    computers.append(copy)
  }

  private mutating func putBack(_ index: Int) {
    guard let saved = computers[index].saved else { return }
    injected.insert(.copies)
    for name in written.keys where !saved.machine.hasFrame(of: ContentName(name)) {
      // Or under a former identifier: it said that again, and knows of neither now.
      guard let note = written[name] else { continue }
      if note.author == computers[index].history.device || note.computer == index {
        written[name]?.isOrphan = true
      }
    }
    computers[index].putBack(saved)
    restart(index)
    computers[index].requests = []
    computers[index].unacknowledged = []
    computers[index].beforeRun = 0
  }
}
