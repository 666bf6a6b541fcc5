/** One line of the table. */
export interface Row {
  readonly what: string
  readonly measured: string
  /** The goal, and whether the figure meets it; rows without a goal are there for comparison. */
  readonly goal?: string
  readonly met?: boolean
}

export interface Section {
  readonly title: string
  readonly rows: readonly Row[]
  /** Method and anomalies. */
  readonly notes: readonly string[]
}

const mark = (row: Row) => (row.met === undefined ? '' : row.met ? '✓' : '✗')

/** Formats a section for the terminal. */
export function sectionText({ title, rows, notes }: Section): string {
  const widest = (of: (row: Row) => string) => Math.max(0, ...rows.map((row) => of(row).length))
  const whatWidth = widest((row) => row.what)
  const measuredWidth = widest((row) => row.measured)
  const lines = rows.map((row) =>
    `  ${mark(row).padEnd(1)} ${row.what.padEnd(whatWidth)}  ${row.measured.padEnd(measuredWidth)}  ${row.goal ?? ''}`.trimEnd(),
  )
  return [title, ...lines, ...notes.map((note) => `    ${note}`), ''].join('\n')
}

/** Formats a section as Markdown. */
function sectionMarkdown({ title, rows, notes }: Section): string {
  const lines = rows.map((row) => `| ${row.what} | ${row.measured} | ${row.goal ?? ''} | ${mark(row)} |`)
  const table = ['| | Measured | Goal | |', '|---|---|---|---|', ...lines].join('\n')
  return [`## ${title}`, '', table, '', ...notes.map((note) => `* ${note}`), ''].join('\n')
}

const preface = `# Benchmarks

Written by \`npm run bench\`; do not edit. The benchmark measures the limit, peers and Wheelhouse one after another in
one run on one machine. The ratios mean more than the figures, which differ between machines and between runs.
`

const disclaimers = `## What is not claimed

* Clients, server, PostgreSQL and Redis share one machine and its loopback interface. The figures include no network,
  TLS or proxy, and the load generator uses part of the processors.
* The robots of the generators only send and answer frames. Viewers of video decrypt packets and decode no picture.
* A figure comes from one run of a few seconds to half a minute, not from a distribution over many runs or a soak test.
* The peers are the ones in the table, configured as the notes say; the report makes no claim about other products.
* Memory is that of the server's process. The kernel's socket buffers are not included, for any contender.
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
