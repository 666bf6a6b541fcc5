import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import { z } from 'zod'
import { episodeColumns } from './episodes.ts'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { downloadFile } from './lib/download.ts'
import { isTransient } from './lib/errors.ts'
import { Failure } from './lib/failure.ts'
import { findUnique, idOf, isFullId } from './lib/ids.ts'
import { choice, collectList, integer } from './lib/options.ts'
import type { Column, Output } from './lib/output.ts'
import { readPages } from './lib/pages.ts'
import { createTransferProgress, type TransferProgress } from './lib/progress.ts'
import { formatBytes, formatTime, statusPiece } from './lib/views.ts'

const DATASET = 'its id, a prefix of the id, or the name of its robot'
const EXPORT = 'its id, a prefix of the id, or its name for the newest version'
const MAX_FPS = 120

export const commands = { datasets: declareDatasets }

/** Declares `wheelhouse datasets …`. */
function declareDatasets(datasets: Command, action: CreateAction): void {
  datasets
    .command('list', { isDefault: true })
    .description('list the datasets of your robots')
    .action(action(list))
  datasets
    .command('episodes')
    .description('list the episodes of a dataset, newest first')
    .argument('<dataset>', DATASET)
    .option('--limit <number>', 'largest number of episodes', integer(1, 100_000), 50)
    .action(action(episodes))
  const exported = (name: string, description: string) =>
    datasets.command(name).description(description).argument('<export>', EXPORT)
  datasets
    .command('export')
    .description('export recorded episodes as a LeRobot dataset, which the platform writes in the background')
    .requiredOption(
      '--name <name>',
      'name of the dataset; the same name again makes its next version, which replaces the earlier ones',
    )
    .requiredOption(
      '--fps <number>',
      'rows per second; use the frame rate of the cameras',
      integer(1, MAX_FPS),
    )
    .option('--episodes <ids>', 'ids of episodes, separated by commas; repeatable', collectList)
    .option(
      '--datasets <datasets>',
      `all recorded episodes of these datasets, separated by commas; repeatable; each: ${DATASET}`,
      collectList,
    )
    .option(
      '--cameras <names>',
      'names of cameras, separated by commas (default: those that all episodes have)',
      collectList,
    )
    .addOption(
      choice(
        '--gaps <what>',
        'what to do with episodes whose recording lacks more than a second: leave them out, cut them there, or include them',
        ['leave-out', 'cut', 'include'],
        'leave-out',
      ),
    )
    .addOption(
      choice(
        '--alignment <which>',
        'the sample of the telemetry that a row has: the last one up to it (causal), or the nearest one',
        ['causal', 'nearest'],
        'causal',
      ),
    )
    .addOption(
      choice(
        '--align <which>',
        'the time of a command: when the robot got it (time), or when the picture that its operator saw was captured (seen)',
        ['time', 'seen'],
        'time',
      ),
    )
    .option('--unfinished', 'export episodes as well that were not ended before their session')
    .option('--wait', 'wait until the dataset is ready')
    .action(action(exportDataset))
  datasets.command('exports').description('list your exported datasets, newest first').action(action(exports))
  exported('export-status', 'show an exported dataset and its progress').action(action(exportStatus))
  exported('download-export', 'download the files of an exported dataset; continues an interrupted download')
    .requiredOption('-o, --output <folder>', 'write into this folder')
    .option('--force', 'replace existing files with other content')
    .action(action(downloadExport))
  exported('delete-export', 'cancel an export, or delete the exported dataset and its files').action(
    action(deleteExport),
  )
}

/** Prints the datasets of the caller's robots. */
async function list(cli: Context): Promise<void> {
  const { datasets } = await answerOf(cli.rest.GET('/api/client/datasets'))
  cli.out.list(
    datasets,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'ROBOT', value: ({ robot_name }) => robot_name },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
      { title: 'EPISODES', value: ({ episode_count }) => episode_count, right: true },
      { title: 'EXPORTABLE', value: ({ exportable_count }) => exportable_count, right: true },
      { title: 'MB', value: ({ size_mb }) => size_mb, right: true },
      { title: 'UPDATED', value: ({ updated_at }) => formatTime(updated_at) },
    ],
    'No datasets yet.',
  )
}

