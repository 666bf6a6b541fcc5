import { parseArgs } from 'node:util'

export const measurements = [
  'heartbeats',
  'steady',
  'memory',
  'presence',
  'silence',
  'hub',
  'relay',
  'console',
  'rest', // last: what PostgreSQL has to clear away after a million sessions takes its time
] as const
export type Measurement = (typeof measurements)[number]

/** Control from operators to robots. */
export interface RelayPlan {
  /** Pairs, and how often a second each of them sends a control frame. */
  readonly rates: readonly { pairs: number; hz: number }[]
  readonly warmUpMs: number
  readonly steadySeconds: number
  readonly floodPairs: number
  readonly floodSeconds: number
  /** Driven with PostgreSQL and Redis for so long, and as long without. */
  readonly outageSeconds: number
  /** Operators who fall silent, and how often each of them does. */
  readonly stallingPairs: number
  readonly stallsEach: number
  /** Stops pressed, half of them by watchers, a pair each. */
  readonly stopRequests: number
}

/** The hub's events on their way to watching clients. */
export interface HubPlan {
  /** Processes behind one Redis that share the connections, one number after the other. */
  readonly processes: readonly number[]
  /** Rooms, and connections that watch each of them. */
  readonly fanOut: readonly { rooms: number; observers: number }[]
  /** Deliveries of one run, and how many runs of every contender. */
  readonly deliveries: number
  readonly runs: number
  /** Messages a second over REST, one rate after the other, and for how long. */
  readonly commitRates: readonly number[]
  readonly commitSeconds: number
  readonly idleSockets: number
  readonly returning: number
  /** Facts that wait in the outbox when their relaying begins. */
  readonly backlog: number
}

/** The cockpit in a browser. */
export interface ConsolePlan {
  /** Driven before anything is counted, and then for so long. */
  readonly warmUpSeconds: number
  readonly seconds: number
}

/** How much is measured; everything else is the same in a quick run and a full one. */
export interface Plan {
  readonly quick: boolean
  readonly only: readonly Measurement[]
  /** Robots on one gateway process: flood and steady beats. */
  readonly robots: number
  readonly steadySeconds: number
  readonly floodSeconds: number
  /** Flooded before anything is counted. */
  readonly warmUpMs: number
  readonly idleRobots: number
  readonly flips: number
  readonly droppedRobots: number
  readonly silentRobots: number
  /** REST: how often every contender is measured, for how long, and with how many sessions to start. */
  readonly restRounds: number
  readonly restSeconds: number
  readonly restStarts: number
  /** Sessions in the database when the list is measured once more. */
  readonly manySessions: number
  readonly exportedSessions: number
  readonly relay: RelayPlan
  readonly hub: HubPlan
  readonly console: ConsolePlan
  /** Longest wait for other programs to leave the machine alone, before each measurement. */
  readonly quietLimitMs: number
  readonly command: string
}

const full = {
  robots: 18_000,
  steadySeconds: 30,
  floodSeconds: 8,
  warmUpMs: 2_000,
  idleRobots: 18_000,
  flips: 600,
  droppedRobots: 10_000,
  silentRobots: 48,
  restRounds: 3,
  restSeconds: 4,
  restStarts: 4_000,
  manySessions: 1_000_000,
  exportedSessions: 100_000,
  relay: {
    rates: [
      { pairs: 100, hz: 50 },
      { pairs: 25, hz: 200 },
    ],
    warmUpMs: 1_500,
    steadySeconds: 8,
    floodPairs: 500,
    floodSeconds: 5,
    outageSeconds: 5,
    stallingPairs: 50,
    stallsEach: 4,
    stopRequests: 500,
  } as RelayPlan,
  hub: {
    processes: [1, 2],
    fanOut: [
      { rooms: 20, observers: 50 },
      { rooms: 1, observers: 1_000 },
    ],
    deliveries: 400_000,
    runs: 3,
    commitRates: [50, 200],
    commitSeconds: 15,
    idleSockets: 4_000,
    returning: 5_000,
    backlog: 30_000,
  } as HubPlan,
  console: { warmUpSeconds: 5, seconds: 30 },
  quietLimitMs: 10_000,
}
const quick: typeof full = {
  robots: 4_000,
  steadySeconds: 5,
  floodSeconds: 2,
  warmUpMs: 1_000,
  idleRobots: 6_000,
  flips: 100,
  droppedRobots: 2_000,
  silentRobots: 16,
  restRounds: 1,
  restSeconds: 1,
  restStarts: 500,
  manySessions: 30_000,
  exportedSessions: 20_000,
  relay: {
    rates: [{ pairs: 20, hz: 50 }],
    warmUpMs: 500,
    steadySeconds: 2,
    floodPairs: 250,
    floodSeconds: 1,
    outageSeconds: 2,
    stallingPairs: 20,
    stallsEach: 1,
    stopRequests: 100,
  },
  hub: {
    processes: [2],
    fanOut: [{ rooms: 20, observers: 50 }],
    deliveries: 150_000,
    runs: 2,
    commitRates: [50],
    commitSeconds: 5,
    idleSockets: 2_000,
    returning: 1_000,
    backlog: 10_000,
  },
  console: { warmUpSeconds: 2, seconds: 5 },
  quietLimitMs: 1_000,
}

export const usage = `npm run bench -- [options]
  --quick        small and short: six minutes, docs/benchmarks.md stays as it is
  --robots N     robots on one gateway process (${full.robots})
  --seconds S    how long they beat at 1 Hz (${full.steadySeconds})
  --only NAME    one of ${measurements.join(', ')}; may be given several times
  --help`

/** @throws Error that says what is wrong with the arguments. */
export function readPlan(args: string[]): Plan | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      robots: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const size = values.quick ? quick : full
  return {
    ...size,
    quick: values.quick,
    only: values.only.length > 0 ? values.only.map(measurement) : measurements,
    robots: whole('--robots', values.robots, size.robots),
    steadySeconds: whole('--seconds', values.seconds, size.steadySeconds),
    command: ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' '),
  }
}

function whole(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number above 0`)
  return value
}

function measurement(name: string): Measurement {
  const known = measurements.find((item) => item === name)
  if (!known) throw new Error(`--only must be one of ${measurements.join(', ')}`)
  return known
}
