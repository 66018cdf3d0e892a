// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Keychains
internal import MessageFormats
internal import Primitives
internal import Vaults

struct CaptureCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "capture", abstract: "Photos, sealed and signed.",
    subcommands: [
      CaptureAddCommand.self, CaptureListCommand.self, CaptureShowCommand.self, CaptureExportCommand.self,
      CaptureVerifyCommand.self, CaptureRemoveCommand.self,
    ])
  static let page = """
    coffer capture: photos with depth map and metadata, sealed and signed

    usage: coffer capture add PHOTO [--depth FILE] [--metadata FILE]
           coffer capture list | show ID | export ID DIRECTORY | verify ID | remove ID

    Each capture is sealed under a key of its own and signed by this machine's attestation key.

    example: coffer capture add photo.jpg
    """
}

struct CaptureAddCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "add", abstract: "Take a photo in.")
  static let page = """
    coffer capture add: seal a photo or film, and what belongs to it

    usage: coffer capture add PHOTO [--depth FILE] [--metadata FILE] [--allow-duplicate]
                              \(OpeningOptions.usage)

    Prints the id alone when everything is on the disk. Works while the coffer is locked, once it was
    unlocked since the machine started. The file itself stays where it is.

      --depth            the depth map, any file
      --metadata         a JSON object
      --allow-duplicate  take a photo in that is there already

    example: coffer capture add photo.jpg --depth depth.png --metadata notes.json
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The photo or film.", completion: .file()) var photo: String
  @Option(help: "The depth map.", completion: .file()) var depth: String?
  @Option(help: "Metadata, a JSON object.", completion: .file()) var metadata: String?
  @Flag(help: "Take a photo in that is there already.") var allowDuplicate = false

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
    let captures = try context.captures(opening, whileLocked: true)
    let signer = try captures.signer()
    Interruption.catchOnce()
    // A Control-C reaches the process that decodes, too: what is asked next ends the command then.
    capture.thumbnail = CapturePicture.thumbnail(ofFile: photo)
    let added: CaptureStore.Added
    do { added = try captures.add(capture, signer: signer) } catch CaptureError.interrupted {
      throw Failure.interrupted("nothing was stored")
    }
    let answer = Answer(
      id: added.id.description, level: signer.level.rawValue,
      warning: added.isStorageWarningDue ? "storage" : nil)
    context.isJSON ? JSON.print(answer) : Terminal.print("\(answer.id)")
    if added.isStorageWarningDue {
      context.remark(
        "Captures take \(ByteCount.text(added.storedByteCount)); remove what you have a copy of.")
    }
  }

  private func part(_ path: String, _ part: CapturePart) throws -> PartSource {
    do { return try PartSource(path: path, for: part) { Interruption.isRequested } } catch {
      guard error == .cannotRead(part) else { throw error }
      throw Failure(
        .missing, "no_such_file",
        "'\(path)': there is no such file for the \(part.name), or it cannot be read")
    }
  }
}

struct CaptureListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "Show what was captured.")
  static let page = """
    coffer capture list: show what was captured, the newest first

    usage: coffer capture list [--limit N]
                               \(OpeningOptions.usage)

    On a pipe: id, time and bytes, with tabs between.

    example: coffer capture list --limit 20
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Show no more than so many.") var limit: Int?

  struct Answer: Encodable {
    let id: String
    let created: String
    let byteCount: Int
  }

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit takes a number that is not negative") }
  }

  func execute(_ context: CommandContext) throws {
    let listing = try context.captures(opening).store.listing()
    for capture in listing.captures.prefix(limit ?? .max) {
      let answer = Answer(
        id: capture.id.description, created: Timestamp.format(capture.created), byteCount: capture.byteCount)
      if context.isJSON {
        JSON.print(answer)
      } else if Terminal.isOutputTerminal {
        Terminal.print("\(answer.id)  \(answer.created)  \(ByteCount.text(answer.byteCount))")
      } else {
        Terminal.print("\(answer.id)\t\(answer.created)\t\(answer.byteCount)")
      }
    }
    // What is left was told; now that it is not all.
    guard listing.isComplete else {
      var failure = Failure(CaptureError.corrupt(nil))
      failure.unreadable = listing.damaged.map(\.description)
      failure.unreadableKind = "capture"
      throw failure
    }
  }
}

struct CaptureExportCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write a capture to files.")
  static let page = """
    coffer capture export: write a capture to files, bit for bit

    usage: coffer capture export ID DIRECTORY [--depth-png]
                                 \(OpeningOptions.usage)

    The directory is made; one that is there must be empty. The files appear when all of them are complete,
    and interrupted none is left. CHECK.txt says how to check the files with
    sha256sum and openssl. What is written is plain, with mode 0600.

      --depth-png  also write the depth map in false colours, near in red

    example: coffer capture export 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d ./out
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture's id.") var id: String
  @Argument(help: "Where to write.", completion: .directory) var directory: String
  @Flag(help: "Also write the depth map in false colours.") var depthPNG = false

  func execute(_ context: CommandContext) throws {
    let id = try CaptureID(capture: id)
    let captures = try context.captures(opening)
    let record = context.unfinishedExports()
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
    context.remark("\(names.count.counted("file")) in \(directory); nothing protects them there.")
  }
}

struct CaptureVerifyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check that a capture is what was captured.")
  static let page = """
    coffer capture verify: check that a capture is what was captured

    usage: coffer capture verify ID
           \(OpeningOptions.usage)

    Opens every part, compares its hash, and checks the signature. Exit code 5 names the part that is not
    what was captured.

    example: coffer capture verify 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture's id.") var id: String

  struct Answer: Encodable {
    let id: String
    let verified: Bool
    let level: String
    let signedBy: String
  }

  func execute(_ context: CommandContext) throws {
    let id = try CaptureID(capture: id)
    let store = try context.captures(opening).store
    let (manifest, signer) = try Interruption.endingAtOnce(
      .interrupted("the capture was not checked to the end"), isJSON: context.isJSON
    ) { try store.verify(id) }
    if context.isJSON {
      return JSON.print(
        Answer(id: id.description, verified: true, level: manifest.level.rawValue, signedBy: signer.rawValue))
    }
    Terminal.print("every part is what was captured; \(signer.sentence(manifest.level))")
  }
}

extension CaptureStore.Signer {
  func sentence(_ level: AttestationLevel) -> String {
    let place = level == .secureEnclave ? "in its chip" : "in software (unverified)"
    return switch self {
    case .thisDevice: "signed by this machine's key, \(place)"
    case .formerDevice: "signed by another machine's key, or one that was forgotten, \(place)"
    }
  }
}

struct CaptureRemoveCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a capture.")
  static let page = """
    coffer capture remove: remove a capture with all its parts

    usage: coffer capture remove ID
           \(OpeningOptions.usage)

    Its files are overwritten and removed. Copies of the coffer that were made before still hold it.

    example: coffer capture remove 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture's id.") var id: String

  func execute(_ context: CommandContext) throws {
    let id = try CaptureID(capture: id)
    try context.captures(opening).remove(id)
    if context.isJSON { JSON.print(["removed": id.description]) }
  }
}

extension RecordID {
  /// An id as a person gives it.
  init(capture argument: String) throws {
    guard let id = RecordID(argument) else {
      throw Failure.usage(
        "'\(argument)' is not the id of a capture", hint: "'coffer capture list' shows the ids")
    }
    self = id
  }
}
