import type { NumberSlot, VectorFeature } from './features.ts'
import { INVALID, MISSING, readSlot } from './slot-values.ts'

/** The platform's deadman: a command that is older has no effect at the robot. */
const COMMAND_MS = 250
/** A sample after a row is used for it only if it follows within this time. */
const NEAREST_MS = 500

type CommandSource = Exclude<VectorFeature['source'], 'telemetry'>
const COMMAND_SOURCES: readonly CommandSource[] = ['control', 'policy']

/** Which sample of the telemetry a row has: the last one up to its time, as a policy knows it, or the nearest one, which may be later. */
export type Alignment = 'causal' | 'nearest'

/** A command, a command of a policy, or a sample. The time is that at which the robot got or made it, from the start of the episode. */
export interface TimedMessage {
  readonly source: VectorFeature['source']
  readonly atMs: number
  /** Undefined for binary data, and for a message that is damaged. */
  readonly content: { readonly data: unknown } | undefined
}

/** The samples that a dataset leaves out or replaces, for its card. */
export interface ResamplingCounts {
  /** Messages with binary data, or damaged ones. */
  unreadable: number
  /** Values that are no finite numbers. The last finite value replaces them. */
  invalid: number
  /** Rows before the first sample of a field, which is 0 in them. */
  unseen: number
}

/** A slot of a command, and the slot of the telemetry with the same path. */
interface ObservedSlot {
  readonly slot: number
  readonly feature: number
  readonly at: number
}

function observedSlots(commands: readonly NumberSlot[], features: readonly VectorFeature[]): ObservedSlot[] {
  const found = new Map<string, Omit<ObservedSlot, 'slot'>>()
  for (const [feature, { source, slots }] of features.entries())
    if (source === 'telemetry')
      for (const [at, { path }] of slots.entries()) found.set(path.join('.'), { feature, at })
  return commands.flatMap(({ path, isSpeed }, slot) => {
    const observed = isSpeed ? undefined : found.get(path.join('.'))
    return observed ? [{ slot, ...observed }] : []
  })
}

export const noCounts = (): ResamplingCounts => ({ unreadable: 0, invalid: 0, unseen: 0 })

/** The values of one row. */
export interface Row {
  readonly atMs: number
  /** One vector for each feature. */
  readonly vectors: readonly Float32Array[]
  /** Whether a command of the operator was in effect; with a policy, whether a person held control. */
  readonly isIntervention: boolean
}

/**
 * Turns messages at any times into rows at given times. A command holds until the next one; its speeds hold at most for the
 * deadman's time, and are then neutral. Before the first command, other fields are those of the telemetry: a policy that learns
 * a jump to 0 moves an arm in every pause. Values of the telemetry hold until the next sample, unless the alignment
 * is `nearest`, which gives numbers those of the nearest sample.
 */
export class Resampler {
  readonly #features: readonly VectorFeature[]
  readonly #rowTimes: Float64Array
  readonly #counts: ResamplingCounts
  readonly #alignment: Alignment
  readonly #current: Float32Array[]
  /** For each slot of a command that is no speed, where the telemetry has the same field. */
  readonly #observed: (readonly ObservedSlot[])[]
  readonly #seen: Uint8Array[]
  #unseen: number
  readonly #commandMs = { control: Number.NEGATIVE_INFINITY, policy: Number.NEGATIVE_INFINITY }
  #sampleMs = Number.NEGATIVE_INFINITY
  #next = 0
  /** Rows that the next sample may be nearer to. */
  #open: Row[] = []

