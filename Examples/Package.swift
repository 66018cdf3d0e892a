// swift-tools-version:6.2
// SPDX-License-Identifier: Apache-2.0
//
// Three small programs that use Coffer's libraries. A package of its own, as yours would be.
// `scripts/examples` builds them and runs them on files that the commands make.

import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let openPGP: Target.Dependency = .product(name: "CofferOpenPGP", package: "coffer")
let cofferKit: Target.Dependency = .product(name: "CofferKit", package: "coffer")

let package = Package(
  name: "coffer-examples",
  dependencies: [.package(name: "coffer", path: "..")],
  targets: [
    .executableTarget(name: "EncryptFile", dependencies: [openPGP], swiftSettings: settings),
    .executableTarget(name: "VerifySignature", dependencies: [openPGP], swiftSettings: settings),
    .executableTarget(name: "ReadVault", dependencies: [cofferKit], swiftSettings: settings),
  ]
)
