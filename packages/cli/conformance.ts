import { writeFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { DEFAULT_MOTION } from './conformance/motion.ts'
import { operatorRules, testOperator } from './conformance/operator-rules.ts'
import { type Launcher, launchByHand, launchCommand } from './conformance/program-under-test.ts'
import { badge, createReport, junit, type Report, summaryOf } from './conformance/report.ts'
import { robotRules, testRobot } from './conformance/robot-rules.ts'
import type { Rule, Verdict } from './conformance/rule.ts'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import { choice, collectList, integer, readSchema } from './lib/options.ts'
import { type Piece, styled } from './lib/text.ts'
import { version } from './lib/version.ts'

export const commands = { conformance: declareConformance }

/** Stop signals that the program may have, and that do not end it for certain. */
const STOP_SIGNALS = ['SIGINT', 'SIGUSR1', 'SIGUSR2', 'SIGHUP'] as const

/** Declares `wheelhouse conformance …`: tests a program that somebody has written against the protocol. */
function declareConformance(conformance: Command, action: CreateAction): void {
  const declare = (subject: Report['subject'], description: string) =>
    conformance
      .command(subject)
      .description(description)
      .argument('[command...]', `starts the ${subject}, after --`)
      .option('--only <rules>', 'only these rules, with commas between them', collectList)
      .option('--quick', 'only the rules that matter most: less than 15 seconds')
      .option(
        '--timeout <seconds>',
        'how long the program may take to connect',
        integer(1, MAX_TIMEOUT_S),
        20,
      )
      .option('--junit <file>', 'write the report for CI servers, as JUnit XML')
      .option('--badge <file>', 'write the result as a picture, SVG')
      .option('--list', 'show the rules, and whom each protects')
  declare(
    'robot',
    'test whether a robot keeps the duties of the protocol; it moves: lift it off the ground, and keep its emergency stop device at hand',
  )
    .option(
      '--control <json>',
      'data of a command that moves the robot; a list for an arm, which stands where it was sent',
      parseJson,
      {
        linear_mps: 0.3,
        angular_radps: 0,
      },
    )
    .option(
      '--still <json>',
      'data of a command that makes it stand; default: the same with zeros',
      parseJson,
    )
    .option('--binary-control <hex>', 'payload of a binary command that moves it', parseHex)
    .option('--motion <paths>', 'fields of its telemetry that say whether it moves, * for all', collectList)
    .option('--stop-ms <ms>', 'how long it may take to halt', integer(50, MAX_STOP_MS), 500)
    .option('--control-schema <file>', 'its control schema, for rules about arms')
    .option('--url-only', 'print the address, and wait for a robot that you start yourself')
    .action(action(robot))
  declare('operator', 'test whether a program that drives robots keeps the duties of the protocol')
    .addOption(
      choice('--stop-signal <name>', 'the signal on which the program stops the robot', STOP_SIGNALS),
    )
    .option('--telemetry <json>', 'data of the telemetry that it gets', parseJson)
    .action(action(operator))
}

/** Longest time that a program may take to connect, in seconds. */
const MAX_TIMEOUT_S = 600
/** Longest time that a robot may take to halt, in milliseconds. */
const MAX_STOP_MS = 10_000

interface Options {
  readonly only?: readonly string[]
  readonly quick?: true
  readonly timeout: number
  readonly junit?: string
  readonly badge?: string
  readonly list?: true
}

interface RobotOptions extends Options {
  readonly control: unknown
  readonly still?: unknown
  readonly binaryControl?: Uint8Array
  readonly motion?: readonly string[]
  readonly stopMs: number
  readonly controlSchema?: string
  readonly urlOnly?: true
}

interface OperatorOptions extends Options {
  readonly stopSignal?: (typeof STOP_SIGNALS)[number]
  readonly telemetry?: unknown
}

async function robot(cli: Context, command: readonly string[], options: RobotOptions): Promise<void> {
  if (options.list) return listRules(cli, robotRules)
  checkOnly(robotRules, options)
  if (options.urlOnly ? command.length > 0 : command.length === 0)
    throw new Failure('usage', 'Set the command that starts the robot after --, or --url-only.')
  const launcher: Launcher = options.urlOnly
    ? launchByHand((text) => cli.out.notice(text))
    : launchCommand(command, cli.env)
  const { control, motion = DEFAULT_MOTION, stopMs } = options
  const controls = Array.isArray(control) ? control : [control]
  const still = options.still ?? withZeros(controls[0])
  const controlSchema = await readSchema(options.controlSchema, 'control schema')
  const { signal } = cli
  const settings = {
    launcher,
    controls,
    still,
    binaryControl: options.binaryControl,
    motion,
    stopMs,
    controlSchema: controlSchema ?? undefined,
    connectLimitMs: options.timeout * 1_000,
    signal,
  }
  await report(cli, 'robot', options, await testRobot(settings, options, (verdict) => show(cli, verdict)))
}

async function operator(cli: Context, command: readonly string[], options: OperatorOptions): Promise<void> {
  if (options.list) return listRules(cli, operatorRules)
  checkOnly(operatorRules, options)
  if (command.length === 0) throw new Failure('usage', 'Set the command that starts the operator after --.')
  const settings = {
    launcher: launchCommand(command, cli.env),
    stopSignal: options.stopSignal,
    telemetry: options.telemetry,
    connectLimitMs: options.timeout * 1_000,
    signal: cli.signal,
  }
  await report(
    cli,
    'operator',
    options,
    await testOperator(settings, options, (verdict) => show(cli, verdict)),
  )
}

function listRules<Bench>(cli: Context, rules: readonly Rule<Bench>[]): void {
  const rows = rules.map(({ id, title, protects, duty, quick }) => ({ id, title, protects, duty, quick }))
  cli.out.result(rows, () => {
    for (const { id, title, protects, duty, quick } of rows) {
      cli.out.line(styled('bold', id), quick ? ' (quick)  ' : '  ', title)
      cli.out.line(styled('dim', `  protects ${protects}; docs/${duty}`))
    }
  })
}

/** @throws Failure for a rule that does not exist */
function checkOnly<Bench>(rules: readonly Rule<Bench>[], { only = [] }: Options): void {
  const unknown = only.find((id) => !rules.some((rule) => rule.id === id))
  if (unknown === undefined) return
  throw new Failure('usage', `There is no rule ${unknown}. --list shows the rules.`)
}

const MARKS: Readonly<Record<Verdict['outcome'], Piece>> = {
  passed: styled('green', 'pass'),
  failed: styled('red', 'FAIL'),
  'not tested': styled('yellow', 'not tested'),
}

/** Shows a verdict as soon as it is known. */
function show(cli: Context, verdict: Verdict): void {
  cli.out.note(MARKS[verdict.outcome], `  ${verdict.id}: ${summaryOf(verdict)}`)
}

async function report(
  cli: Context,
  subject: Report['subject'],
  options: Options,
  verdicts: readonly Verdict[],
): Promise<void> {
  const result = createReport(subject, version, verdicts)
  if (options.junit !== undefined) await write(options.junit, junit(result))
  if (options.badge !== undefined) await write(options.badge, badge(result))
  cli.out.result(result, () => {
    cli.out.table(verdicts, [
      { title: 'RULE', value: ({ id }) => id, noTruncate: true },
      { title: 'RESULT', value: ({ outcome }) => MARKS[outcome], noTruncate: true },
      { title: 'MEASURED', value: (verdict) => ('reason' in verdict ? verdict.reason : verdict.measured) },
      { title: 'LIMIT', value: (verdict) => ('limit' in verdict ? verdict.limit : '') },
    ])
    const { passed, failed, not_tested } = result
    cli.out.line(`${passed} passed, ${failed} failed, ${not_tested} not tested`)
  })
  if (result.failed > 0) process.exitCode = 1
}

/** @throws Failure if the file cannot be written */
async function write(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((cause: Error) => {
    throw new Failure('refused', `${path} cannot be written: ${cause.message}`)
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('Enter JSON, such as \'{"linear_mps":0.3}\'.')
  }
}

function parseHex(text: string): Uint8Array {
  if (/^([0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex')
  throw new InvalidArgumentError('Enter the bytes as hexadecimal digits, two for each.')
}

/** Returns a copy in which every number is 0. */
function withZeros(data: unknown): unknown {
  if (typeof data === 'number') return 0
  if (Array.isArray(data)) return data.map(withZeros)
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withZeros(value)]))
}