const PAGE = 100

/** Prints the episodes of a dataset. */
async function episodes(cli: Context, idOrName: string, { limit }: { limit: number }): Promise<void> {
  const [id = ''] = await datasetIds(cli, [idOrName])
  const found = await readPages<Schemas['Episode']>({ limit, pageSize: PAGE }, async (size, before) => {
    const last = before.at(-1)?.id
    const params = { path: { id }, query: { ...(last !== undefined && { before: last }), limit: size } }
    return (await answerOf(cli.rest.GET('/api/client/datasets/{id}/episodes', { params }))).episodes
  })
  cli.out.list(found, episodeColumns, 'No episodes yet.')
}

const POLL_MS = 1_000
const PERCENT = 100

interface ExportDatasetOptions {
  readonly name: string
  readonly fps: number
  readonly episodes?: string[]
  readonly datasets?: string[]
  readonly cameras?: string[]
  readonly gaps: 'leave-out' | 'cut' | 'include'
  readonly alignment: 'causal' | 'nearest'
  readonly align: 'time' | 'seen'
  readonly unfinished?: true
  readonly wait?: true
}

/** Starts the export of a dataset; with `--wait`, waits for its end. */
async function exportDataset(cli: Context, options: ExportDatasetOptions): Promise<void> {
  const { name, fps, episodes, datasets, cameras } = options
  if ((episodes === undefined) === (datasets === undefined))
    throw new Failure('usage', 'Name the episodes with --episodes, or their datasets with --datasets.')
  const chosen = episodes ? { episode_ids: episodes } : { dataset_ids: await datasetIds(cli, datasets ?? []) }
  const gaps = options.gaps === 'leave-out' ? ('leave_out' as const) : options.gaps
  const { alignment, align } = options
  const wanted = { name, fps, gaps, alignment, align, unfinished: options.unfinished ?? false }
  const body = { format: 'lerobot_v3' as const, ...wanted, ...chosen, ...(cameras && { cameras }) }
  const started = await answerOf(cli.rest.POST('/api/client/datasets/exports', { body }))
  const result = options.wait ? await finished(cli, started) : started
  cli.out.result(result, () => showExport(cli.out, cli.server, result))
  const next =
    result.status === 'READY' ? `download-export ${result.id} -o ${name}` : `export-status ${result.id}`
  cli.out.note(`Continue with: wheelhouse datasets ${next}`)
}

/** Waits for the end of an export. @throws Failure when it fails or is deleted */
async function finished(cli: Context, started: Schemas['DatasetExport']): Promise<Schemas['DatasetExport']> {
  const { id } = started
  const progress = createTransferProgress(cli, PERCENT, { label: started.name, percent: true })
  try {
    for (let state = started; ; state = await poll(cli, state)) {
      progress.update(state.progress * PERCENT)
      if (state.status === 'READY') return state
      if (state.status === 'FAILED') throw new Failure('refused', state.error ?? 'The export failed.')
      await delay(POLL_MS, undefined, { signal: cli.signal })
    }
  } catch (cause) {
    if (!cli.signal.aborted) throw cause
    const next = `The export continues. See: wheelhouse datasets export-status ${id}`
    throw new Failure('interrupted', `Interrupted. ${next}`, { cause })
  } finally {
    progress.close()
  }
}

/** Reads the state of an export; returns the known one while the platform is not ready. */
async function poll(cli: Context, known: Schemas['DatasetExport']): Promise<Schemas['DatasetExport']> {
  try {
    const params = { path: { id: known.id } }
    return await answerOf(cli.rest.GET('/api/client/datasets/exports/{id}', { params }))
  } catch (cause) {
    if (!cli.signal.aborted && cause instanceof ApiError && cause.status === 404)
      throw new Failure(
        'conflict',
        `The export was deleted, or a newer version of ${known.name} has replaced it.`,
      )
    if (cli.signal.aborted || !isTransient(cause)) throw cause
    return known
  }
}

