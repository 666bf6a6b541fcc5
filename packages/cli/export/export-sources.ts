import { setTimeout as delay } from 'node:timers/promises'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { type Options, stringify } from 'csv-stringify/sync'
import { Failure } from '../failure.ts'
import { findUnique } from '../ids.ts'

const OPTIONS: Options = {
  record_delimiter: 'windows',
  quote_record_delimiter: true,
  escape_formulas: true,
  cast: {
    boolean: String,
    // `escape_formulas` does not know that some spreadsheets skip a line feed before a formula.
    string: (text) => (text.startsWith('\n') ? `'${text}` : text),
  },
}

/** Returns lines of CSV (RFC 4180), with CRLF. Escapes texts that a spreadsheet would run as formulas. */
const csvLines = (rows: readonly (readonly unknown[])[]): string => stringify([...rows], OPTIONS)

export type ExportFormat = 'csv' | 'json'

/** Content of an export, and its size. */
export interface ExportSource {
  readonly chunks: AsyncIterable<Uint8Array | string>
  /** Total number of records, if known. `written` then returns the number so far. */
  readonly total?: number
  readonly written?: () => number
}

export interface SessionFilter {
  readonly status?: Schemas['SessionStatus']
  readonly robotId?: string
  readonly from?: string
  readonly to?: string
}

/** Returns the caller's sessions, in the format that the platform writes. @throws ApiError */
export async function sessionSource(
  rest: RestClient,
  format: ExportFormat,
  filter: SessionFilter,
  signal: AbortSignal,
): Promise<ExportSource> {
  const request = rest.POST('/api/sessions/export', {
    body: { format, ...filter },
    parseAs: 'stream',
    signal,
  })
  return { chunks: (await answerOf(request)) as unknown as AsyncIterable<Uint8Array> }
}

/**
 * Returns the caller's sessions for a file. With many sessions the platform writes the export first, in the background.
 * @param onProgress is called while the platform writes
 * @throws ApiError, Failure when the export fails
 */
export async function storedSessionSource(
  rest: RestClient,
  format: ExportFormat,
  filter: SessionFilter,
  options: { signal: AbortSignal; onProgress: (rows: number, total: number) => void },
): Promise<ExportSource> {
  const { signal } = options
  const body = { format, ...filter }
  const { direct } = await answerOf(rest.POST('/api/session-exports/count', { body, signal }))
  if (direct) return await sessionSource(rest, format, filter, signal)
  const { id } = await answerOf(rest.POST('/api/session-exports', { body, signal }))
  const params = { path: { id } }
  const remove = () => answerOf(rest.DELETE('/api/session-exports/{id}', { params })).catch(() => {})
  try {
    await finished(rest, id, options)
  } catch (cause) {
    await remove()
    throw cause
  }
  const request = rest.GET('/api/session-exports/{id}/download', { params, parseAs: 'stream', signal })
  const content = (await answerOf(request)) as unknown as AsyncIterable<Uint8Array>
  async function* chunks() {
    yield* content
    await remove() // the file is complete, so the copy at the platform is not needed
  }
  return { chunks: chunks() }
}

const POLL_MS = 500

/** Waits until the platform has written an export. */
async function finished(
  rest: RestClient,
  id: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (rows: number, total: number) => void },
): Promise<void> {
  for (;;) {
    const state = await answerOf(rest.GET('/api/session-exports/{id}', { params: { path: { id } }, signal }))
    onProgress(state.rows, state.total_rows)
    if (state.status === 'READY') return
    if (state.status === 'FAILED') throw new Failure('refused', state.error ?? 'The export failed.')
    await delay(POLL_MS, undefined, { signal })
  }
}

/** Returns the datasets of the caller's robots. @throws ApiError */
export async function datasetSource(
  rest: RestClient,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<ExportSource> {
  const { datasets } = await answerOf(rest.GET('/api/client/datasets', { signal }))
  return records('datasets', format, datasetColumns, datasets.length, async function* () {
    yield datasets
  })
}

/**
 * Returns the episodes of one dataset or of all, newest first within each dataset.
 * @throws ApiError, Failure for an unknown dataset
 */
export async function episodeSource(
  rest: RestClient,
  format: ExportFormat,
  idOrPrefix: string | undefined,
  signal: AbortSignal,
): Promise<ExportSource> {
  const { datasets } = await answerOf(rest.GET('/api/client/datasets', { signal }))
  const wanted =
    idOrPrefix === undefined ? datasets : [findUnique(datasets, idOrPrefix, 'dataset', 'datasets list')]
  const total = wanted.reduce((sum, { episode_count }) => sum + episode_count, 0)
  return records('episodes', format, episodeColumns, total, async function* () {
    for (const dataset of wanted) yield* episodePages(rest, dataset, signal)
  })
}

const PAGE = 100
const datasetColumns = [
  'id',
  'robot_id',
  'robot_name',
  'robot_type',
  'episode_count',
  'size_mb',
  'updated_at',
]
const episodeColumns = [
  'id',
  'episode_id',
  'dataset_id',
  'robot_id',
  'robot_name',
  'session_id',
  'started_at',
  'ended_at',
  'size_mb',
  'success',
  'uri',
  'created_at',
  'source',
  'task',
  'recording_id',
]

async function* episodePages(rest: RestClient, dataset: Schemas['Dataset'], signal: AbortSignal) {
  const datasetFields = { dataset_id: dataset.id, robot_id: dataset.robot_id, robot_name: dataset.robot_name }
  let before: string | undefined
  while (true) {
    const query = { limit: PAGE, ...(before !== undefined && { before }) }
    const page = rest.GET('/api/client/datasets/{id}/episodes', {
      params: { path: { id: dataset.id }, query },
      signal,
    })
    const { episodes } = await answerOf(page)
    yield episodes.map((episode) => ({ ...episode, ...datasetFields }))
    if (episodes.length < PAGE) return
    before = episodes.at(-1)?.id
  }
}

type Row = Readonly<Record<string, unknown>>

/** Returns pages of records as one document: CSV, or `{"<name>":[…]}`. */
function records(
  name: string,
  format: ExportFormat,
  columns: readonly string[],
  total: number,
  pages: () => AsyncIterable<readonly Row[]>,
): ExportSource {
  let written = 0
  async function* chunks() {
    yield format === 'csv' ? csvLines([columns]) : `{${JSON.stringify(name)}:[`
    for await (const page of pages()) {
      if (page.length === 0) continue
      const isFirst = written === 0
      written += page.length
      if (format === 'csv') yield csvLines(page.map((row) => columns.map((column) => row[column])))
      else yield `${isFirst ? '' : ','}${page.map((row) => JSON.stringify(row)).join(',')}`
    }
    if (format === 'json') yield ']}'
  }
  return { chunks: chunks(), total, written: () => written }
}
