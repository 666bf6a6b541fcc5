import { readFile, writeFile } from 'node:fs/promises'

const REPORT = new URL('../../docs/benchmarks.md', import.meta.url)
/** Separates the part of the benchmark from that of the network lab. */
const SEPARATOR = '<!-- The network lab writes everything below this line. -->'

/** Writes one part of docs/benchmarks.md, and leaves the other as it was. */
export async function writeReportPart(part: 'benchmark' | 'network lab', text: string): Promise<void> {
  const [benchmark = '', lab = ''] = (await readFile(REPORT, 'utf8')).split(SEPARATOR)
  const parts = part === 'benchmark' ? [text, lab] : [benchmark, text]
  await writeFile(REPORT, `${parts.map((item) => item.trim()).join(`\n\n${SEPARATOR}\n\n`)}\n`)
}
