import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parseMinutes, parseSeed } from '../program.ts'

export interface FuzzOptions {
  readonly minutes: number
  readonly seed: number
  /** Whether to measure stops under the load of another account, instead of sending malformed inputs. */
  readonly stops: boolean
  /** The directory of the platform under test. Default: this checkout. */
  readonly checkout: string
}

const MOST_MINUTES = 24 * 60
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export const usage = `npm run fuzz -- [options]

Starts the platform and sends malformed and extreme inputs to its gateway and hub, as robot, operator, observer, client
of the hub, and without a credential. Checks that the process runs, that a robot remains under control, that memory
stays bounded, and that no handler fails.

  --stops          measure how late stops and health checks are while another account sends the most expensive legal
                   input, one kind after the other, in place of malformed inputs
    --minutes M      duration (default 1, at most ${MOST_MINUTES})
    --seed N         repeat the inputs of a run (default: random, always printed)
  --checkout DIR   fuzz the platform of another checkout, with its packages installed
  --help           this text

Exit code 0: no failure. 1: a failure; its input is printed and stored. 2: the run was not possible.
`

/** @returns 'help' for --help; throws Error for invalid options */
export function readOptions(args: string[]): FuzzOptions | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string' },
      stops: { type: 'boolean', default: false },
      checkout: { type: 'string', default: ROOT },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    minutes: parseMinutes(values.minutes, MOST_MINUTES),
    seed: parseSeed(values.seed),
    stops: values.stops,
    checkout: resolve(values.checkout),
  }
}
