import { type ControlKind, ControlTransferred, FIRST_EPOCH, recordingTopics } from '@wheelhouse/protocol'
import type { McapFileReader } from '../../recordings/mcap/index.ts'
import { atOffset, type EpisodePeriod, LOOKBACK_MS, offsetMs } from './episode-scan.ts'

/** Changes of who holds control that are read of one recording. The rest of a longer one counts as held by its last holder. */
const MAX_CHANGES = 10_000

/** A part of a session in which one participant held control, or nobody. */
interface Holding {
  /** The epoch that began with it. */
  readonly epoch: number
  readonly fromNs: bigint
  readonly kind: ControlKind | null
}

/** The holdings of a session, in their order; none if its operator, a person, held control all the time. */
const known = new WeakMap<McapFileReader, Promise<readonly Holding[]>>()

/** Reads who held control in the session of a recording, once for each open recording. */
function holdingsOf(reader: McapFileReader): Promise<readonly Holding[]> {
  const holdings = known.get(reader) ?? readHoldings(reader)
  known.set(reader, holdings)
  return holdings
}

async function readHoldings(reader: McapFileReader): Promise<readonly Holding[]> {
  const holdings: Holding[] = []
  for await (const { metadata } of reader.readMetadata({ name: 'session' }))
    if (metadata.get('operator_kind') === 'policy')
      holdings.push({ epoch: FIRST_EPOCH, fromNs: 0n, kind: 'policy' })
  for await (const { data, logTime } of reader.readMessages({ topics: [recordingTopics.events] })) {
    const event = parse(data)
    const change =
      event?.type === 'control.transferred' ? ControlTransferred.safeParse(event.data).data : undefined
    if (!change) continue
    const { from, to, epoch } = change
    if (holdings.length === 0) holdings.push({ epoch: epoch - 1, fromNs: 0n, kind: from?.kind ?? null })
    holdings.push({ epoch, fromNs: logTime, kind: to?.kind ?? null })
    if (holdings.length >= MAX_CHANGES) break
  }
  return holdings
}

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  } catch {
    return undefined
  }
}

/** The part that policies have in an episode. Times are from the start of the episode. */
export class PolicyPart {
  readonly #holdings: readonly (Omit<Holding, 'fromNs'> & { readonly fromMs: number })[]
  /** Since when a policy takes part. */
  #sinceMs: number

  constructor(holdings: readonly Holding[], period: EpisodePeriod) {
    this.#holdings = holdings.map(({ fromNs, ...holding }) => ({
      ...holding,
      fromMs: offsetMs(period, fromNs),
    }))
    const first = this.#holdings.find(({ kind }) => kind === 'policy')
    this.#sinceMs = first?.fromMs ?? Number.POSITIVE_INFINITY
  }

  /** Whether a policy held control before a time. */
  heldBefore(atMs: number): boolean {
    return this.#sinceMs < atMs
  }

  /** Notes a command of a policy that does not hold control. */
  noteCommand(atMs: number): void {
    this.#sinceMs = Math.min(this.#sinceMs, atMs)
  }

  /** Returns whether a policy held control in an epoch. */
  held(epoch: unknown): boolean {
    const holding = this.#holdings.findLast(
      (known) => known.epoch <= (typeof epoch === 'number' ? epoch : FIRST_EPOCH),
    )
    return holding?.kind === 'policy'
  }

  /** Returns whether a person held control at a time, while a policy took part: it held control before, or has sent commands. */
  isIntervention(atMs: number): boolean {
    if (atMs < this.#sinceMs) return false
    const kind =
      this.#holdings.length === 0 ? 'operator' : this.#holdings.findLast(({ fromMs }) => fromMs <= atMs)?.kind
    return kind !== null && kind !== undefined && kind !== 'policy'
  }
}

/** Returns the part that policies have in an episode; undefined without one. */
export async function policyPartIn(
  reader: McapFileReader,
  period: EpisodePeriod,
): Promise<PolicyPart | undefined> {
  const part = new PolicyPart(await holdingsOf(reader), period)
  if (part.heldBefore(offsetMs(period, period.endNs))) return part
  const dropped = reader.readMessages({
    topics: [recordingTopics.dropped],
    startTime: atOffset(period, -LOOKBACK_MS),
    endTime: period.endNs,
  })
  for await (const { data } of dropped) if (isOfPolicy(parse(data))) return part
  return undefined
}

/** Returns whether a dropped command is that of a policy which did not hold control. */
const isOfPolicy = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && 'policy_id' in message
