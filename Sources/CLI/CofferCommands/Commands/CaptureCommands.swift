// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Keychains
internal import MessageFormats
internal import Pictures
internal import Primitives
internal import Syncing
internal import Texts
internal import Vaults

struct CaptureCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "capture", abstract: "Photos, encrypted and signed.",
    subcommands: [
      CaptureAddCommand.self, CaptureListCommand.self, CaptureSearchCommand.self, CaptureShowCommand.self,
      CaptureSetCommand.self, CaptureExportCommand.self,
      CaptureVerifyCommand.self, CaptureRemoveCommand.self, CaptureKeepCommand.self,
      CaptureReleaseCommand.self, CaptureQueueCommand.self,
      CaptureMarkCommand.self, CaptureSweepCommand.self,
    ])
  static let page = """
    coffer capture: photos with depth map and metadata, encrypted and signed

    usage: coffer capture add PHOTO [--title T] [--note N] [--tag T]... [--depth FILE] [--metadata FILE]
           coffer capture list | search WHAT... | show WHICH | set WHICH... [--title T] ...
           coffer capture export WHICH DIRECTORY | verify WHICH | remove WHICH
           coffer capture keep WHICH... | release WHICH...
           coffer capture queue [--due] | mark ID STATE | sweep

    Each capture is encrypted with its own key and signed by this machine's attestation key. WHICH is an
    id, its last digits (four are enough while no other id ends so), @N for line N of the last list of
    captures on this terminal, or a title or a piece of one. If several fit, they are named and none is
    taken. With several devices ('coffer remote'), 'coffer sync' sends captures: 'keep' gets those that are
    not here, 'release' frees those that the place has. Without, 'queue', 'mark' and 'sweep' are for a
    program of yours that uploads captures.

    example: coffer capture add meter.jpg --title 'Water meter' --tag home
    """
}

