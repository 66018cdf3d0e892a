// SPDX-License-Identifier: Apache-2.0

import CofferCommands
import Foundation

exit(CofferMain.run(Array(CommandLine.arguments.dropFirst())))
