import { readFile } from 'node:fs/promises'
import { InvalidArgumentError, Option } from 'commander'
import { Failure } from './failure.ts'

/** Options of every command. */
export interface GlobalOptions {
  readonly server?: string
  readonly profile?: string
  readonly hub?: string
  readonly json?: true
  readonly quiet?: true
  readonly yes?: true
  readonly color: boolean
}

/** Returns an option that takes one of several values. */
export function choice(
  flags: string,
  description: string,
  values: readonly string[],
  preset?: string,
): Option {
  const option = new Option(flags, description).choices(values)
  return preset === undefined ? option : option.default(preset)
}

/** Returns a commander parser for a whole number within limits. */
export const integer = (min: number, max: number) => (text: string) => {
  const value = Number(text)
  if (/^-?\d+$/.test(text) && value >= min && value <= max) return value
  throw new InvalidArgumentError(`Enter a whole number from ${min} to ${max}.`)
}

/** Parses a time: ISO 8601 (default zone: this machine's), or `+30m`, `+2h`, `-7d` from now. @returns ISO 8601 in UTC */
export function parseTime(text: string): string {
  const offset = /^([+-]\d{1,5})([mhd])$/.exec(text)
  const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 }
  const time = offset
    ? Date.now() + Number(offset[1]) * unitMs[offset[2] as keyof typeof unitMs]
    : /^\d{4}-\d{2}-\d{2}/.test(text)
      ? Date.parse(text.length === 10 ? `${text}T00:00` : text)
      : Number.NaN
  if (Number.isFinite(time)) return new Date(time).toISOString()
  throw new InvalidArgumentError('Enter a time such as 2026-12-01T09:30, 2026-12-01T09:30Z, +30m or -2h.')
}

/** Collects the values of a repeatable option. */
export const collectValues = (text: string, before: readonly string[] = []) => [...before, text]

/** Collects the values of a repeatable option, each of which may be a list with commas. */
export function collectList(text: string, before: readonly string[] = []): string[] {
  const values = text.split(',').map((value) => value.trim())
  if (values.includes('')) throw new InvalidArgumentError('Enter a list such as a,b, without empty values.')
  return [...before, ...values]
}

/** Returns a commander parser for a whole number within limits, or `none`. Commander would replace null by an empty text. */
export const integerOrNone = (min: number, max: number) => (text: string) =>
  text === 'none' ? text : integer(min, max)(text)

/**
 * Reads a declared schema, which the platform validates; null for an empty path, undefined without one.
 * @param what the name of the schema, for the error
 * @throws Failure if the file is not readable, or not JSON
 */
export async function readSchema(
  path: string | undefined,
  what: string,
): Promise<Record<string, unknown> | null | undefined> {
  if (path === undefined) return undefined
  if (path === '') return null
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new Failure('usage', `The ${what} in ${path} cannot be read: ${(cause as Error).message}`)
  }
}

/** Returns the values without those that are undefined: the options that a command line has. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** Description of `wheelhouse stop` and `wheelhouse sessions stop`. */
export const STOP_DESCRIPTION =
  'remote stop: halts the robot until a participant clears it; it does not replace the emergency stop device of the robot'
