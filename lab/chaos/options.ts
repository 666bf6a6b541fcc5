import { parseArgs } from 'node:util'
import { parseMinutes, parseSeed, parseWhole } from './program.ts'

export interface ChaosOptions {
  readonly minutes: number
  readonly seed: number
  readonly robots: number
  /** Divides the durations of the faults and the pauses between them. */
  readonly pace: number
  /** Number of connections to the hub that `--long` breaks at the end; 0 for none. */
  readonly disconnects: number
  /** Number of kills of nodes that recordings depend on; undefined for all faults. */
  readonly rounds: number | undefined
  /** Data and logs are kept even when the run passes. */
  readonly keep: boolean
}

const [DEFAULT_ROUNDS, MOST_ROUNDS] = [30, 1_000]
const LONG_DISCONNECTS = 100_000
/** The evidence grows with the duration; two hours need several hundred megabytes. */
const MOST_MINUTES = 120
/** Some are switched off at the end, some stay in a session, some do neither. */
const FEWEST_ROBOTS = 8
const MOST_ROBOTS = 60
/** Above that, processes are killed again before they serve. */
const MOST_PACE = 4

export const usage = `npm run chaos -- [options]

Kills, stops and pauses the processes of a cluster under load, then checks that nothing was lost or duplicated.

    --minutes M   duration of the faults (default 10, at most ${MOST_MINUTES})
    --quick       one minute
    --only recordings   kill only gateways, recorders, workers and the storage of recordings
    --rounds N    number of these kills (default ${DEFAULT_ROUNDS}, at most ${MOST_ROUNDS})
    --pace N      divide the durations of faults and of the pauses between them by N (default 1, at most ${MOST_PACE})
    --long        then break ${LONG_DISCONNECTS.toLocaleString('en')} connections to the hub, which takes about twenty minutes
    --seed N      repeat the faults of a run (default: random, always printed)
    --robots N    number of robots under control (default 14, ${FEWEST_ROBOTS} to ${MOST_ROBOTS})
    --keep        keep data and logs even if the run passes
  --help        this text

Exit code 0: every invariant holds. 1: one is violated; data and logs are kept. 2: the run was not possible.
`

/** @returns 'help' for --help; throws Error for invalid options */
export function readOptions(args: string[]): ChaosOptions | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      robots: { type: 'string', default: '14' },
      pace: { type: 'string', default: '1' },
      long: { type: 'boolean', default: false },
      only: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.quick && values.minutes !== undefined)
    throw new Error('--quick sets --minutes to 1; use only one of them')
  if (values.only !== undefined && values.only !== 'recordings')
    throw new Error('--only has one value: recordings')
  if (values.rounds !== undefined && values.only === undefined)
    throw new Error('--rounds needs --only recordings')
  return {
    minutes: parseMinutes(values.minutes ?? (values.quick ? '1' : '10'), MOST_MINUTES),
    seed: parseSeed(values.seed),
    robots: parseWhole('--robots', values.robots, FEWEST_ROBOTS, MOST_ROBOTS),
    pace: parseWhole('--pace', values.pace, 1, MOST_PACE),
    disconnects: values.long ? LONG_DISCONNECTS : 0,
    rounds:
      values.only === undefined
        ? undefined
        : parseWhole('--rounds', values.rounds ?? String(DEFAULT_ROUNDS), 1, MOST_ROUNDS),
    keep: values.keep,
  }
}