struct CaptureAddCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "add", abstract: "Store a photo.")
  static let page = """
    coffer capture add: encrypt and store a photo or film with its depth map and metadata

    usage: coffer capture add PHOTO [--title T] [--note N] [--tag T]...
                              [--depth FILE] [--metadata FILE] [--allow-duplicate]
                              \(OpeningOptions.usage)

    Prints only the id, once everything is on the disk. Also works while the coffer is locked, if it has been
    unlocked since the machine started. The original file stays where it is. Title, note and tags are yours:
    they are encrypted and not signed, and 'coffer capture set' changes them.

      --title T          what lists show
      --note N           any text; 'coffer capture search' looks into it
      --tag T            a label; may be repeated
      --depth            the depth map, any file
      --metadata         a JSON object
      --allow-duplicate  store the photo even if it is already stored

    example: coffer capture add photo.jpg --title 'Water meter' --note '1204 m3' --tag home
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The photo or film.", completion: .file()) var photo: String
  @Option(help: "A title.") var title: String?
  @Option(help: "A note.") var note: String?
  @Option(help: "A label; may be repeated.") var tag: [String] = []
  @Option(help: "The depth map.", completion: .file()) var depth: String?
  @Option(help: "Metadata, a JSON object.", completion: .file()) var metadata: String?
  @Flag(help: "Store the photo even if it is already stored.") var allowDuplicate = false

  struct Answer: Encodable {
    let id: String
    let level: String
    let warning: String?
  }

  func execute(_ context: CommandContext) throws {
    var capture = NewCapture(photo: try part(photo, .photo))
    if let depth { capture.depth = try part(depth, .depth) }
    if let metadata { capture.metadata = try part(metadata, .metadata) }
    capture.allowsDuplicate = allowDuplicate
    capture.label = CaptureLabel(title: title ?? "", note: note ?? "")
    for tag in tag where !capture.label.tags.contains(tag) { capture.label.tags.append(tag) }
    let captures = try context.captures(opening, whileLocked: true)
    let signer = try captures.signer()
    Interruption.catchOnce()
    // A Control-C has also reached the process that decodes pictures; this check ends the command then.
    var noPreview: PictureError?
    do throws(PictureError) { capture.thumbnail = try CapturePicture.thumbnail(ofFile: photo) } catch {
      noPreview = error
    }
    let added: CaptureStore.Added
    do { added = try captures.add(capture, signer: signer) } catch CaptureError.interrupted {
      throw Failure.interrupted("nothing was stored")
    }
    let answer = Answer(
      id: added.id.description, level: signer.level.rawValue,
      warning: added.isStorageWarningDue ? "storage" : nil)
    context.isJSON ? JSON.print(answer) : Terminal.print("\(answer.id)")
    switch noPreview {
    case nil: break
    case .noLibrary:
      context.remark(
        "It has no preview: the libraries libjpeg-turbo and libpng make one, and one of them is not installed here "
          + "(on Debian and Ubuntu: libturbojpeg0, libpng16-16).")
    default:
      if Terminal.isErrorTerminal {
        context.remark("It has no preview: '\(photo)' is not a JPEG or PNG picture.")
      }
    }
    if added.isStorageWarningDue {
      context.remark(
        "Captures take up \(ByteCount.text(added.storedByteCount)); remove those you have a copy of.")
    }
  }

  private func part(_ path: String, _ part: CapturePart) throws -> PartSource {
    do {
      let source = try PartSource(path: path, for: part) { Interruption.isRequested }
      guard source.byteCount > 0 else {
        throw Failure(.refused, "malformed", "'\(path)' is empty, which is not a \(part.name)")
      }
      return source
    } catch let error as CaptureError {
      guard error == .cannotRead(part) else { throw error }
      throw Failure(
        .missing, "no_such_file",
        "'\(path)': there is no such file for the \(part.name), or it cannot be read")
    }
  }
}

struct CaptureListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List captures.")
  static let page = """
    coffer capture list: list captures, newest first

    usage: coffer capture list [--tag T] [--limit N] [--no-pager]
                               \(OpeningOptions.usage)

    On a terminal, prints a table: number for @N, the end of the id, local time, size, title, tags; '<' for
    what is not on this device. On a pipe, one line per capture: id, time in UTC, bytes, title and tags,
    separated by tabs.

    example: coffer capture list --limit 20
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Only captures with this tag.") var tag: String?
  @Option(help: "At most this many.") var limit: Int?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
  }

  func execute(_ context: CommandContext) throws {
    let listing = try context.captures(opening).store.listing()
    let captures = listing.captures.filter { capture in tag.map { capture.label.tags.contains($0) } ?? true }
    CaptureList.show(captures, limit: limit, context)
    if captures.isEmpty, listing.isComplete, limit != 0, Terminal.isOutputTerminal || tag != nil {
      context.remark(
        tag == nil ? "no captures yet: 'coffer capture add' stores one" : "no capture has this tag")
    }
    if let waiting = UploadCounts(listing)?.waiting, waiting > 0 {
      context.remark(
        "\(waiting.counted("capture is", "captures are")) not uploaded: see 'coffer capture queue'.")
    }
    let awayCount = captures.count { !$0.isWhole }
    if awayCount > 0, Terminal.isOutputTerminal, !context.isJSON {
      context.remark(
        "'<': \(awayCount.counted("capture is", "captures are")) not on this device. 'coffer capture keep --all' gets them."
      )
    }
    try CaptureList.requireComplete(listing)
  }
}

/// How many captures are in each state of the upload.
struct UploadCounts: Encodable {
  var pending = 0
  var uploading = 0
  var uploaded = 0
  var failed = 0

  /// - Returns: nil if no upload was ever tried here: most people upload nothing, and need not read about it.
  init?(_ listing: CaptureStore.Listing) {
    guard listing.captures.contains(where: \.upload.isUsed) else { return nil }
    for capture in listing.captures {
      switch capture.upload.state {
      case .pending: pending += 1
      case .uploading: uploading += 1
      case .uploaded: uploaded += 1
      case .failed: failed += 1
      }
    }
  }

  /// Those that are not uploaded.
  var waiting: Int { pending + uploading + failed }
}

