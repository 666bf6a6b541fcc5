import { randomBytes } from 'node:crypto'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { SessionStatus } from '@wheelhouse/protocol'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import { type Options, stringify } from 'csv-stringify/sync'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import { findUnique, robotId } from './lib/ids.ts'
import { choice, given, parseTime } from './lib/options.ts'
import { createBar } from './lib/progress.ts'
import { formatBytes } from './lib/views.ts'

export const commands = { export: declareExport }

/** Declares `wheelhouse export`. */
function declareExport(command: Command, action: CreateAction): void {
  command
    .addArgument(
      command
        .createArgument('[what]', 'type of the records')
        .choices(['sessions', 'datasets', 'episodes'])
        .default('sessions'),
    )
    .addOption(
      choice('-f, --format <format>', 'file format (default: csv; json for standard output with --json)', [
        'csv',
        'json',
      ]),
    )
    .option(
      '-o, --output <file>',
      'write to this file, which appears when it is complete; - for standard output',
      '-',
    )
    .addOption(choice('--status <status>', 'only sessions with this status', SessionStatus.options))
    .option('--robot <robot>', 'only sessions on this robot: its id, a prefix of the id, or its name')
    .option('--from <time>', 'only sessions created at or after this time', parseTime)
    .option('--to <time>', 'only sessions created before this time', parseTime)
    .option('--dataset <dataset>', 'only episodes of this dataset: its id, or a prefix of the id')
    .action(action(exportRecords))
}

interface ExportOptions {
  readonly format?: ExportFormat
  readonly output: string
  readonly status?: Schemas['SessionStatus']
  readonly robot?: string
  readonly from?: string
  readonly to?: string
  readonly dataset?: string
}

type What = 'sessions' | 'datasets' | 'episodes'

/** Exports records. A file is written completely or not at all. */
async function exportRecords(cli: Context, what: What, options: ExportOptions): Promise<void> {
  checkOptions(what, options)
  const toFile = options.output !== '-'
  const format = options.format ?? (cli.out.json && !toFile ? 'json' : 'csv')
  const source = await openSource(cli, what, format, options)
  // Without a progress bar if the records go to a terminal.
  const progress = createProgress(cli, what, source, toFile || !cli.out.terminal)
  const path = resolve(options.output)
  try {
    if (toFile) await writeFileAtomically(path, counted(source, progress))
    else await pipeline(counted(source, progress), cli.terminal.stdout, { end: false })
  } catch (cause) {
    cli.signal.throwIfAborted()
    throw failureOf(cause, path)
  } finally {
    progress.close()
  }
  const { bytes } = progress
  if (cli.out.json && toFile) cli.out.document({ what, format, path, bytes })
  else if (toFile) cli.out.note(`${what} written to ${path}, ${bytes} bytes`)
}

/** Rejects options that would have no effect on the requested records. */
function checkOptions(what: What, options: ExportOptions): void {
  const { status, robot, from, to, dataset } = options
  const ofSessions = [status, robot, from, to].some((option) => option !== undefined)
  if (what !== 'sessions' && ofSessions) {
    throw new Failure('usage', '--status, --robot, --from and --to are only valid for sessions')
  }
  if (what !== 'episodes' && dataset !== undefined)
    throw new Failure('usage', '--dataset is only valid for episodes')
}

async function openSource(
  cli: Context,
  what: What,
  format: ExportFormat,
  options: ExportOptions,
): Promise<ExportSource> {
  const { status, robot, from, to, dataset } = options
  if (what === 'datasets') return datasetSource(cli, format)
  if (what === 'episodes') return episodeSource(cli, format, dataset)
  const robotFilter = robot === undefined ? undefined : await robotId(cli, robot)
  const filter = { format, ...given({ status, robotId: robotFilter, from, to }) }
  return options.output === '-' ? await sessionSource(cli, filter) : await storedSessionSource(cli, filter)
}

async function* counted(source: ExportSource, progress: Progress) {
  for await (const chunk of source.chunks) {
    yield chunk
    progress.passed(typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength)
  }
}

/** Returns a failure of the disk or of the connection; any other error unchanged. */
function failureOf(cause: unknown, path: string): unknown {
  const { code, syscall, name } = cause as NodeJS.ErrnoException
  if (syscall !== undefined && ['open', 'write', 'rename', 'fsync'].includes(syscall)) {
    return new Failure('refused', `${path} cannot be written (${code})`, { cause })
  }
  // An incomplete download is a failure.
  if (cause instanceof TypeError || name === 'AbortError') {
    const next = 'The incomplete data was discarded. Try again.'
    return new Failure('unreachable', `The connection broke before the download was complete. ${next}`, {
      cause,
    })
  }
  return cause
}

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

type ExportFormat = 'csv' | 'json'

/** Content of an export, and its size. */
interface ExportSource {
  readonly chunks: AsyncIterable<Uint8Array | string>
  /** Total number of records, if known. `written` then returns the number so far. */
  readonly total?: number
  readonly written?: () => number
}

interface SessionFilter extends Pick<ExportOptions, 'status' | 'from' | 'to'> {
  readonly format: ExportFormat
  readonly robotId?: string
}

/** Returns the caller's sessions, in the format that the platform writes. @throws ApiError */
async function sessionSource({ rest }: Context, body: SessionFilter): Promise<ExportSource> {
  const request = rest.POST('/api/sessions/export', { body, parseAs: 'stream' })
  return { chunks: (await answerOf(request)) as unknown as AsyncIterable<Uint8Array> }
}

