import { Command } from 'commander'
import { addAdmin } from './admin/command.ts'
import { addChat } from './chat/command.ts'
import { addDatasets } from './datasets/command.ts'
import { addDrive } from './drive/command.ts'
import { addEpisodes } from './episodes/command.ts'
import { addEvents } from './events/command.ts'
import { addExport } from './export/command.ts'
import { addKeys } from './keys/command.ts'
import { createLazyAction } from './lazy-action.ts'
import { addLogin } from './login/command.ts'
import { addMcp } from './mcp/command.ts'
import { addNotificationSettings } from './notification-settings/command.ts'
import { addPlatform } from './platform/command.ts'
import { addRecordings } from './recordings/command.ts'
import { addRobots } from './robots/command.ts'
import { addSessions } from './sessions/command.ts'
import { addSimulate } from './simulate/command.ts'
import type { Terminal } from './terminal.ts'
import { version } from './version.ts'
import { addWatch } from './watch/command.ts'
import { addWebhooks } from './webhooks/command.ts'

const HELP_FOOTER = `
Exit codes: 0 done, 1 refused, 2 wrong usage, 3 not signed in, 4 not found, 5 conflict, 6 platform unreachable,
7 not allowed, 8 too many requests, 70 internal error, 130 interrupted.
Environment: WHEELHOUSE_URL, WHEELHOUSE_PROFILE, WHEELHOUSE_API_KEY, WHEELHOUSE_HUB_URL, NO_COLOR; from Node:
NODE_EXTRA_CA_CERTS for certificates of your own authority, NODE_USE_ENV_PROXY=1 with HTTPS_PROXY for proxies.`

/** Creates the command line. Each command is a folder with its declaration and its implementation. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('wheelhouse')
    .description('Robots, sessions and keys of a Wheelhouse platform')
    .version(version)
    .exitOverride()
    // The caller prints errors once, as JSON with --json.
    .configureOutput({ outputError: () => {} })
    .configureHelp({ showGlobalOptions: true })
    .option('-s, --server <address>', 'the platform, such as https://hub.example')
    .option('-p, --profile <name>', 'the stored sign-in to use')
    .option('--hub <address>', 'the hub, if it has a separate address')
    .option('--json', 'results as JSON, errors as {"error","code"} on standard error')
    .option('-q, --quiet', 'only results and errors')
    .option('-y, --yes', 'answer yes to every question')
    .option('--no-color', 'no colours')
    .addHelpText('after', HELP_FOOTER)
  const lazyAction = createLazyAction(terminal)
  addLogin(program, lazyAction)
  addRobots(program, lazyAction)
  addSessions(program, lazyAction)
  addWatch(program, lazyAction)
  addChat(program, lazyAction)
  addDrive(program, lazyAction)
  addSimulate(program, lazyAction)
  addEpisodes(program, lazyAction)
  addRecordings(program, lazyAction)
  addDatasets(program, lazyAction)
  addExport(program, lazyAction)
  addEvents(program, lazyAction)
  addWebhooks(program, lazyAction)
  addKeys(program, lazyAction)
  addPlatform(program, lazyAction)
  addNotificationSettings(program, lazyAction)
  addMcp(program, lazyAction)
  addAdmin(program, lazyAction)
  return program
}