struct CaptureExportCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write a capture to files.")
  static let page = """
    coffer capture export: write a capture to files, bit for bit

    usage: coffer capture export WHICH DIRECTORY [--depth-png]
                                 \(OpeningOptions.usage)

    Creates the directory; an existing one must be empty. The files appear once all of them are complete; if
    you interrupt the export, nothing is left. CHECK.txt says how to check the files with sha256sum and
    openssl. The files are not encrypted and have mode 0600. A capture that is not here is got from the
    place of the account, and does not stay here.

      --depth-png  also write the depth map in false colours, near in red

    example: coffer capture export 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d ./out
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture: its id, the end of it, @N or its title.", completion: Completions.captures)
  var which: String
  @Argument(help: "Where to write.", completion: .directory) var directory: String
  @Flag(help: "Also write the depth map in false colours.") var depthPNG = false

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let captures = coffer.captureAccess
    let id = try CaptureChoice.id(which, captures.store, context)
    let record = context.unfinishedExports()
    let account = try captures.store.summary(of: id).isWhole ? nil : OpenAccount(coffer)
    if let account { _ = try account.fetch([id], context) }
    // If that fails, it stays here.
    defer { try? account?.synchronizer.releaseFetched(id) }
    Interruption.catchOnce()
    var names: [String]
    do {
      names = try captures.export(id, to: directory, record: record) { Interruption.isRequested }
    } catch CaptureError.interrupted {
      throw Failure.interrupted("nothing was written")
    }
    if depthPNG {
      names.append(try CapturePicture.writeDepth(of: id, captures.store, to: directory, record: record))
    }
    if context.isJSON { JSON.print(["exported": names]) }
    context.remark("\(names.count.counted("file")) in \(directory); they are not encrypted.")
  }
}

struct CaptureVerifyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check that a capture is unchanged.")
  static let page = """
    coffer capture verify: check that a capture is unchanged

    usage: coffer capture verify WHICH
           \(OpeningOptions.usage)

    Decrypts every part, compares its hash, and checks the signature. If a part has changed, the message
    names it and the exit code is 5.

    example: coffer capture verify 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture: its id, the end of it, @N or its title.", completion: Completions.captures)
  var which: String

  struct Answer: Encodable {
    let id: String
    let verified: Bool
    let level: String
    let signedBy: String
  }

  func execute(_ context: CommandContext) throws {
    let store = try context.captures(opening).store
    let id = try CaptureChoice.id(which, store, context)
    let (manifest, signer) = try Interruption.endingAtOnce(
      .interrupted("the check did not finish"), isJSON: context.isJSON
    ) { try store.verify(id) }
    if context.isJSON {
      return JSON.print(
        Answer(id: id.description, verified: true, level: manifest.level.rawValue, signedBy: signer.rawValue))
    }
    Terminal.print("every part is unchanged; \(signer.sentence(manifest.level))")
  }
}

extension CaptureStore.Signer {
  func sentence(_ level: AttestationLevel) -> String {
    let place = level == .secureEnclave ? "in its chip" : "in software (unverified)"
    return switch self {
    case .thisDevice: "signed by this machine's key, \(place)"
    case .formerDevice: "signed by another machine's key or a forgotten one, \(place)"
    }
  }
}

struct CaptureRemoveCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a capture.")
  static let page = """
    coffer capture remove: remove a capture with all its parts

    usage: coffer capture remove WHICH [--yes]
           \(OpeningOptions.usage)

    Overwrites and removes its files. Earlier copies of the coffer still contain it. With several devices,
    the others hide it after their next sync, and erase it 30 days later. Given by its title, its line or
    the end of its id, it is named first, and you are asked.

      --yes  do not ask; needed without a terminal, unless WHICH is a whole id

    example: coffer capture remove 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture: its id, the end of it, @N or its title.", completion: Completions.captures)
  var which: String

  @Flag(help: "Do not ask.") var yes = false

  func execute(_ context: CommandContext) throws {
    let captures = try context.captures(opening)
    let id = try CaptureChoice.id(which, captures.store, context)
    if RecordID(which) == nil, !yes { try confirm(id, captures.store, context) }
    try captures.remove(id)
    if context.isJSON { JSON.print(["removed": id.description]) }
  }

  private func confirm(_ id: CaptureID, _ store: CaptureStore, _ context: CommandContext) throws {
    guard context.hasTerminal, !context.isJSON else {
      throw Failure(
        .locked, "no_prompt", "there is no terminal to ask on", hint: "add --yes, or give the whole id")
    }
    let capture = try store.summary(of: id)
    Terminal.remark(CaptureList.row(capture, columns: Terminal.errorColumns))
    guard try context.confirm("Remove this capture for good?") else {
      throw Failure(.refused, "not_confirmed", "nothing was removed")
    }
  }
}

extension RecordID {
  /// An id as the user gives it.
  init(capture argument: String) throws {
    guard let id = RecordID(argument) else {
      throw Failure.usage(
        "'\(argument)' is not the id of a capture", hint: "'coffer capture list' shows the ids")
    }
    self = id
  }
}
