import { join } from 'node:path'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import { startWheelhouseRelay } from '../relay/wheelhouse.ts'
import type { Section } from '../report.ts'
import { figure, median } from '../stats.ts'
import { folderOf, ownDatabase } from '../versions.ts'
import { steadily, withGenerator } from './relay-runs.ts'

const MOST_COST = 1.05

interface Times {
  readonly p50: number
  readonly p99: number
}

/** Compares the relay of this version with that of an earlier checkout, in rounds in which the two take turns. */
export async function relayCost(lab: Lab, plan: Plan, checkout: string): Promise<Section> {
  const folders = [folderOf(checkout), '.']
  const labs = await Promise.all(
    folders.map(async (folder, index) => ({
      ...lab,
      ...(await ownDatabase(lab, index === 0 ? 'before' : 'now', folder)),
    })),
  )
  const rounds: Times[][] = []
  try {
    for (let round = 0; round < plan.relay.costRounds; round++) {
      const times: Times[] = []
      for (const index of round % 2 === 0 ? [0, 1] : [1, 0])
        times[index] = await timesOf(labs[index] as Lab, plan, join(folders[index] as string, 'src/main.ts'))
      rounds.push(times)
    }
  } finally {
    for (const { db } of labs) await db.end()
  }
  const rate = plan.relay.rates[0]
  return {
    title: 'Control relay of an earlier version and now',
    rows: (['p50', 'p99'] as const).map((share) => {
      const [before, now] = [0, 1].map((index) => median(rounds.map((times) => times[index]?.[share] ?? 0)))
      const ratios = rounds.map(([earlier, later]) => (later?.[share] ?? 0) / (earlier?.[share] ?? 0))
      const ratio = median(ratios)
      return {
        what: `JSON, ${rate?.pairs} pairs at ${rate?.hz} Hz, ${share} before → now`,
        measured: `${figure(before ?? 0)} → ${figure(now ?? 0)} µs; ratio of a round: ${figure(ratio)} (${figure(Math.min(...ratios))}–${figure(Math.max(...ratios))})`,
        goal: `≤ ${MOST_COST}`,
        met: ratio <= MOST_COST,
      }
    }),
    notes: [
      `${plan.relay.costRounds} rounds in which the versions take turns, each with its own processes and database. The ratio is the median of the rounds, with the smallest and the largest.`,
    ],
  }
}

async function timesOf(lab: Lab, plan: Plan, program: string): Promise<Times> {
  const [rate] = plan.relay.rates
  if (!rate) throw new Error('The plan has no rate.')
  const relay = await startWheelhouseRelay(lab, rate.pairs, { program })
  try {
    const { report } = await withGenerator(lab, async (tools) => {
      await relay.connect(tools.generator, 0, rate.pairs)
      return await steadily(plan.relay, relay, tools, { ...rate, form: 'JSON' })
    })
    return { p50: report.latency.p50Us, p99: report.latency.p99Us }
  } finally {
    await relay.stop()
    await relay.cleanUp()
  }
}
