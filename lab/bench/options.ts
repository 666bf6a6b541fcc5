import { parseArgs } from 'node:util'
import type { TeamSize } from './rest/team-fixtures.ts'

export const measurements = [
  'heartbeats',
  'steady',
  'memory',
  'presence',
  'silence',
  'hub',
  'relay',
  'control',
  'recording',
  'recorded-hour',
  'console',
  'video',
  'organizations',
  'rest', // last: after a million sessions PostgreSQL has much to clean up
] as const
export type Measurement = (typeof measurements)[number]

/** Control from operators to robots. */
export interface RelayPlan {
  /** Numbers of pairs, with the control frames a second of each. */
  readonly rates: readonly { pairs: number; hz: number }[]
  readonly warmUpMs: number
  readonly steadySeconds: number
  readonly floodPairs: number
  readonly floodSeconds: number
  /** Duration of control with PostgreSQL and Redis, and of control without. */
  readonly outageSeconds: number
  /** Operators that fall silent, and how often each of them does. */
  readonly stallingPairs: number
  readonly stallsEach: number
  /** Requested stops, half of them by observers, each for another pair. */
  readonly stopRequests: number
}

/** Control that changes hands. */
interface ControlPlan {
  /** Takeovers, one after the other. */
  readonly takeovers: number
  /** Takeovers at once, and the number of supervisors who send them. */
  readonly atOnce: number
  readonly rivals: number
}

/** The hub's events on their way to watching clients. */
export interface HubPlan {
  /** Numbers of processes behind one Redis that share the connections. */
  readonly processes: readonly number[]
  /** Rooms, and connections that watch each of them. */
  readonly fanOut: readonly { rooms: number; observers: number }[]
  /** Deliveries of one run, and the number of runs of every contender. */
  readonly deliveries: number
  readonly runs: number
  /** Rates of messages over REST a second, and the duration of each. */
  readonly commitRates: readonly number[]
  readonly commitSeconds: number
  readonly idleSockets: number
  readonly returning: number
  /** Number of unpublished events when the outbox relay begins. */
  readonly backlog: number
}

/** The cockpit in a browser. */
export interface ConsolePlan {
  /** Duration of the warm-up, and of the measurement. */
  readonly warmUpSeconds: number
  readonly seconds: number
  /** Number of times that the network falls silent, and that Wheelhouse restarts. */
  readonly silences: number
  readonly restarts: number
}

/** A camera and its viewers. */
export interface VideoPlan {
  readonly viewers: number
  /** Viewers of the measurements of latency, which connect one after the other. */
  readonly joins: number
  readonly seconds: number
  /** Number of times that the forwarding process is killed. */
  readonly kills: number
}

/** Sessions that are recorded. */
export interface RecordingPlan {
  readonly pairs: number
  readonly warmUpMs: number
  /** Control without and with recording, by turns. */
  readonly rounds: number
  readonly seconds: number
  /** Duration of control and telemetry, for the recorder. */
  readonly loadSeconds: number
}

/** One long recording. */
export interface RecordedHourPlan {
  readonly seconds: number
  /** Numbers of episodes into which the exports cut it. */
  readonly episodes: readonly number[]
  /** How often the replay is opened, with and without a cache. */
  readonly openings: number
}

/** Amounts and durations; everything else is the same in a quick run and a full one. */
export interface Plan {
  readonly quick: boolean
  readonly only: readonly Measurement[]
  /** Robots on one gateway process: flood and steady beats. */
  readonly robots: number
  readonly steadySeconds: number
  readonly floodSeconds: number
  /** Duration of the flood before the measurement. */
  readonly warmUpMs: number
  readonly idleRobots: number
  readonly flips: number
  readonly droppedRobots: number
  readonly silentRobots: number
  /** REST: number of rounds, duration of each, and number of sessions to start. */
  readonly restRounds: number
  readonly restSeconds: number
  readonly restStarts: number
  /** Sessions in the database for the second measurement of the list. */
  readonly manySessions: number
  readonly exportedSessions: number
  /** Organizations: size of the large one, and the rounds of each list. */
  readonly largeTeam: TeamSize
  readonly teamRounds: number
  /** Rounds of a comparison with an earlier version, and its number of sessions to start. */
  readonly costRounds: number
  readonly costStarts: number
  /** The folder of the earlier version. */
  readonly before: string | undefined
  readonly relay: RelayPlan
  readonly control: ControlPlan
  readonly recording: RecordingPlan
  readonly recordedHour: RecordedHourPlan
  readonly hub: HubPlan
  readonly console: ConsolePlan
  readonly video: VideoPlan
  /** Longest wait for a quiet machine, before each measurement. */
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
  largeTeam: { members: 10_000, robots: 100_000 },
  teamRounds: 11,
  costRounds: 15,
  costStarts: 60,
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
  control: { takeovers: 300, atOnce: 1_000, rivals: 40 },
  recording: { pairs: 100, warmUpMs: 1_500, rounds: 5, seconds: 8, loadSeconds: 25 },
  recordedHour: { seconds: 3_600, episodes: [1, 60], openings: 5 },
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
  console: { warmUpSeconds: 5, seconds: 30, silences: 20, restarts: 10 },
  video: { viewers: 100, joins: 20, seconds: 15, kills: 5 },
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
  largeTeam: { members: 1_000, robots: 10_000 },
  teamRounds: 3,
  costRounds: 5,
  costStarts: 50,
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
  control: { takeovers: 50, atOnce: 200, rivals: 10 },
  recording: { pairs: 20, warmUpMs: 500, rounds: 3, seconds: 2, loadSeconds: 5 },
  recordedHour: { seconds: 120, episodes: [2], openings: 2 },
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
  console: { warmUpSeconds: 2, seconds: 5, silences: 5, restarts: 2 },
  video: { viewers: 24, joins: 5, seconds: 4, kills: 2 },
  quietLimitMs: 1_000,
}

export const usage = `npm run bench -- [options]
    --quick        small and short: six minutes, without writing docs/benchmarks.md
  --robots N     robots on one gateway process (${full.robots})
    --seconds S    duration of their heartbeats at 1 Hz (${full.steadySeconds})
    --only NAME    one of ${measurements.join(', ')}; can be repeated
  --before DIR   the checkout of a version from before organizations, with its node_modules: organizations compares requests with it
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
      before: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const size = values.quick ? quick : full
  return {
    ...size,
    quick: values.quick,
    before: values.before,
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
