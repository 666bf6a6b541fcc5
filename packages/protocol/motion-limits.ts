/** After a longer gap between two commands, a value may change as much as within this time: the robot has held its position. */
const MAX_GAP_S = 0.1

/** A value of a command that the robot may not change faster than its rate, or only while a clutch is engaged. */
export interface LimitedField {
  readonly path: readonly string[]
  /** Largest change per second, in the unit of the field. */
  readonly maxRate: number
  /** The clutches of the objects around it: it follows only while all of them are true. */
  readonly clutches: readonly (readonly string[])[]
}

/**
 * Limits how fast the values of commands change (`x-max-rate`), and holds them while a clutch is released (`x-clutch`). One for each
 * connection of a robot: it remembers the last value of each field, the *reference*. The gateway in strict mode and the SDKs in
 * TypeScript and Python follow the same table of cases, `control-limits.cases.json`.
 */
export class MotionLimiter {
  readonly #fields: readonly LimitedField[]
  #references: readonly Reference[]
  #atMs = Number.NEGATIVE_INFINITY
  /** As they were before the last command. */
  #before: { readonly references: readonly Reference[]; readonly atMs: number } | undefined

  constructor(fields: readonly LimitedField[]) {
    this.#fields = fields
    this.#references = fields.map(() => undefined)
  }

  /**
   * Forgets the references. Without one, the first value of a field passes as it is.
   * @param measured the robot's present positions, in the form of a command: they become the references
   */
  reset(measured?: unknown): void {
    this.#references = this.#fields.map(({ path }) => readReference(valueAt(measured, path)))
    this.#atMs = Number.NEGATIVE_INFINITY
    this.#before = undefined
  }

  /** Takes the last command back, because it did not reach the robot: values that it never had are no references. */
  undo(): void {
    if (!this.#before) return
    this.#references = this.#before.references
    this.#atMs = this.#before.atMs
    this.#before = undefined
  }

  /**
   * Returns the data of a command that the schema allows, with each limited field no farther from its reference than its rate allows in
   * the time since the last command. The argument itself if nothing changes, otherwise a copy.
   * @param atMs when the command arrived, in milliseconds of a clock that never jumps
   * @param speedScale the share of the robot's speed that is allowed at present, above 0 and up to 1
   */
  limit(data: unknown, atMs: number, speedScale: number): unknown {
    const stepS = Math.min(MAX_GAP_S, Math.max(0, (atMs - this.#atMs) / 1_000)) * speedScale
    this.#before = { references: this.#references, atMs: this.#atMs }
    this.#atMs = atMs
    let limited = data
    this.#references = this.#fields.map(({ path, maxRate, clutches }, index) => {
      const reference = this.#before?.references[index]
      const engaged = clutches.every((clutch) => valueAt(data, clutch) === true)
      const step = engaged ? maxRate * stepS : 0
      limited = changeAt(limited, path, (value) => {
        if (reference === undefined) return engaged ? value : REMOVED
        return stepTowards(value, reference, step)
      })
      return merge(readReference(valueAt(limited, path)), reference)
    })
    return limited
  }
}

function readReference(value: unknown): Reference {
  if (Number.isFinite(value)) return value as number
  return Array.isArray(value) && value.every(Number.isFinite) ? (value as number[]) : undefined
}

type Reference = number | readonly number[] | undefined

/** Returns the newer reference. Items that a shorter array does not have keep theirs. */
function merge(newer: Reference, older: Reference): Reference {
  if (!Array.isArray(newer) || !Array.isArray(older)) return newer ?? older
  return [...newer, ...older.slice(newer.length)]
}

/** Returns a value, or an array of them, at most `step` from the reference. An item without a reference stays as it is. */
function stepTowards(value: unknown, reference: NonNullable<Reference>, step: number): unknown {
  const limitNumber = (item: unknown, from: unknown) =>
    typeof item === 'number' && typeof from === 'number'
      ? Math.min(Math.max(item, from - step), from + step)
      : item
  if (!Array.isArray(value)) return limitNumber(value, reference)
  if (!Array.isArray(reference)) return value
  const items = value.map((item, index) => limitNumber(item, reference[index]))
  return items.every((item, index) => item === value[index]) ? value : items
}

/** Returns the value at a path; undefined without one. Finds nothing that is inherited. */
export function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data
  for (const field of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined
    value = (value as Record<string, unknown>)[field]
  }
  return value
}

/** Stands for a value that must not pass. */
export const REMOVED = Symbol('removed')

/** Returns the data with the value at a path changed, or removed: the argument itself if nothing changes, otherwise a copy. */
export function changeAt(
  data: unknown,
  [field, ...below]: readonly string[],
  change: (value: unknown) => unknown,
): unknown {
  if (field === undefined) return change(data)
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, field)) return data
  const record = data as Record<string, unknown>
  const changed = changeAt(record[field], below, change)
  if (changed === record[field]) return data
  if (changed !== REMOVED) return { ...record, [field]: changed }
  const { [field]: _, ...others } = record
  return others
}
