import { randomInt } from 'node:crypto'

const MAX_SEED = 2 ** 31 - 1

export const print = (text: string) => void process.stdout.write(`${text}\n`)

/**
 * Runs a program of the fault bench and exits with its code: 0 or 1 by the result, 2 when it could not run or its
 * options are invalid.
 * @param run returns whether it has passed
 */
export function runProgram<Options>(
  usage: string,
  readOptions: (args: string[]) => Options | 'help',
  run: (options: Options) => Promise<boolean>,
): void {
  let options: Options | 'help'
  try {
    options = readOptions(process.argv.slice(2))
  } catch (cause) {
    process.stderr.write(`${cause instanceof Error ? cause.message : cause}\n\n${usage}`)
    process.exit(2)
  }
  if (options === 'help') return print(usage)
  run(options).then(
    (passed) => process.exit(passed ? 0 : 1),
    (cause: unknown) => {
      process.stderr.write(`\n${cause instanceof Error ? cause.stack : String(cause)}\n`)
      process.exit(2)
    },
  )
}

/** Parses `--minutes`. @throws Error for an invalid value */
export function parseMinutes(text: string, max: number): number {
  const minutes = Number(text)
  if (!(minutes > 0 && minutes <= max)) throw new Error(`--minutes must be above 0 and at most ${max}`)
  return minutes
}

/** Parses `--seed`; returns a random seed when it is not set. @throws Error for an invalid value */
export function parseSeed(text: string | undefined): number {
  return text === undefined ? randomInt(MAX_SEED) : parseWhole('--seed', text, 0, MAX_SEED)
}

/** Parses a whole number. @throws Error that names the option and its limits */
export function parseWhole(name: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`${name} must be a whole number from ${min} to ${max}`)
  return value
}
