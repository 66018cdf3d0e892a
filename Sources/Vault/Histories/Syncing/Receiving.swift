// SPDX-License-Identifier: Apache-2.0
//
// What a run gets: lists, control operations, segments, contents. Lists may be late, so that something which is not in a
// list is asked for by name before anybody says that it is gone; nothing is ever deleted because a list lacks it.

internal import Primitives

// MARK: Lists

extension History {
  /// The blocks of chains that this run lists: of each known chain those of the last and of the next number, in a full
  /// run all.
  func blocksToList() -> [Folder] {
    var folders: Set<Folder> = []
    let known = Set(chains.heads.keys).union(log.allDevices)
    for device in known {
      let last = chains.lastNumber(of: device)
      if run?.isFull == true {
        for block in 0...(last + 1) / Folder.segmentsPerBlock { folders.insert(.block(device, block)) }
      } else {
        folders.insert(.block(device, last / Folder.segmentsPerBlock))
        folders.insert(.block(device, (last + 1) / Folder.segmentsPerBlock))
      }
    }
    if run?.purpose == .verify || run?.purpose == .sweep { folders.formUnion(known.map { .packs($0) }) }
    return folders.subtracting(run?.folders ?? []).sorted()
  }

  mutating func takeList(_ objects: [ListedObject], of folder: Folder) {
    run?.folders.insert(folder)
    for object in objects where object.name.folder == folder {
      run?.listed[object.name] = object
      if isOfAccount(object.name) { remote.noteSeen(object.name) }
    }
  }

  /// Whether a listed object is one of the account, so that it would be missed. Anybody who may write at the remote can put
  /// things with any names there, and take them away.
  private func isOfAccount(_ name: ObjectName) -> Bool {
    if case .pack(_, let hash) = name { packs[hash] != nil } else { putsBack(name) }
  }

  /// Names that an earlier run saw, that are in a folder which was listed now, and that no list shows.
  func namesToLookFor() -> [Request] {
    guard let run else { return [] }
    return run.folders.flatMap { folder in
      (remote.seen[folder] ?? []).filter { run.listed[$0] == nil && !run.asked.contains($0) }
    }.sorted().map { .stat($0) }
  }

  mutating func takePresence(of name: ObjectName, byteCount: Int) {
    if case .pack(_, let hash) = name, let staged,
      let pack = staged.packs.first(where: { $0.hash == hash })
    {
      if pack.object.count == byteCount {
        self.staged?.checked.insert(hash)
        remote.noteSeen(name)
      }
      return
    }
    run?.listed[name] = ListedObject(name: name, byteCount: byteCount, date: nil)
  }

  mutating func takeAbsence(of name: ObjectName, at now: UInt64) {
    if case .pack(_, let hash) = name, staged?.packs.contains(where: { $0.hash == hash }) == true { return }
    guard remote.hasSeen(name), !remote.refused.contains(name) else { return }
    if name.isPack {
      run?.absentPacks.insert(name)
      return
    }
    alarms.insert(.rolledBack(name))
    if name == log.genesis?.name { alarms.insert(.empty) }
  }
}

// MARK: Control operations, slots and segments

extension History {
  mutating func takeObject(_ received: ReceivedObject, name: ObjectName) {
    // An object whose hash is not its name is not here yet: who has it writes it again.
    guard let hash = name.hash, received.hash == hash else {
      run?.torn.insert(name)
      return
    }
    let object = received.bytes
    guard !holdsObject(name) else { return }
    switch name {
    case .slot:
      guard log.slotObjects.contains(hash) else { return }
      keepSlot(object, hash: hash)
      remote.noteSeen(name)
    case .control: closedControl[name] = object
    case .segment(let segment): run?.waiting[segment] = object
    case .format, .pack, .request: break
    }
  }

  mutating func keepSlot(_ object: [UInt8], hash: ObjectHash) {
    slotObjects[hash] = object
    newObjects.append(StoredObject(name: .slot(hash), object: object))
  }

  /// Takes in what waits, then says what else to list and to get.
  mutating func takeInAndAskFurther(at now: UInt64, on machine: some Machine) -> [Request] {
    run?.stage = .getting
    takeWaiting(at: now, on: machine)
    guard let run else { return [] }
    let blocks = blocksToList()
    if !blocks.isEmpty { return blocks.map { .list($0) } }
    let names = run.listed.keys.filter { name in
      !run.asked.contains(name) && !remote.refused.contains(name)
        && (!holdsObject(name) || run.purpose != .sync)
        && {
          switch name {
          case .control: true
          // Anybody who may write at the remote can put other things there.
          case .slot(let hash): log.slotObjects.contains(hash)
          case .segment(let segment):
            rules.blocksAreListedWhole || segment.number > chains.lastNumber(of: segment.device)
          case .format, .pack, .request: false
          }
        }()
    }.sorted()
    self.run?.asked.formUnion(names)
    return names.map { .get($0) }
  }

