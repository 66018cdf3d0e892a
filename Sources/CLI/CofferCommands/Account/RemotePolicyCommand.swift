// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Remotes

struct RemotePolicyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy", abstract: "Print what the administrator of a service sets up.")
  static let page = """
    coffer remote policy: print what the administrator of a service sets up for a place

    usage: coffer remote policy postgresql | s3 BUCKET[/PREFIX]

    Devices add and read with it, and cannot delete. Asks nobody, and needs no coffer.

      postgresql  SQL: the table, two roles and who sees which rows. At its end, how to add a user
      s3          a policy for a user, in JSON, for one bucket or what begins with PREFIX in it

    example: coffer remote policy postgresql | sudo -u postgres psql -v ON_ERROR_STOP=1 coffer
    """

  enum Service: String, ExpressibleByArgument, CaseIterable {
    case postgresql, s3
  }

  @OptionGroup var global: GlobalOptions
  @Argument(help: "postgresql or s3.") var service: Service
  @Argument(help: "The bucket, and what begins there.") var bucket: String?

  func validate() throws {
    guard (bucket != nil) == (service == .s3) else {
      throw ValidationError(
        service == .s3 ? "give the bucket: s3 BUCKET[/PREFIX]" : "postgresql takes no bucket")
    }
  }

  func execute(_ context: CommandContext) throws {
    let policy: String
    if let bucket {
      let parts = bucket.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 1 || !parts[1].isEmpty else { throw RemotePlaceError.prefix }
      policy = try RemotePolicy.s3(bucket: String(parts[0]), prefix: parts.count > 1 ? String(parts[1]) : "")
    } else {
      policy = RemotePolicy.postgreSQL
    }
    if context.isJSON { return JSON.print(["policy": policy]) }
    Terminal.print(lines: policy)
  }
}
