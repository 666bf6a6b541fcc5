import { fileURLToPath } from 'node:url'
import pTimeout from 'p-timeout'
import { z } from 'zod'
import type { Child, Children } from '../../processes/children.ts'
import { findProgram } from '../../programs/installed-programs.ts'
import { ip, NotAllowedError } from '../namespaces.ts'
import type { Direction, Outages } from '../profiles.ts'

const PROGRAM = fileURLToPath(new URL('link.py', import.meta.url))
const ANSWER_LIMIT_MS = 180_000

const Way = z.object({
  /** Packets that the link accepted from its sender. Each is counted in exactly one of the following numbers. */
  received: z.number(),
  delivered: z.number(),
  lost: z.number(),
  lost_in_outage: z.number(),
  dropped_by_queue: z.number(),
  /** Packets that the receiving system did not accept. */
  refused: z.number(),
  /** Packets in the queue and in flight. */
  held: z.number(),
  most_queued_bytes: z.number(),
  /** Begins and ends of the outages so far, in milliseconds of the monotonic clock. */
  outages_ms: z.array(z.tuple([z.number(), z.number()])),
})
const Report = z.object({
  a_to_b: Way,
  b_to_a: Way,
  /** How late the link itself delivered a packet at most. */
  latest_ms: z.number(),
  /** Times when the link itself did not run, and held packets that were due. */
  pauses_ms: z.array(z.tuple([z.number(), z.number()])),
})
const Answer = z.object({ ready: z.literal(true).optional(), error: z.string().optional() }).loose()

export type LinkReport = z.infer<typeof Report>

/** Names of the two connected namespaces, and the device that the link creates in both. */
export interface LinkEnds {
  readonly a: string
  readonly b: string
  readonly device: string
  /** Address of the device in `a`, and in `b`. */
  readonly addresses: readonly [string, string]
}

/** A link between two namespaces. It works without delay and loss until it is configured. */
export interface EmulatedLink {
  /** Sets both directions and drops the packets on the way. */
  configure(ways: { aToB: Direction; bToA: Direction; seed: string }): Promise<void>
  /** Starts the schedules of outages. */
  begin(): Promise<void>
  report(): Promise<LinkReport>
  stop(): Promise<void>
}

/** Starts a link. @throws NotAllowedError where TUN devices are not allowed or Python is missing */
export async function startLink(children: Children, ends: LinkEnds): Promise<EmulatedLink> {
  const python = findProgram('python3')
  if (!python) throw new NotAllowedError('the program python3 is missing (Debian: apt-get install python3)')
  // Without -B, Python would write compiled files beside the sources.
  const child = children.program(python, ['-B', PROGRAM, ends.a, ends.b, ends.device], { stdin: 'pipe' })
  const answers = answersOf(child)
  const { error } = await answers.next()
  if (error !== undefined) throw new NotAllowedError(`/dev/net/tun: ${error}`)
  await Promise.all([
    setUp(ends.a, ends.device, ends.addresses),
    setUp(ends.b, ends.device, [ends.addresses[1], ends.addresses[0]]),
  ])
  const ask = (command: object) => {
    child.process.stdin?.write(`${JSON.stringify(command)}\n`)
    return answers.next()
  }
  return {
    async configure({ aToB, bToA, seed }) {
      await ask({ command: 'configure', a_to_b: settingsOf(aToB), b_to_a: settingsOf(bToA), seed })
    },
    async begin() {
      await ask({ command: 'begin' })
    },
    report: async () => Report.parse(await ask({ command: 'report' })),
    async stop() {
      child.process.stdin?.end()
      await child.ended
    },
  }
}

async function setUp(namespace: string, device: string, [own, peer]: readonly [string, string]) {
  await ip('-n', namespace, 'address', 'add', own, 'peer', peer, 'dev', device)
  await ip('-n', namespace, 'link', 'set', device, 'up')
}

const settingsOf = ({
  delayMs,
  jitterMs,
  reorders = false,
  loss,
  rateBps,
  queueBytes,
  outages,
}: Direction) => ({
  delay_s: delayMs / 1_000,
  jitter_s: jitterMs / 1_000,
  reorders,
  loss,
  rate_bps: rateBps,
  queue_bytes: queueBytes,
  ...(outages && { outages: outagesOf(outages) }),
})

const outagesOf = ({ firstS, everyS, leastS, mostS, packets }: Outages) => ({
  first_s: firstS,
  every_s: everyS,
  least_s: leastS,
  most_s: mostS,
  packets,
})

/** Reads the answers of the link in order. Rejects when it ends or takes too long. */
function answersOf(child: Child) {
  const lines: string[] = []
  const waiting: ((line: string | undefined) => void)[] = []
  let ended = false
  child.onLine((line) => {
    const settle = waiting.shift()
    if (settle) settle(line)
    else lines.push(line)
  })
  child.ended.then(() => {
    ended = true
    for (const settle of waiting.splice(0)) settle(undefined)
  })
  const nextLine = () =>
    new Promise<string | undefined>((resolve) => {
      if (lines.length > 0 || ended) resolve(lines.shift())
      else waiting.push(resolve)
    })
  return {
    async next(): Promise<z.infer<typeof Answer>> {
      const line = await pTimeout(nextLine(), { milliseconds: ANSWER_LIMIT_MS })
      if (line === undefined) throw new Error(`The emulated link has ended:\n${child.output()}`)
      return Answer.parse(JSON.parse(line))
    },
  }
}