/** Prints the caller's exported datasets. */
async function exports(cli: Context): Promise<void> {
  const { exports: found } = await answerOf(cli.rest.GET('/api/client/datasets/exports'))
  cli.out.list(found, exportColumns, 'No exports. Start one with: wheelhouse datasets export')
}

/** Prints one exported dataset. */
async function exportStatus(cli: Context, idOrName: string): Promise<void> {
  const params = { path: { id: await exportId(cli, idOrName) } }
  const found = await answerOf(cli.rest.GET('/api/client/datasets/exports/{id}', { params }))
  cli.out.result(found, () => showExport(cli.out, cli.server, found))
}

interface DownloadExportOptions {
  readonly output: string
  readonly force?: boolean
}

/** Downloads all files of an exported dataset, and verifies them. Keeps those that have arrived before. */
async function downloadExport(
  cli: Context,
  idOrName: string,
  { output, force = false }: DownloadExportOptions,
): Promise<void> {
  const params = { path: { id: await exportId(cli, idOrName) } }
  const found = await answerOf(cli.rest.GET('/api/client/datasets/exports/{id}', { params }))
  const { id, status, version, base_url, error } = found
  if (status === 'FAILED') throw new Failure('conflict', `The export failed. ${error ?? ''}`.trim())
  if (status !== 'READY')
    throw new Failure('conflict', `The export is not ready. See: wheelhouse datasets export-status ${id}`)
  const files = await datasetFiles(cli, base_url, version)
  const folder = resolve(output)
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const progress = createTransferProgress(cli, bytes, { label: found.name })
  try {
    let done = 0
    for (const file of files) {
      await receive(cli, file, { folder, overwrites: force, progress, done })
      done += file.sizeBytes
    }
  } finally {
    progress.close()
  }
  if (cli.out.json) cli.out.document({ id, path: folder, files: files.length, bytes })
  else cli.out.note(`${files.length} files written to ${folder}, ${formatBytes(bytes)}`)
}

async function receive(
  cli: Context,
  { path, url, sizeBytes, sha256 }: DatasetFile,
  to: { folder: string; overwrites: boolean; progress: TransferProgress; done: number },
): Promise<void> {
  const { folder, overwrites, progress, done } = to
  const target = join(folder, path)
  progress.update(done, path)
  if (await isStored(target, sizeBytes, sha256, cli.signal)) return
  await mkdir(dirname(target), { recursive: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new Failure('refused', `${dirname(target)} cannot be created (${cause.code})`, { cause })
  })
  await downloadFile(cli, {
    url,
    target,
    sizeBytes,
    version: sha256,
    sha256,
    overwrites,
    onProgress: (bytes) => progress.update(done + bytes, path),
  })
}

/** Returns whether a file has arrived before. */
async function isStored(
  path: string,
  sizeBytes: number,
  sha256: string,
  signal: AbortSignal,
): Promise<boolean> {
  const known = await stat(path).catch(() => undefined)
  if (!known?.isFile() || known.size !== sizeBytes) return false
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk)
  return hash.digest('hex') === sha256
}

/** Cancels an export, or deletes the exported dataset. */
async function deleteExport(cli: Context, idOrName: string): Promise<void> {
  const params = { path: { id: await exportId(cli, idOrName) } }
  const { id, name, version } = await answerOf(cli.rest.GET('/api/client/datasets/exports/{id}', { params }))
  await cli.prompts.confirm(`Delete version ${version} of ${name} and its files? That cannot be undone.`)
  await answerOf(cli.rest.DELETE('/api/client/datasets/exports/{id}', { params }))
  cli.out.result({ id, deleted: true }, () => cli.out.line(`Version ${version} of ${name} is deleted.`))
}

/** Returns the ids of datasets, from their ids, prefixes of the ids, or the names of their robots. */
async function datasetIds(cli: Context, idsOrNames: readonly string[]): Promise<string[]> {
  if (idsOrNames.every(isFullId)) return idsOrNames.map((id) => id.toLowerCase())
  const { datasets } = await answerOf(cli.rest.GET('/api/client/datasets'))
  const candidates = datasets.map(({ id, robot_name: name }) => ({ id, name }))
  return idsOrNames.map((idOrName) => findUnique(candidates, idOrName, 'dataset', 'datasets list').id)
}

