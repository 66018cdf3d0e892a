// SPDX-License-Identifier: Apache-2.0

internal import Histories
internal import Remotes
internal import Syncing

extension Failure {
  init(sync error: SyncError) {
    switch error {
    case .noAccount:
      self.init(
        .missing, "no_remote", "this coffer has no account at a remote",
        hint:
          "'coffer remote add folder:///PATH' makes one, 'coffer remote join' and 'coffer remote restore' "
          + "join one")
    case .hasAccount:
      self.init(
        .inUse, "has_remote", "this coffer has an account already",
        hint: "'coffer remote show' says where; 'coffer remote forget' forgets it")
    case .accountThere(let count):
      self.init(
        .inUse, "account_there",
        count == 1
          ? "there is an account at this place already" : "there are \(count) accounts at this place already",
        hint: "'coffer remote join' joins one with its card; --another makes another one")
    case .accountBegun:
      self.init(
        .inUse, "account_there",
        "there is the beginning of an account at this place: another coffer is making it, or has not come to the end",
        hint: "try again when that is done; if nobody is, --another makes one beside it")
    case .corrupt:
      self.init(
        .corrupt, "account_corrupt", "what this coffer keeps of its account is damaged",
        hint:
          "your messages are not affected: 'coffer remote forget', then 'coffer remote restore' with the card"
      )
    case .busy:
      self.init(
        .inUse, "in_use", "another process synchronises this coffer", hint: "try again when it is done")
    case .remote(let error): self.init(remote: error)
    case .notThere:
      self.init(
        .missing, "no_account_there", "the account on the card is not at this place",
        hint: "check that the right disk is mounted there, and that it is the right card")
    case .wrongSecret: self = .wrongForAccount
    case .slotNotReadBack:
      self.init(
        .corrupt, "remote_tampered",
        "what was just written to the place reads differently; the account was neither made nor changed",
        hint: "check that disk, or use another place")
    case .notApproved:
      self.init(
        .refused, "not_approved", "this device waits to be let into the account, and has nothing of it yet",
        hint: "on a device of the account: 'coffer device approve'")
    case .onlyThere(let captures, let messages):
      self =
        captures > 0
        ? Failure(
          .refused, "captures_elsewhere",
          "\(captures.counted("capture is", "captures are")) at the place and not on this device",
          hint: "'coffer capture keep --all' gets them") : .missingContents(messages)
    case .otherDevices(let names):
      self.init(
        .refused, "other_devices",
        names.count == 1
          ? "the account has another device: '\(names[0])'"
          : "the account has \(names.count) other devices: \(names.map { "'\($0)'" }.joined(separator: ", "))",
        hint: "'coffer device revoke' takes a device out; 'coffer remote forget' leaves the account to them")
    case .refused(let outcome): self.init(outcome: outcome, nil)
    case .slotsDamaged(let count):
      self.init(
        .corrupt, "account_corrupt",
        "\(count.counted("slot")) of the account \(count == 1 ? "is" : "are") damaged at the place, and no other one opens with this",
        hint: "'coffer sync' on a device that has the account puts back what is damaged")
    case .partMissing:
      self.init(
        .corrupt, "remote_incomplete", "a part of the capture is neither here nor at the place",
        hint: "on the device that took it: 'coffer remote verify --read 100', then try again here")
    case .notUploaded:
      self.init(
        .refused, "not_uploaded", "the place does not have all of the capture yet, so nothing was freed",
        hint: "'coffer sync' sends it")
    case .alarmed(let alarms):
      self = Self.alarms(alarms).first ?? Failure(unsorted: "Alarm")
    case .stopped: self = .interrupted("what is whole is here")
    }
  }

  static let wrongForAccount = Failure(
    .wrongSecret, "wrong_secret", "this opens no slot of the account",
    hint: "it has slots of its own: at first the passphrase and the words of the coffer in which it was made")

  init(address error: AddressError) {
    let hint = "the card is what 'coffer remote card' printed on a device that has the account"
    switch error {
    case .place(let error): self.init(place: error)
    case .malformed:
      self.init(
        .wrongSecret, "bad_card", "the account on the card does not have 32 hexadecimal digits", hint: hint)
    case .placeOnly:
      self.init(.wrongSecret, "bad_card", "this is a place, but not the address of an account", hint: hint)
    case .mistyped:
      self.init(
        .wrongSecret, "bad_card", "the card was mistyped: a character behind 'account=' is wrong or missing",
        hint: hint)
    }
  }

