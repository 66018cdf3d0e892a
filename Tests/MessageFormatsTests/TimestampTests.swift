// SPDX-License-Identifier: Apache-2.0

import MessageFormats
import Testing
