import type { NodeKind } from '../cluster/cluster.ts'
import type { Random } from './random.ts'

const nodeKinds: readonly NodeKind[] = [
  'api',
  'hub',
  'gateway',
  'worker',
  'recorder',
  'proxy',
  'redis',
  'postgres',
  'storage',
]
/** The dependencies of a recording. */
const recordingKinds: readonly NodeKind[] = ['gateway', 'recorder', 'worker', 'storage']
const cutParts = ['robots', 'operators', 'hub clients'] as const
export type CutPart = (typeof cutParts)[number]

export type Fault = {
  readonly number: number
  /** Milliseconds after the end of the previous fault or, with `together`, after its beginning. */
  readonly waitMs: number
  readonly together: boolean
} & FaultAction

/** A fault of one node. `which` selects the node of its kind, modulo their number. */
export type NodeFaultAction =
  | {
      readonly what: 'kill' | 'pause'
      readonly kind: NodeKind
      readonly which: number
      readonly forMs: number
    }
  | { readonly what: 'restart'; readonly kind: NodeKind; readonly which: number }

export type FaultAction =
  | NodeFaultAction
  | { readonly what: 'flush'; readonly kind: 'redis' }
  | { readonly what: 'cut'; readonly part: CutPart; readonly share: number }

const QUIET_MS = [1_000, 3_500] as const
const TOGETHER_MS = [200, 2_000] as const
const TOGETHER_SHARE = 0.2
const DOWN_MS = [100, 5_000] as const
const PAUSED_MS = [500, 8_000] as const

/**
 * Generates an endless sequence of faults, reproducible by seed. Every kind occurs once before any is repeated, in a
 * new order each time, so that even a short run is a mixture and a long one covers all kinds. At most two faults
 * overlap, on nodes of different kinds.
 * @param pace divides all durations
 */
export function* planFaults(random: Random, pace = 1): Generator<Fault> {
  let before: Fault | undefined
  for (let number = 1; ; ) {
    for (const nextFault of random.shuffled(deck)) {
      const together =
        before !== undefined &&
        !before.together &&
        random.chance(TOGETHER_SHARE) &&
        targetOf(before) !== nextFault.at
      const [least, most] = together ? TOGETHER_MS : QUIET_MS
      const waitMs = Math.round(random.between(least, most) / pace)
      before = { number, together, waitMs, ...nextFault.draw(random, pace) }
      number++
      yield before
    }
  }
}

/** Generates kills of the nodes that recordings depend on, at random. Sometimes two kinds are down at the same time. */
export function* planRecordingFaults(
  random: Random,
  { rounds, pace }: { rounds: number; pace: number },
): Generator<Fault> {
  let before: (Fault & { kind: NodeKind }) | undefined
  for (let number = 1; number <= rounds; number++) {
    const kind = random.pick(recordingKinds)
    const together =
      before !== undefined && !before.together && before.kind !== kind && random.chance(TOGETHER_SHARE)
    const [least, most] = together ? TOGETHER_MS : QUIET_MS
    const waitMs = Math.round(random.between(least, most) / pace)
    const forMs = Math.round(random.between(...DOWN_MS) / pace)
    before = { number, together, waitMs, what: 'kill', kind, which: which(random), forMs }
    yield before
  }
}

/** Returns the kind of node that a fault affects, or the part of the clients. */
export const targetOf = (fault: FaultAction): NodeKind | CutPart =>
  'kind' in fault ? fault.kind : fault.part

/** Names a fault without its duration: for counting. */
export const nameOf = (fault: FaultAction): string =>
  fault.what === 'kill' ? `kill -9 ${fault.kind}` : `${fault.what} ${targetOf(fault)}`

interface Card {
  readonly at: NodeKind | CutPart
  draw(random: Random, pace: number): FaultAction
}

const which = (random: Random) => random.below(1_000)
const deck: readonly Card[] = [
  ...nodeKinds.flatMap((kind): Card[] => [
    {
      at: kind,
      draw: (random, pace) => ({
        what: 'kill',
        kind,
        which: which(random),
        forMs: Math.round(random.between(...DOWN_MS) / pace),
      }),
    },
    {
      at: kind,
      draw: (random, pace) => ({
        what: 'pause',
        kind,
        which: which(random),
        forMs: Math.round(random.between(...PAUSED_MS) / pace),
      }),
    },
    { at: kind, draw: (random) => ({ what: 'restart', kind, which: which(random) }) },
  ]),
  { at: 'redis', draw: () => ({ what: 'flush', kind: 'redis' }) },
  ...cutParts.map(
    (part): Card => ({ at: part, draw: (random) => ({ what: 'cut', part, share: random.between(0.3, 1) }) }),
  ),
]
