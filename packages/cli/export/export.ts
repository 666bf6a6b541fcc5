import { isAbsolute, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { robotId } from '../ids.ts'
import { writeFileAtomically } from './atomic-file.ts'
import {
  datasetSource,
  type ExportFormat,
  type ExportSource,
  episodeSource,
  sessionSource,
  storedSessionSource,
} from './export-sources.ts'
import { createPreparation, createProgress, type Progress } from './progress.ts'

export interface ExportOptions {
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
export async function run(cli: Context, what: What, options: ExportOptions): Promise<void> {
  checkOptions(what, options)
  const toFile = options.output !== '-'
  const format = options.format ?? (cli.out.json && !toFile ? 'json' : 'csv')
  const source = await open(cli, what, format, options)
  // Without a progress bar if the records go to a terminal.
  const progress = createProgress(cli, what, source, toFile || !cli.out.terminal)
  const path = isAbsolute(options.output) ? options.output : resolve(options.output)
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

async function open(
  cli: Context,
  what: What,
  format: ExportFormat,
  options: ExportOptions,
): Promise<ExportSource> {
  const { status, robot, from, to, dataset } = options
  if (what === 'datasets') return datasetSource(cli.rest, format, cli.signal)
  if (what === 'episodes') return episodeSource(cli.rest, format, dataset, cli.signal)
  const filter = {
    ...(status !== undefined && { status }),
    ...(robot !== undefined && { robotId: await robotId(cli, robot) }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }
  if (options.output === '-') return sessionSource(cli.rest, format, filter, cli.signal)
  const preparation = createPreparation(cli)
  try {
    const { onProgress } = preparation
    return await storedSessionSource(cli.rest, format, filter, { signal: cli.signal, onProgress })
  } finally {
    preparation.close()
  }
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