  constructor(
    features: readonly VectorFeature[],
    rowTimes: Float64Array,
    counts: ResamplingCounts,
    alignment: Alignment,
  ) {
    this.#features = features
    this.#rowTimes = rowTimes
    this.#counts = counts
    this.#alignment = alignment
    this.#observed = features.map(({ source, slots }) =>
      source === 'telemetry' ? [] : observedSlots(slots, features),
    )
    this.#current = features.map(({ source, slots }) =>
      source === 'telemetry'
        ? new Float32Array(slots.length)
        : Float32Array.from(slots, ({ neutral }) => neutral),
    )
    this.#seen = features.map(({ slots }) => new Uint8Array(slots.length))
    this.#unseen = features.reduce(
      (sum, { source, slots }) => sum + (source === 'telemetry' ? slots.length : 0),
      0,
    )
  }

  /** Adds the next message in the order of time. Returns the rows that no later message can change. */
  *add(message: TimedMessage): Generator<Row> {
    const { source, atMs, content } = message
    yield* this.#createRows(atMs)
    if (content === undefined) {
      if (atMs >= 0) this.#counts.unreadable++
      return
    }
    if (source !== 'telemetry') {
      this.#applyCommand(source, content.data, atMs)
      return
    }
    if (this.#alignment === 'nearest') this.#preferNearer(content.data, atMs)
    this.#applySample(content.data, atMs)
    yield* this.#open.splice(0)
  }

  /** Returns the remaining rows. */
  *end(): Generator<Row> {
    yield* this.#createRows(Number.POSITIVE_INFINITY)
    yield* this.#open.splice(0)
  }

  /** Creates the rows before a time. Returns those that are too old for a sample from that time on. */
  *#createRows(beforeMs: number): Generator<Row> {
    for (; this.#next < this.#rowTimes.length; this.#next++) {
      const atMs = this.#rowTimes[this.#next] as number
      if (atMs >= beforeMs) break
      this.#open.push(this.#rowAt(atMs))
      yield* this.#settle(atMs - NEAREST_MS)
    }
    if (beforeMs < Number.POSITIVE_INFINITY) yield* this.#settle(beforeMs - NEAREST_MS)
  }

  #rowAt(atMs: number): Row {
    const isInEffect = (of: CommandSource) => atMs - this.#commandMs[of] <= COMMAND_MS
    const vectors = this.#current.map((current) => current.slice())
    for (const of of COMMAND_SOURCES) if (!isInEffect(of)) this.#endSpeeds(of, vectors)
    this.#observe(vectors, (feature, at) => this.#seen[feature]?.[at] === 1)
    if (this.#unseen > 0) this.#counts.unseen++
    return { atMs, vectors, isIntervention: isInEffect('control') }
  }

  /** Ends the speeds of a row in which no command is in effect. */
  #endSpeeds(of: CommandSource, vectors: readonly Float32Array[]): void {
    for (const [index, { source, slots }] of this.#features.entries()) {
      if (source !== of) continue
      for (const [slot, { isSpeed, neutral }] of slots.entries())
        if (isSpeed) (vectors[index] as Float32Array)[slot] = neutral
    }
  }

  /** Gives the fields of a row that no command has set yet the values of the telemetry, where it has them. */
  #observe(vectors: readonly Float32Array[], isSeen: (feature: number, at: number) => boolean): void {
    for (const [index, observed] of this.#observed.entries())
      for (const { slot, feature, at } of observed)
        if (this.#seen[index]?.[slot] !== 1 && isSeen(feature, at))
          (vectors[index] as Float32Array)[slot] = vectors[feature]?.[at] as number
  }

  /** Takes the open rows up to a time. */
  #settle(upToMs: number): Row[] {
    const first = this.#open.findIndex(({ atMs }) => atMs > upToMs)
    return this.#open.splice(0, first === -1 ? this.#open.length : first)
  }

  #applyCommand(of: CommandSource, data: unknown, atMs: number): void {
    for (const [index, { source, slots }] of this.#features.entries()) {
      if (source !== of) continue
      const current = this.#current[index] as Float32Array
      const seen = this.#seen[index] as Uint8Array
      for (const [slot, definition] of slots.entries()) {
        const value = readSlot(data, definition)
        if (typeof value === 'number') {
          current[slot] = value
          seen[slot] = 1
        } else if (value === INVALID) {
          if (atMs >= 0) this.#counts.invalid++
        } else if (definition.isSpeed) current[slot] = definition.neutral
      }
    }
    this.#commandMs[of] = atMs
  }

  #applySample(data: unknown, atMs: number): void {
    for (const [index, { source, slots }] of this.#features.entries()) {
      if (source !== 'telemetry') continue
      const current = this.#current[index] as Float32Array
      const seen = this.#seen[index] as Uint8Array
      for (const [slot, definition] of slots.entries()) {
        const value = readSlot(data, definition)
        if (value === MISSING) continue
        if (value === INVALID) {
          if (atMs >= 0) this.#counts.invalid++
          continue
        }
        current[slot] = value
        this.#unseen -= 1 - (seen[slot] as number)
        seen[slot] = 1
      }
    }
    this.#sampleMs = atMs
  }

  /** Gives open rows the numbers of a later sample, where it is nearer than the one before. */
  #preferNearer(data: unknown, sampleMs: number): void {
    const nearer = this.#open.filter(({ atMs }) => sampleMs - atMs < atMs - this.#sampleMs)
    if (nearer.length === 0) return
    for (const [index, { source, slots }] of this.#features.entries()) {
      if (source !== 'telemetry') continue
      for (const [slot, definition] of slots.entries()) {
        if (definition.kind !== 'number') continue
        const value = readSlot(data, definition)
        if (typeof value !== 'number') continue
        for (const { vectors } of nearer) (vectors[index] as Float32Array)[slot] = value
      }
    }
    for (const { vectors } of nearer)
      this.#observe(vectors, (feature, at) => {
        const slot = this.#features[feature]?.slots[at]
        return (
          this.#seen[feature]?.[at] === 1 || (slot !== undefined && typeof readSlot(data, slot) === 'number')
        )
      })
  }
}