  /// Takes in every object whose causes are here, until none is left.
  mutating func takeWaiting(at now: UInt64, on machine: some Machine) {
    openControl(slot: nil, on: machine)
    /// Segments to look at, and those that wait for another one.
    var queue = (run?.waiting.keys.sorted() ?? [])[...]
    var blocked: [SegmentName: [SegmentName]] = [:]
    var taken: [SegmentName] = []
    while let name = queue.popFirst() {
      guard let object = run?.waiting[name] else { continue }
      do throws(SegmentRefusal) {
        let writtenAt = run?.listed[.segment(name)]?.date
        try takeSegment(object, name: name, writtenAt: writtenAt, at: now, on: machine)
      } catch {
        switch error {
        case .causeMissing(nil): break
        case .causeMissing(let cause?): blocked[cause, default: []].append(name)
        case .invalid:
          refuse(.segment(name))
          run?.waiting[name] = nil
        }
        continue
      }
      // Nobody else writes these chains, so another copy of this device does.
      if name.device == device { isCloned = true }
      if name.device == device || former.contains(name.device) { unrepeatable.insert(name) }
      run?.waiting[name] = nil
      remote.noteSeen(.segment(name))
      taken.append(name)
      queue += blocked.removeValue(forKey: name) ?? []
      // A head that a revocation names: what is beyond it need not be here.
      guard membership.revocations[name.device]?.contains(where: { $0.heads.contains(name) }) == true else {
        continue
      }
      for cause in blocked.keys.filter({ isBeyondRevocation($0) }).sorted() {
        queue += blocked.removeValue(forKey: cause) ?? []
      }
    }
    countAgain(on: machine)
    for name in taken { compareDigest(name) }
  }

  /// Whether this device has an object whole.
  func holdsObject(_ name: ObjectName) -> Bool {
    switch name {
    case .format: false
    case .slot(let hash): slotObjects[hash] != nil
    case .control: closedControl[name] != nil || log.names.contains(name)
    case .segment(let segment): chains.entries[segment] != nil
    case .pack, .request: false
    }
  }

  /// Whether a run writes an object again that the remote lost: this device has it, and knows what it is.
  func putsBack(_ name: ObjectName) -> Bool { closedControl[name] == nil && holdsObject(name) }

  /// Says what others name and nobody has shown for a day.
  mutating func reportWhatIsMissing(at now: UInt64) {
    var waiting = Set(run?.waiting.keys.map { ObjectName.segment($0) } ?? [])
    waiting.formUnion(run?.torn ?? [])
    for revocation in membership.revocations.values.joined() {
      waiting.formUnion(revocation.heads.filter { chains.entries[$0] == nil }.map { .segment($0) })
    }
    waiting = waiting.filter { name in
      if case .segment(let segment) = name { !isBeyondRevocation(segment) } else { true }
    }
    if membership.isMember(device) { waiting.formUnion(closedControl.keys) }
    waiting.subtract(remote.passedOver)
    for name in remote.missingSince.keys where !name.isPack && !waiting.contains(name) {
      remote.missingSince[name] = nil
      alarms.remove(.missing(name))
    }
    for name in waiting {
      let since = remote.missingSince[name] ?? now
      remote.missingSince[name] = since
      if since + limits.patience <= now { alarms.insert(.missing(name)) }
    }
  }
}

extension ObjectName {
  /// The hash of the object's bytes, if its name has one.
  var hash: ObjectHash? {
    switch self {
    case .format, .request: nil
    case .slot(let hash), .control(_, let hash), .pack(_, let hash): hash
    case .segment(let segment): segment.hash
    }
  }

  /// Whether it names a pack.
  var isPack: Bool { if case .pack = self { true } else { false } }

  /// The folder in whose list the object is.
  var folder: Folder? {
    switch self {
    case .format: nil
    case .slot: .slots
    case .control: .control
    case .segment(let segment): .block(segment.device, segment.number / Folder.segmentsPerBlock)
    case .pack(let device, _): .packs(device)
    case .request: .requests
    }
  }
}