/**
 * Returns the caller's sessions for a file. With many sessions the platform writes the export first, in the background.
 * @throws ApiError, Failure when the export fails
 */
async function storedSessionSource(cli: Context, body: SessionFilter): Promise<ExportSource> {
  const { rest } = cli
  const { direct } = await answerOf(rest.POST('/api/session-exports/count', { body }))
  if (direct) return await sessionSource(cli, body)
  const { id } = await answerOf(rest.POST('/api/session-exports', { body }))
  const params = { path: { id } }
  const remove = () => answerOf(rest.DELETE('/api/session-exports/{id}', { params })).catch(() => {})
  try {
    await finished(cli, id)
  } catch (cause) {
    await remove()
    throw cause
  }
  const request = rest.GET('/api/session-exports/{id}/download', { params, parseAs: 'stream' })
  const content = (await answerOf(request)) as unknown as AsyncIterable<Uint8Array>
  async function* chunks() {
    yield* content
    await remove() // the file is complete, so the copy at the platform is not needed
  }
  return { chunks: chunks() }
}

const POLL_MS = 500

/** Waits until the platform has written an export, and shows how far it is. */
async function finished(cli: Context, id: string): Promise<void> {
  const bar = createBar(cli, 'the platform prepares {value}/{total} sessions {bar}')
  try {
    for (;;) {
      const params = { path: { id } }
      const state = await answerOf(cli.rest.GET('/api/session-exports/{id}', { params }))
      bar.start(state.total_rows, state.rows)
      if (state.status === 'READY') return
      if (state.status === 'FAILED') throw new Failure('refused', state.error ?? 'The export failed.')
      await delay(POLL_MS, undefined, { signal: cli.signal })
    }
  } finally {
    bar.close()
  }
}

/** Returns the datasets of the caller's robots. @throws ApiError */
async function datasetSource({ rest }: Context, format: ExportFormat): Promise<ExportSource> {
  const { datasets } = await answerOf(rest.GET('/api/client/datasets'))
  return records('datasets', format, datasetColumns, datasets.length, async function* () {
    yield datasets
  })
}

/**
 * Returns the episodes of one dataset or of all, newest first within each dataset.
 * @throws ApiError, Failure for an unknown dataset
 */
async function episodeSource(
  { rest }: Context,
  format: ExportFormat,
  idOrPrefix: string | undefined,
): Promise<ExportSource> {
  const { datasets } = await answerOf(rest.GET('/api/client/datasets'))
  const wanted =
    idOrPrefix === undefined ? datasets : [findUnique(datasets, idOrPrefix, 'dataset', 'datasets list')]
  const total = wanted.reduce((sum, { episode_count }) => sum + episode_count, 0)
  return records('episodes', format, episodeColumns, total, async function* () {
    for (const dataset of wanted) yield* episodePages(rest, dataset)
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

async function* episodePages(rest: RestClient, dataset: Schemas['Dataset']) {
  const datasetFields = { dataset_id: dataset.id, robot_id: dataset.robot_id, robot_name: dataset.robot_name }
  let before: string | undefined
  while (true) {
    const query = { limit: PAGE, ...(before !== undefined && { before }) }
    const params = { path: { id: dataset.id }, query }
    const { episodes } = await answerOf(rest.GET('/api/client/datasets/{id}/episodes', { params }))
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

interface Progress {
  /** Bytes written so far. */
  readonly bytes: number
  passed(bytes: number): void
  close(): void
}

/** Shows a bar for a known total, else the size so far. */
function createProgress(
  cli: Context,
  what: string,
  { total, written }: ExportSource,
  enabled: boolean,
): Progress {
  let bytes = 0
  const hasTotal = total !== undefined && total > 0
  const format = hasTotal ? `${what} {bar} {value}/{total}  {size}` : `${what}  {size}  {duration_formatted}`
  const bar = createBar(cli, format, enabled)
  bar.start(total ?? 1, 0, { size: formatBytes(0) })
  return {
    get bytes() {
      return bytes
    },
    passed(more) {
      bytes += more
      bar.update(Math.min(written?.() ?? 0, total ?? 1), { size: formatBytes(bytes) })
    },
    close: bar.close,
  }
}

/**
 * Writes a file atomically: the file replaces an existing one only when it is complete. A failure leaves no partial
 * file.
 * @throws the errors of `chunks` and of the file system
 */
async function writeFileAtomically(path: string, chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  const target = await targetOf(path)
  // Writes into a device or a pipe instead of replacing it.
  if (target.special) return await fill(await open(path, 'w'), chunks)
  const draft = join(dirname(target.path), `.${basename(target.path)}.${randomBytes(6).toString('hex')}.part`)
  const file = await open(draft, 'wx')
  try {
    await fill(file, chunks)
    await rename(draft, target.path)
  } catch (cause) {
    await rm(draft, { force: true })
    throw cause
  }
}

/** Returns the path behind a symbolic link, and whether it is a device or a pipe. */
async function targetOf(path: string): Promise<{ path: string; special: boolean }> {
  const existing = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw cause
  })
  if (!existing) return { path, special: false }
  return { path: await realpath(path), special: !existing.isFile() }
}

async function fill(file: FileHandle, chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  try {
    for await (const chunk of chunks) {
      await file.writeFile(chunk)
    }
    // Syncs before the rename: a crash must not leave an empty file under the final name.
    await file.sync().catch((cause: NodeJS.ErrnoException) => {
      // Devices and pipes do not support fsync.
      if (cause.code !== 'EINVAL' && cause.code !== 'ENOTSUP') throw cause
    })
  } finally {
    await file.close()
  }
}
