import type { Finding } from '../finding.ts'
import { cycles, folderCycles } from './folder-cycles.ts'
import { cruiseRepository, type Edge } from './graph.ts'
import { MAX_MODULE_EDGES, moduleEdges } from './module-edges.ts'

const EDGES_FILE = 'tools/checks/dependencies/module-edges.ts'

/** Folders in which no folder may depend on itself through another one. */
const ACYCLIC = [
  'src',
  'gateway',
  'hub',
  'packages/protocol',
  'packages/sdk',
  'packages/cli',
  'packages/console',
  'tools',
]

/** Files that every role loads, and what they must not load with them. */
const ENTRIES = ['src/main.ts', 'src/roles/api/api.ts']
const LOADED_ON_DEMAND = /^(?:gateway|hub|tools)\/|uWebSockets\.js/

/** Checks the imports of the whole repository. */
export async function checkDependencies(root: string): Promise<Finding[]> {
  const { edges, findings } = await cruiseRepository(root)
  return [
    ...findings,
    ...folderCycles(edges, ACYCLIC).map((cycle) => ({
      file: cycle[0] as string,
      rule: 'no-folder-cycle',
      message: `${cycle.join(' → ')} (${exampleOf(edges, cycle)}): break one of these imports`,
    })),
    ...checkModuleEdges(moduleEdges, edges),
    ...checkEagerImports(edges),
  ]
}

/** Names one import for each step of a cycle. */
function exampleOf(edges: readonly Edge[], cycle: readonly string[]): string {
  const inside = (path: string, entry: string) => path === entry || path.startsWith(`${entry}/`)
  return cycle
    .slice(1)
    .map((target, index) => {
      const source = cycle[index] as string
      const edge = edges.find(({ from, to }) => inside(from, source) && inside(to, target))
      return `${edge?.from} imports ${edge?.to}`
    })
    .join(', ')
}

/** Checks the list of allowed imports between modules itself: short, without a cycle, and without unused entries. */
export function checkModuleEdges(
  allowed: Readonly<Record<string, readonly string[]>>,
  edges: readonly Edge[],
): Finding[] {
  const listed = Object.entries(allowed).flatMap(([from, targets]) => targets.map((to) => ({ from, to })))
  const isUsed = ({ from, to }: { from: string; to: string }) =>
    edges.some(
      (edge) => edge.from.startsWith(`src/modules/${from}/`) && edge.to.startsWith(`src/modules/${to}/`),
    )
  const problems = [
    ...(listed.length > MAX_MODULE_EDGES
      ? [`lists ${listed.length} edges, at most ${MAX_MODULE_EDGES} are allowed: remove a dependency`]
      : []),
    ...cycles(new Map(Object.entries(allowed).map(([from, targets]) => [from, new Set(targets)]))).map(
      (cycle) => `lists a cycle: ${cycle.join(' → ')}`,
    ),
    ...listed
      .filter((edge) => !isUsed(edge))
      .map(({ from, to }) => `lists ${from} → ${to}, which no file uses: remove it`),
  ]
  return problems.map((message) => ({ file: EDGES_FILE, rule: 'module-edges', message }))
}

/** Finds what the entry points load at once, although only some roles need it (`ROLES=api` must not load uWebSockets). */
export function checkEagerImports(edges: readonly Edge[]): Finding[] {
  const eager = edges.filter(({ typeOnly, dynamic }) => !typeOnly && !dynamic)
  const loadedBy = new Map(ENTRIES.map((entry) => [entry, entry]))
  for (const file of loadedBy.keys()) {
    for (const { from, to } of eager) if (from === file && !loadedBy.has(to)) loadedBy.set(to, file)
  }
  return [...loadedBy]
    .filter(([file, importer]) => LOADED_ON_DEMAND.test(file) && !LOADED_ON_DEMAND.test(importer))
    .map(([file, importer]) => ({
      file: importer,
      rule: 'load-roles-on-demand',
      message: `imports ${file} at once, for every role: use a dynamic import() where the role starts`,
    }))
}
