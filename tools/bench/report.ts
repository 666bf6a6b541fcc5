/** One line of the table. */
export interface Row {
  readonly what: string
  readonly measured: string
  /** The goal, and whether the figure meets it; rows without are there for comparison. */
  readonly goal?: string
  readonly met?: boolean
}

export interface Section {
  readonly title: string
  readonly rows: readonly Row[]
  /** How it was measured, what was odd. */
  readonly notes: readonly string[]
}

const mark = (row: Row) => (row.met === undefined ? '' : row.met ? '✓' : '✗')

/** A section as text for the terminal. */
export function sectionText({ title, rows, notes }: Section): string {
  const widest = (of: (row: Row) => string) => Math.max(0, ...rows.map((row) => of(row).length))
  const whatWidth = widest((row) => row.what)
  const measuredWidth = widest((row) => row.measured)
  const lines = rows.map((row) =>
    `  ${mark(row).padEnd(1)} ${row.what.padEnd(whatWidth)}  ${row.measured.padEnd(measuredWidth)}  ${row.goal ?? ''}`.trimEnd(),
  )
  return [title, ...lines, ...notes.map((note) => `    ${note}`), ''].join('\n')
}

/** A section as Markdown. */
function sectionMarkdown({ title, rows, notes }: Section): string {
  const lines = rows.map((row) => `| ${row.what} | ${row.measured} | ${row.goal ?? ''} | ${mark(row)} |`)
  const table = ['| | Measured | Goal | |', '|---|---|---|---|', ...lines].join('\n')
  return [`## ${title}`, '', table, '', ...notes.map((note) => `* ${note}`), ''].join('\n')
}

const preface = `# Benchmarks

Written by \`npm run bench\`; do not edit. The benchmark measures the limit, peers and Wheelhouse one after the other in
one run on one machine, so the ratios mean more than the figures: yours will differ, and so will two runs of ours.
`

const disclaimers = `## What is not claimed

* Clients, server, PostgreSQL and Redis share one machine and its loopback interface. There is no network, no TLS and
  no proxy in these figures, and the load generator takes its share of the processors.
* The robots of the generators only send and answer frames, and do nothing else. Video is not part of this.
* A figure is from one run of a few seconds to half a minute, not a distribution over many runs or a soak.
* The peers are the ones in the table, doing what the notes say; nothing is said about other products.
* Memory is what the server's process holds. The kernel's socket buffers come on top, for every contender alike.
`

export function reportMarkdown(parts: {
  sections: readonly Section[]
  machine: readonly string[]
  command: string
  date: string
  remarks: readonly string[]
}): string {
  const details = [...parts.machine, `${parts.date}, \`${parts.command}\``, ...parts.remarks]
  const head = [preface, ...details.map((detail) => `* ${detail}`), ''].join('\n')
  return [head, ...parts.sections.map(sectionMarkdown), disclaimers].join('\n')
}