  /// A run that did not end well.
  init(outcome: Outcome, _ error: RemoteError?) {
    switch outcome {
    case .complete: self.init(unsorted: "Outcome")
    case .unreachable: self.init(remote: error ?? .unreachable)
    case .empty: self = .emptyRemote
    case .cloned:
      self.init(
        .inUse, "clone_detected",
        "another copy of this device writes to the account, so this one has stopped",
        hint: "'coffer device rejoin' here, and then on the other one: nothing is lost")
    case .revoked:
      self.init(
        .refused, "device_revoked", "this device was revoked: it neither sends nor gets anything",
        hint: "its messages are here; if it is yours still: 'coffer device rejoin'")
    case .notMember:
      self.init(
        .refused, "device_revoked", "this device does not belong to the account",
        hint: "'coffer device rejoin' makes it one again, with the passphrase; without, 'coffer remote join'")
    case .noSafeEpoch:
      self.init(
        .refused, "no_safe_epoch",
        "there is no key yet that a revoked device does not have, so nothing was sent",
        hint: "'coffer account settle' makes one")
    case .lastSlot: self = .lastAccountSlot
    case .notOwner:
      self.init(
        .refused, "not_owner",
        "this passphrase, these words or this card are of an earlier state of the account",
        hint: "they were changed on another device: take the new ones, or the account's words with --words")
    case .older:
      self.init(
        .corrupt, "remote_rolled_back", "the place shows an older state of the account",
        hint: "on a device that has the account: 'coffer remote verify' puts back what is missing or damaged")
    case .ownerForked: self = .forkedOwner
    case .keyInUse, .keyInvalid:
      self.init(
        .refused, "device_refused", "the account cannot take this device",
        hint: "on that device: 'coffer remote forget', then ask again with 'coffer remote join'")
    case .tooManyEpochs:
      self.init(
        .refused, "account_full", "the account has had all the devices and keys that one can have",
        hint: "'coffer remote add --another' makes a new one")
    case .tooLarge: self.init(.refused, "message_too_large", "a message is too large to be sent")
    case .sweepRefused:
      self.init(.refused, "sweep_refused", "nothing is deleted while something is wrong at the remote")
    }
  }

  static let lastAccountSlot = Failure(
    .refused, "last_slot", "this is the last slot of the account", hint: "'coffer account slots add' adds one"
  )

  static let emptyRemote = Failure(
    .remote, "remote_empty", "the account is not at the place: nothing was sent, and nothing is removed here",
    hint: "mount the right disk there; 'coffer remote verify --fill' fills an emptied place again")

  /// Contents that other devices have named and that cannot be got.
  static func missingContents(_ count: Int) -> Failure {
    Failure(
      .corrupt, "remote_incomplete",
      "\(count.counted("message")) cannot be read at the place, and \(count == 1 ? "is" : "are") missing or damaged here",
      hint:
        "on a device that has \(count == 1 ? "it" : "them"): 'coffer remote verify --read 100', then 'coffer sync' here"
    )
  }

  /// What came is not all that the devices of the account have named.
  static func incompleteRestore(_ count: Int) -> Failure {
    Failure(
      .corrupt, "remote_incomplete",
      "not everything was restored: \(count.counted("object")) of other devices \(count == 1 ? "is" : "are") damaged at the place, or not there yet",
      hint:
        "what came is safe; 'coffer sync' gets the rest once it is there, so keep the other devices until then"
    )
  }

  /// Captures of which a part is neither here nor at the place.
  static func lostCaptures(_ count: Int) -> Failure {
    Failure(
      .corrupt, "remote_incomplete",
      "\(count.counted("capture is", "captures are")) not on this device as a whole, and not at the place either",
      hint: "run 'coffer remote verify' on every device: one that has them puts them back"
    )
  }

  private static let forkedOwner = Failure(
    .corrupt, "owner_forked",
    "two devices changed the account at the same time, and it has two continuations",
    hint: "'coffer account settle' shows both, and asks which is right")

  /// What is wrong at the remote, one of each kind, the worst first.
  static func alarms(_ alarms: Set<Alarm>) -> [Failure] {
    var failures: [Failure] = []
    func count(_ isMeant: (Alarm) -> Bool) -> Int { alarms.count(where: isMeant) }
    func add(_ count: Int, _ failure: @autoclosure () -> Failure) {
      if count > 0 { failures.append(failure()) }
    }
    let verify = "'coffer remote verify' puts back what this device has, and ends this alarm"
    let tampered = count { if case .tampered = $0 { true } else { false } }
    add(
      tampered,
      Failure(
        .corrupt, "remote_tampered",
        "\(tampered.counted("object")) at the place damaged or changed by somebody; passed over", hint: verify
      ))
    let rolledBack = count { if case .rolledBack = $0 { true } else { false } }
    add(
      rolledBack,
      Failure(
        .corrupt, "remote_rolled_back",
        "the place shows an older state: \(rolledBack.counted("object")) of it \(rolledBack == 1 ? "is" : "are") gone",
        hint: verify))
    add(count { $0 == .ownerForked }, forkedOwner)
    let forked = count { if case .forked = $0 { true } else { false } }
    add(
      forked,
      Failure(
        .corrupt, "remote_forked",
        "\(forked.counted("device")) went on from an older state: copied, or restored from an image",
        hint: "on that device: 'coffer device rejoin'; if it is not yours any more: 'coffer device revoke'"))
    let differs = count { if case .digestDiffers = $0 { true } else { false } }
    add(
      differs,
      Failure(
        .corrupt, "digest_differs", "another device made something else of the same history",
        hint: "install the same version of Coffer on all devices, then sync each"))
    let incomplete = count {
      switch $0 {
      case .incomplete, .missing: true
      default: false
      }
    }
    add(
      incomplete,
      Failure(
        .corrupt, "remote_incomplete", "\(incomplete.counted("object")) missing at the place",
        hint: "run 'coffer remote verify' on every device: it puts back what that device has"))
    add(count { $0 == .empty }, emptyRemote)
    return failures
  }
}
