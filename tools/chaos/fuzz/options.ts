import { randomInt } from 'node:crypto'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export interface FuzzOptions {
  readonly minutes: number
  readonly seed: number
  /** The directory of the platform that is started: this checkout unless another one is named. */
  readonly checkout: string
}

const MAX_SEED = 2 ** 31 - 1
const MOST_MINUTES = 24 * 60
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export const usage = `npm run fuzz -- [options]

Starts the platform and sends malformed and extreme inputs to its gateway and hub, as robot, operator, observer, client
of the hub, and without a credential. Watches that the process lives, that a robot is driven all the time, that memory
stays bounded, and that no handler fails.

  --minutes M      how long (default 1, at most ${MOST_MINUTES})
  --seed N         the same inputs again (default: a random one; always printed)
  --checkout DIR   fuzz the platform of another checkout, with its packages installed
  --help           this text

Exit code 0: nothing was found. 1: something was; the input that caused it is printed and kept. 2: it could not run.
`

/** @returns 'help' when that is asked for; throws Error for options that make no sense */
export function readOptions(args: string[]): FuzzOptions | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string' },
      checkout: { type: 'string', default: ROOT },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const minutes = Number(values.minutes)
  if (!(minutes > 0 && minutes <= MOST_MINUTES))
    throw new Error(`--minutes: above 0, at most ${MOST_MINUTES}`)
  const seed = values.seed === undefined ? randomInt(MAX_SEED) : Number(values.seed)
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED)
    throw new Error(`--seed: a whole number, 0 to ${MAX_SEED}`)
  return { minutes, seed, checkout: resolve(values.checkout) }
}
