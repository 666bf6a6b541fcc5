import { writeFile } from 'node:fs/promises'
import {
  createNamespaces,
  deleteNamespaces,
  inNamespace,
  NotAllowedError,
} from '../../test/support/network/namespaces.ts'
import { createChildren } from '../../test/support/processes/children.ts'
import { callerOf, readyPort } from '../../test/support/processes/rpc.ts'
import { writeReportPart } from '../bench/report-file.ts'
import type { Outcome, SiteProcess } from './inside/main.ts'
import { type Plan, readPlan, usage } from './options.ts'
import { labMarkdown } from './report.ts'

// `npm run netlab`: compares transports of commands over emulated networks.

const NOT_ALLOWED = 2
const INTERRUPTED = 130

const print = (text: string) => void process.stdout.write(`${text}\n`)
const children = createChildren()
let creating: Promise<unknown> = Promise.resolve()
let closing: Promise<void> | undefined

/** Ends every process and deletes the namespaces of this run, also those that are being created. */
function close(): Promise<void> {
  closing ??= creating
    .catch(() => {}) // `measure` reports it
    .then(() => children.stopAll())
    .then(() => deleteNamespaces(process.pid))
  return closing
}

async function measure(plan: Plan): Promise<Outcome> {
  const created = createNamespaces(process.pid)
  creating = created
  const namespaces = await created
  const site = children.run('lab/netlab/inside/main.ts', { through: inNamespace(namespaces.site) })
  site.onLine(print)
  await readyPort(site.process)
  return await callerOf<SiteProcess>(site.process)('measure', plan, namespaces)
}

async function report(
  plan: Plan,
  { measured, machine }: Exclude<Outcome, { notAllowed: string }>,
): Promise<void> {
  const date = new Date().toISOString()
  const { command, seed, seconds, jsonFile, complete } = plan
  if (jsonFile !== undefined) {
    const report = { command, date, seed, seconds, machine, measured }
    await writeFile(jsonFile, `${JSON.stringify(report, null, 2)}\n`)
    print(`Written to ${jsonFile}.`)
  }
  if (!complete) return
  await writeReportPart('network lab', labMarkdown({ measured, machine, plan, date: date.slice(0, 10) }))
  print('Written to docs/benchmarks.md.')
}

function notAllowed(reason: string): void {
  process.stderr.write(
    `npm run netlab needs network namespaces and /dev/net/tun, which are not allowed here: ${reason}\n`,
  )
  process.exitCode = NOT_ALLOWED
}

async function main(): Promise<void> {
  const plan = readPlan(process.argv.slice(2))
  if (plan === 'help') {
    print(usage)
    return
  }
  const interrupted = async () => {
    await close()
    process.exit(INTERRUPTED)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupted)
  try {
    const outcome = await measure(plan)
    if ('notAllowed' in outcome) notAllowed(outcome.notAllowed)
    else await report(plan, outcome)
  } catch (cause) {
    if (!(cause instanceof NotAllowedError)) throw cause
    notAllowed(cause.message)
  } finally {
    await close()
  }
}

main().catch((cause: unknown) => {
  process.stderr.write(`\n${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 1
})
