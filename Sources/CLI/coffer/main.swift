// SPDX-License-Identifier: Apache-2.0

import CofferCommands
import Foundation

exit(CofferMain.run(Array(CommandLine.arguments.dropFirst()), as: CommandLine.arguments.first ?? "coffer"))
