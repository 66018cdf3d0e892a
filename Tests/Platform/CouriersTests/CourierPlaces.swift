// SPDX-License-Identifier: Apache-2.0

import CourierProtocol
import Foundation
import PostgreSQLServer
import Remotes
import S3Server
import Secrets

@testable import Couriers

/// The program that was built with the tests.
let courierProgram = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
  .appending(path: "coffer-courier").path

extension S3Server {
  /// The bucket, or what begins with a prefix in it.
  func place(
    prefix: String = "", bucket: String = S3Server.bucket, accessKey: String = S3Server.accessKey,
    secretKey: String = S3Server.secretKey, region: String = S3Server.region
  ) throws -> S3Place {
    try S3Place(
      isEncrypted: false, host: "127.0.0.1", port: port, bucket: bucket, prefix: prefix, region: region,
      accessKey: accessKey,
      secretKey: SharedSecretBytes(SecretBytes(copying: Array(secretKey.utf8).span.bytes)))
  }

  func remote(prefix: String = "") throws -> CourierRemote { try courierRemote(place(prefix: prefix)) }
}

func courierRemote(
  _ place: S3Place, stallSeconds: UInt16 = 600, firstPauseMilliseconds: UInt16 = 1,
  limits: CourierRemote.Limits = CourierRemote.Limits()
) throws -> CourierRemote {
  try courierRemote(
    .s3(place), stallSeconds: stallSeconds, firstPauseMilliseconds: firstPauseMilliseconds, limits: limits)
}

func courierRemote(_ place: PostgreSQLPlace) throws -> CourierRemote { try courierRemote(.postgreSQL(place)) }

/// Repetitions come after milliseconds unless told.
func courierRemote(
  _ place: CourierPlace, stallSeconds: UInt16 = 600, firstPauseMilliseconds: UInt16 = 1,
  limits: CourierRemote.Limits = CourierRemote.Limits()
) throws -> CourierRemote {
  var limits = limits
  limits.firstPauseMilliseconds = firstPauseMilliseconds
  limits.stallSeconds = stallSeconds
  return try CourierRemote(place, limits: limits, program: courierProgram)
}
