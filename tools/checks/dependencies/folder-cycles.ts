import type { Edge } from './graph.ts'

/**
 * Finds the cycles between the entries of each folder. An import counts for every folder that contains both files:
 * `src/core/a/x.ts → src/core/b/c/y.ts` is an edge from `a` to `b` in `src/core`. This is stricter than the folder rules
 * of dependency-cruiser, which compare a folder with the innermost folder of the imported file and so miss a
 * cycle between nested folders.
 */
export function folderCycles(edges: readonly Edge[], roots: readonly string[]): string[][] {
  const graphs = new Map<string, Map<string, Set<string>>>()
  for (const { from, to } of edges) {
    if (!roots.some((root) => from.startsWith(`${root}/`) && to.startsWith(`${root}/`))) continue
    const { folder, source, target } = siblings(from, to)
    const graph = graphs.get(folder) ?? new Map<string, Set<string>>()
    graphs.set(folder, graph.set(source, (graph.get(source) ?? new Set()).add(target)))
  }
  return (
    [...graphs.values()]
      .flatMap(cycles)
      // A cycle that involves only files is a finding of dependency-cruiser.
      .filter((cycle) => cycle.some((entry) => !/\.\w+$/.test(entry)))
  )
}

/** Returns the innermost folder that contains both files, and its two entries that contain one each. */
function siblings(from: string, to: string) {
  const [left, right] = [from.split('/'), to.split('/')]
  let depth = 0
  while (left[depth] === right[depth] && depth < left.length - 1) depth++
  const entry = (parts: string[]) => parts.slice(0, depth + 1).join('/')
  return { folder: left.slice(0, depth).join('/'), source: entry(left), target: entry(right) }
}

/** Returns one shortest cycle for each group of entries that reach each other. */
export function cycles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = []
  const covered = new Set<string>()
  for (const start of [...graph.keys()].sort()) {
    if (covered.has(start)) continue
    const cycle = shortestCycle(graph, start)
    if (!cycle) continue
    found.push(cycle)
    for (const entry of cycle) covered.add(entry)
  }
  return found
}

function shortestCycle(graph: ReadonlyMap<string, ReadonlySet<string>>, start: string): string[] | undefined {
  const queue: string[][] = [[start]]
  const seen = new Set<string>()
  for (let path = queue.shift(); path; path = queue.shift()) {
    for (const next of graph.get(path.at(-1) as string) ?? []) {
      if (next === start) return [...path, start]
      if (!seen.has(next)) queue.push([...path, next])
      seen.add(next)
    }
  }
  return undefined
}
