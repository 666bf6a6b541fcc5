import type { Cluster } from '../cluster/cluster.ts'
import type { OpenSession } from './actors.ts'
import type { Verdict } from './checks/index.ts'
import { runDisconnects } from './disconnects.ts'

const PROGRESS_STEPS = 10

/** `--long`: breaks many connections to the hubs of a healthy cluster, in these open sessions. */
export async function breakMany(
  { nodes, baseUrl }: Pick<Cluster, 'nodes' | 'baseUrl'>,
  sessions: readonly OpenSession[],
  { disconnects, seed, print }: { disconnects: number; seed: number; print: (text: string) => void },
): Promise<Verdict> {
  const hubs = nodes.filter(({ kind }) => kind === 'hub').map(({ port }) => `http://127.0.0.1:${port}`)
  let reportedShares = 0
  const onProgress = (breaks: number) => {
    if (breaks < ((reportedShares + 1) * disconnects) / PROGRESS_STEPS) return
    reportedShares++
    print(`${breaks.toLocaleString('en')} connections broken`)
  }
  const report = await runDisconnects({ hubs, baseUrl, sessions, breaks: disconnects, seed, onProgress })
  const { breaks, clients, acknowledged, entries, problems } = report
  const figures = `${breaks} breaks of ${clients} clients, ${acknowledged} messages acknowledged, ${entries} entries`
  return { name: `no gap, duplicate or reordering after disconnects (${figures})`, wrong: problems }
}