/** Returns the id of an exported dataset, from its id, a prefix of the id, or its name for the newest version. */
async function exportId(cli: Context, idOrName: string): Promise<string> {
  return await idOf(idOrName, 'export', 'datasets exports', async () => {
    const { exports: found } = await answerOf(cli.rest.GET('/api/client/datasets/exports'))
    const isNewest = ({ name, version }: Schemas['DatasetExport']) =>
      !found.some((other) => other.name === name && other.version > version)
    return found.map((each) => ({ id: each.id, ...(isNewest(each) && { name: each.name }) }))
  })
}

/** The list of files, as on the Hugging Face Hub. */
const Tree = z.array(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('directory') }),
    z.object({
      type: z.literal('file'),
      path: z.string(),
      size: z.number().int().min(0),
      oid: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ]),
)

/** A file of an exported dataset. */
interface DatasetFile {
  readonly path: string
  readonly url: string
  readonly sizeBytes: number
  readonly sha256: string
}

/**
 * Lists the files of one version of an exported dataset.
 * @param baseUrl path of the files of the newest version @throws Failure when the platform names files that cannot be written safely
 */
async function datasetFiles(
  { fetchFile, server }: Pick<Context, 'fetchFile' | 'server'>,
  baseUrl: string,
  version: number,
): Promise<DatasetFile[]> {
  const base = baseUrl.replace(/\/resolve\/main$/, `/resolve/v${version}`)
  const response = await fetchFile(`/api${base.replace('/resolve/', '/tree/')}?recursive=true`)
  const tree = Tree.safeParse(await response.json().catch(() => undefined))
  if (!tree.success)
    throw new Failure('refused', `${server} answers with a list of files that this version cannot read.`)
  return tree.data.flatMap((entry) => {
    if (entry.type !== 'file') return []
    const { path, size: sizeBytes, oid: sha256 } = entry
    if (!isPlainPath(path))
      throw new Failure(
        'refused',
        `${server} names a file that cannot be written safely: ${JSON.stringify(path)}`,
      )
    return [{ path, url: `${base}/${path.split('/').map(encodeURIComponent).join('/')}`, sizeBytes, sha256 }]
  })
}

/** Returns whether a path stays below its folder on every file system. */
const isPlainPath = (path: string) =>
  path.split('/').every((name) => name !== '' && !/[\p{Cc}\\:]/u.test(name) && !/^\.{1,2}$/.test(name))

type DatasetExport = Schemas['DatasetExport']

const percent = ({ progress }: DatasetExport) => `${Math.floor(progress * 100)} %`

const exportColumns: readonly Column<DatasetExport>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'VERSION', value: ({ version }) => version, right: true },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), noTruncate: true },
  { title: 'DONE', value: percent, right: true },
  { title: 'EPISODES', value: ({ episodes }) => episodes, right: true },
  { title: 'FRAMES', value: ({ frames }) => frames, right: true },
  { title: 'SIZE', value: ({ size_bytes }) => formatBytes(size_bytes), right: true },
  { title: 'CREATED', value: ({ created_at }) => formatTime(created_at) },
]

const leftOutText = ({ left_out: { count, episodes } }: DatasetExport): string | undefined => {
  if (count === 0) return undefined
  const named = episodes.map(({ episode_id, reason }) => `${episode_id} (${reason})`).join(', ')
  return `${count}: ${named}${count > episodes.length ? ', …' : ''}`
}

function showExport(out: Output, server: string, each: DatasetExport): void {
  const isReady = each.status === 'READY'
  out.record([
    ['Id', each.id],
    ['Name', each.name],
    ['Version', each.version],
    ['Format', each.format],
    ['Status', statusPiece(each.status)],
    ['Error', each.error ?? undefined],
    ['Done', percent(each)],
    ['Episodes', each.episodes],
    ['Left out', leftOutText(each)],
    ['Frames', each.frames],
    ['Size', formatBytes(each.size_bytes)],
    ['Created', formatTime(each.created_at)],
    ['Finished', formatTime(each.finished_at)],
    ['Files', isReady ? `${server}${each.base_url}/` : undefined],
  ])
}
