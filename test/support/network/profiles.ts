/** Interruptions of one direction: the first after `firstS`, then one every `everyS`. */
export interface Outages {
  readonly firstS: number
  readonly everyS: number
  /** Each lasts for a random time between these two. */
  readonly leastS: number
  readonly mostS: number
  /** `held`: packets wait in the queue. `lost`: they vanish. */
  readonly packets: 'held' | 'lost'
}

/** One direction of an emulated link. */
export interface Direction {
  readonly delayMs: number
  /** The delay of each packet differs from `delayMs` by up to this much, evenly distributed. */
  readonly jitterMs: number
  /** Jitter lets packets overtake each other. Without it, each waits for the one before. */
  readonly reorders?: boolean
  /** Share of lost packets, 0 to 1, independent of each other. */
  readonly loss: number
  /** Bits a second; null without a limit. */
  readonly rateBps: number | null
  /** Size of the queue in front of the transmitter. It drops packets that do not fit. */
  readonly queueBytes: number
  readonly outages?: Outages
}

/** An emulated network. `up` leads from the operator (and from a robot behind a link) to the platform. */
export interface Profile {
  readonly name: string
  readonly title: string
  readonly up: Direction
  readonly down: Direction
  /** Operators that share the link, if not the default. */
  readonly pairs?: number
  /** Transfers of other programs through the operator's link to the platform. */
  readonly uploads?: { readonly firstS: number; readonly everyS: number; readonly bytes: number }
  /** The robots too are behind a link with this profile, which they do not share with the operators. */
  readonly robotBehindLink?: true
}

const KIB = 1_024

/** A direction without delay, loss, or limit of the rate. */
const perfect: Direction = { delayMs: 0, jitterMs: 0, loss: 0, rateBps: null, queueBytes: 1_024 * KIB }
const lte: Direction = {
  ...perfect,
  delayMs: 60,
  jitterMs: 20,
  loss: 0.01,
  rateBps: 20e6,
  queueBytes: 256 * KIB,
}
const starlink: Direction = {
  ...perfect,
  delayMs: 25,
  jitterMs: 8,
  rateBps: 20e6,
  queueBytes: 512 * KIB,
  outages: { firstS: 3, everyS: 15, leastS: 0.5, mostS: 2, packets: 'held' },
}
const roaming: Direction = {
  ...perfect,
  delayMs: 5,
  jitterMs: 3,
  rateBps: 50e6,
  queueBytes: 256 * KIB,
  outages: { firstS: 3, everyS: 20, leastS: 3, mostS: 3, packets: 'lost' },
}
const bloated: Direction = { ...perfect, delayMs: 20, jitterMs: 2, rateBps: 1e6, queueBytes: 256 * KIB }
const lossy: Direction = { ...perfect, delayMs: 30, jitterMs: 5, loss: 0.05 }

/** All profiles, in the order of the report. Delays are one way. */
export const profiles: readonly Profile[] = [
  { name: 'ideal', title: 'Ideal link', up: perfect, down: perfect },
  { name: 'lte', title: 'LTE: 60 ± 20 ms, 1 % loss', up: lte, down: lte },
  {
    name: 'lte-both',
    title: 'LTE on both sides: the robot too is behind such a link',
    up: lte,
    down: lte,
    robotBehindLink: true,
  },
  {
    name: 'starlink',
    title: 'Starlink: 25 ± 8 ms, stalls for 0.5 to 2 s every 15 s',
    up: starlink,
    down: starlink,
  },
  { name: 'roaming', title: 'Wi-Fi roaming: 5 ± 3 ms, a gap of 3 s every 20 s', up: roaming, down: roaming },
  {
    name: 'bloat',
    title: 'Buffer bloat: 1 Mbit/s, queues of 256 KiB, an upload of 600 kB every 20 s',
    up: bloated,
    down: bloated,
    pairs: 1,
    uploads: { firstS: 3, everyS: 20, bytes: 600_000 },
  },
  {
    name: 'asymmetric',
    title: 'Asymmetric: 100 ± 10 ms and 256 kbit/s up, 15 ± 3 ms and 10 Mbit/s down',
    up: { ...perfect, delayMs: 100, jitterMs: 10, rateBps: 256e3, queueBytes: 32 * KIB },
    down: { ...perfect, delayMs: 15, jitterMs: 3, rateBps: 10e6, queueBytes: 256 * KIB },
    pairs: 1,
  },
  { name: 'loss', title: '30 ± 5 ms, 5 % loss', up: lossy, down: lossy },
]
