import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

export interface ChaosOptions {
  readonly minutes: number
  readonly seed: number
  readonly robots: number
  /** Connections to the hub that are broken in the end, by `--long`; 0 for none. */
  readonly disconnects: number
  /** Data and logs are kept even when all is well. */
  readonly keep: boolean
}

const LONG_DISCONNECTS = 100_000
/** What is remembered of the run grows with it; two hours of it are some hundred megabytes. */
const MOST_MINUTES = 120
/** Some are switched off in the end, some left in a session, some neither. */
const FEWEST_ROBOTS = 8
const MOST_ROBOTS = 60
const MAX_SEED = 2 ** 31 - 1

export const usage = `npm run chaos -- [options]

Kills, stops and pauses the processes of a cluster under load, then checks that nothing was lost or done twice.

  --minutes M   how long faults go on (default 10, at most ${MOST_MINUTES})
  --quick       one minute
  --long        then break ${LONG_DISCONNECTS.toLocaleString('en')} connections to the hub, which takes some twenty minutes
  --seed N      the same faults again (default: a random one; always printed)
  --robots N    robots that are driven (default 14, ${FEWEST_ROBOTS} to ${MOST_ROBOTS})
  --keep        keep data and logs though all is well
  --help        this text

Exit code 0: every invariant holds. 1: one does not, and data and logs are kept. 2: it could not run.
`

/** @returns 'help' when that is asked for; throws Error for options that make no sense */
export function readOptions(args: string[]): ChaosOptions | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      robots: { type: 'string', default: '14' },
      long: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.quick && values.minutes !== undefined)
    throw new Error('--quick is one minute: give no --minutes')
  const minutes = Number(values.minutes ?? (values.quick ? 1 : 10))
  if (!(minutes > 0 && minutes <= MOST_MINUTES))
    throw new Error(`--minutes: above 0, at most ${MOST_MINUTES}`)
  return {
    minutes,
    seed: values.seed === undefined ? randomInt(MAX_SEED) : whole('--seed', values.seed, 0, MAX_SEED),
    robots: whole('--robots', values.robots, FEWEST_ROBOTS, MOST_ROBOTS),
    disconnects: values.long ? LONG_DISCONNECTS : 0,
    keep: values.keep,
  }
}

function whole(name: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`${name}: a whole number, ${min} to ${max}`)
  return value
}
