import { parseArgs } from 'node:util'
import { type Profile, profiles } from '../../test/support/network/profiles.ts'
import { transports } from './transports/list.ts'
import type { Transport } from './transports/transport.ts'

/** Profiles, durations and outputs of one run of the lab. */
export interface Plan {
  readonly profiles: readonly string[]
  readonly transports: readonly string[]
  /** Duration of each transport on each profile. */
  readonly seconds: number
  /** Operators that share the link, each with a robot, unless the profile says otherwise. */
  readonly pairs: number
  readonly seed: string
  /** Where to write all figures as JSON. */
  readonly jsonFile: string | undefined
  /** Whether the run measures everything for long enough to be published. */
  readonly complete: boolean
  readonly command: string
}

const SECONDS = 60
const PAIRS = 10
const MOST_SECONDS = 3_600
const MOST_PAIRS = 50

const names = profiles.map(({ name }) => name)
const transportNames = transports.map(({ name }) => name)

export const usage = `npm run netlab -- [options]
  --only NAME    one of ${names.join(', ')}; can be repeated
  --transport T  one of ${transportNames.join(', ')}; can be repeated
  --seconds S    duration of each transport on each profile (${SECONDS})
  --pairs N      operators that share a link, where the profile allows more than one (${PAIRS})
  --seed TEXT    repeats the losses, jitter and outages of an earlier run
  --json FILE    writes all figures as JSON
  --help`

/** @throws Error that says what is wrong with the arguments. */
export function readPlan(args: string[]): Plan | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      transport: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string' },
      pairs: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const seconds = whole('--seconds', values.seconds, { otherwise: SECONDS, most: MOST_SECONDS })
  return {
    profiles: chosen('--only', values.only, names),
    transports: chosen('--transport', values.transport, transportNames),
    seconds,
    pairs: whole('--pairs', values.pairs, { otherwise: PAIRS, most: MOST_PAIRS }),
    seed: values.seed,
    jsonFile: values.json,
    complete: values.only.length + values.transport.length === 0 && seconds >= SECONDS,
    command: ['npm run netlab', ...(args.length > 0 ? ['--', ...args] : [])].join(' '),
  }
}

/** Returns the chosen profiles in the order of the report. */
export const profilesOf = (plan: Plan): Profile[] =>
  profiles.filter(({ name }) => plan.profiles.includes(name))

/** Returns the chosen transports in the order of the report. */
export const transportsOf = (plan: Plan): Transport[] =>
  transports.filter(({ name }) => plan.transports.includes(name))

/** Returns the values of an option that can be repeated; without one, all that it may have. */
function chosen(option: string, values: readonly string[], allowed: readonly string[]): readonly string[] {
  const unknown = values.find((value) => !allowed.includes(value))
  if (unknown !== undefined) throw new Error(`${option} must be one of ${allowed.join(', ')}`)
  return values.length > 0 ? values : allowed
}

function whole(
  name: string,
  text: string | undefined,
  { otherwise, most }: { otherwise: number; most: number },
) {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new Error(`${name} must be a whole number from 1 to ${most}`)
}
