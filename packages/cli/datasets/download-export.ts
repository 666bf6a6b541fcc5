import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { downloadFile } from '../download/download-file.ts'
import { createTransferProgress, type TransferProgress } from '../download/transfer-progress.ts'
import { Failure } from '../failure.ts'
import { formatBytes } from '../views.ts'
import { type DatasetFile, datasetFiles } from './dataset-files.ts'
import { exportId } from './lookup.ts'

interface Options {
  readonly output: string
  readonly force?: boolean
}

/** Downloads all files of an exported dataset, and verifies them. Keeps those that have arrived before. */
export async function run(cli: Context, idOrName: string, { output, force = false }: Options): Promise<void> {
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
